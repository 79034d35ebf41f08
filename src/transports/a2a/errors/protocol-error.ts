import * as sdk from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import { type ClientError, type ErrorCode, isOracleError, toClientError } from '../../../platform/errors.ts';
import { toDatabaseError } from '../../../platform/mongo.ts';
import { getUser } from '../agent-user.ts';
import { toLegacyMethodNames } from '../bindings/methods.ts';
import { ProtocolRejection, type RejectionName } from './rejections.ts';

interface ErrorMapping {
  /** Error name of the protocol; null for a code without one. */
  as: RejectionName | 'TaskNotFoundError' | 'RequestMalformedError' | 'ContentTypeNotSupportedError' | null;
  rpc: number;
  /** `google.rpc.Code` (A2A 1.0, section 11.6). */
  status: string;
  http: number;
}

/** SDK classes by name: `current` for 1.0, `legacy` with data for 0.3. */
const ERROR_CLASSES = {
  TaskNotFoundError: { current: sdk.TaskNotFoundError, legacy: sdk.JsonRpcTaskNotFoundError },
  TaskNotCancelableError: { current: sdk.TaskNotCancelableError, legacy: sdk.JsonRpcTaskNotCancelableError },
  UnsupportedOperationError: { current: sdk.UnsupportedOperationError, legacy: sdk.JsonRpcUnsupportedOperationError },
  VersionNotSupportedError: { current: sdk.VersionNotSupportedError, legacy: sdk.JsonRpcVersionNotSupportedError },
  RequestMalformedError: { current: sdk.RequestMalformedError, legacy: sdk.JsonRpcRequestMalformedError },
  ContentTypeNotSupportedError: { current: sdk.ContentTypeNotSupportedError, legacy: sdk.JsonRpcContentTypeNotSupportedError },
};

const { INVALID_REQUEST, INTERNAL_ERROR, INVALID_PARAMS, TASK_NOT_FOUND, CONTENT_TYPE_NOT_SUPPORTED } = sdk.A2A_ERROR_CODE;

const malformed: ErrorMapping = { as: 'RequestMalformedError', rpc: INVALID_PARAMS, status: 'INVALID_ARGUMENT', http: 400 };
const internalMapping: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'INTERNAL', http: 500 };
const unavailable: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'UNAVAILABLE', http: 503 };
const rejectedMapping = (http: number, status: string): ErrorMapping => ({ as: null, rpc: INVALID_REQUEST, status, http });

const mapAll = <Code extends ErrorCode>(mapping: ErrorMapping, ...codes: Code[]) =>
  Object.fromEntries(codes.map((code) => [code, mapping])) as Record<Code, ErrorMapping>;

/** Closed: a new error code without a mapping fails the type check. */
export const ERROR_MAPPINGS: Record<ErrorCode, ErrorMapping> = {
  ...mapAll(malformed, 'INPUT_INVALID', 'CONFLICT'),
  ...mapAll(internalMapping, 'CONFIG_INVALID', 'CHAIN_REVERTED', 'ATTESTATION_MISMATCH', 'DATA_DIR_DAMAGED', 'ILLEGAL_TRANSITION'),
  ...mapAll(internalMapping, 'VENUE_REJECTED', 'INTERNAL'),
  ...mapAll(unavailable, 'FEED_INVALID', 'FEED_UNAVAILABLE', 'PRICE_UNAVAILABLE', 'HISTORY_TOO_SHORT', 'CHAIN_UNREACHABLE'),
  ...mapAll(unavailable, 'TRANSACTION_UNCONFIRMED', 'DATABASE_UNAVAILABLE', 'DATA_DIR_IN_USE', 'STEP_WAITING', 'TARGET_UNREACHABLE'),
  ...mapAll(unavailable, 'SERVICE_UNREACHABLE', 'SHUTTING_DOWN', 'OVERLOADED', 'SIGNER_UNAVAILABLE'),
  UNAUTHENTICATED: rejectedMapping(401, 'UNAUTHENTICATED'),
  ...mapAll(rejectedMapping(403, 'PERMISSION_DENIED'), 'TIER_REQUIRED', 'ORIGIN_REFUSED'),
  PAYMENT_REQUIRED: rejectedMapping(402, 'FAILED_PRECONDITION'),
  RATE_LIMITED: rejectedMapping(429, 'RESOURCE_EXHAUSTED'),
  NOT_FOUND: { as: 'TaskNotFoundError', rpc: TASK_NOT_FOUND, status: 'NOT_FOUND', http: 404 },
  METHOD_NOT_ALLOWED: rejectedMapping(405, 'UNIMPLEMENTED'),
  NOT_IMPLEMENTED: rejectedMapping(501, 'UNIMPLEMENTED'),
  UPGRADE_REQUIRED: rejectedMapping(426, 'UNIMPLEMENTED'),
  PAYLOAD_TOO_LARGE: rejectedMapping(413, 'INVALID_ARGUMENT'),
  URL_TOO_LONG: rejectedMapping(414, 'INVALID_ARGUMENT'),
  UNSUPPORTED_MEDIA_TYPE: { as: 'ContentTypeNotSupportedError', rpc: CONTENT_TYPE_NOT_SUPPORTED, status: 'INVALID_ARGUMENT', http: 400 },
};

/** `google.rpc.ErrorInfo`, whose metadata values are strings. */
export function buildErrorInfo(clientError: ClientError, reason: string = clientError.code): sdk.A2AErrorInfo {
  return { '@type': sdk.ERROR_INFO_TYPE, reason, domain: sdk.A2A_ERROR_DOMAIN, metadata: buildErrorMetadata(clientError) };
}

/** `ErrorInfo.reason` of the protocol, or our code if the protocol has no name for it. */
export function getProtocolReason(code: ErrorCode): string {
  const { as } = ERROR_MAPPINGS[code];
  return as === null ? code : new ERROR_CLASSES[as].current().reason;
}

function buildErrorMetadata({ code, retryable, suggestedAction, field, retryAfterSeconds }: ClientError): Record<string, string> {
  return {
    code,
    retryable: String(retryable),
    suggestedAction,
    ...(field === undefined ? {} : { field }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds: String(retryAfterSeconds) }),
  };
}

/** Converts an error of a call to the protocol version and binding of the request. Errors of the SDK pass unchanged. */
export function toProtocolError(error: unknown, context: ServerCallContext): sdk.A2AError {
  if (error instanceof sdk.A2AError) return error;
  const known = preferRejectedToken(toDatabaseError(error), context);
  const isLegacy = context.requestedVersion === A2A_LEGACY_VERSION;
  const clientError = toClientError(known);
  if (isLegacy) clientError.suggestedAction = toLegacyMethodNames(clientError.suggestedAction);
  const name = known instanceof ProtocolRejection ? known.protocolName : ERROR_MAPPINGS[clientError.code].as;
  if (name === null) return new ServiceError(clientError, getErrorTransport(isLegacy, context));
  const options = { message: clientError.message, metadata: buildErrorMetadata(clientError) };
  const current = new ERROR_CLASSES[name].current(options);
  // Over 0.3 the SDK serializes only the data of the JSON-RPC classes.
  return isLegacy ? new ERROR_CLASSES[name].legacy({ ...options, data: [current.toErrorInfo()] as never }) : current;
}

/** A missing task may belong to the wallet whose token was rejected, so an anonymous caller learns about the token first. */
function preferRejectedToken(error: unknown, context: ServerCallContext): unknown {
  const { rejectedToken } = getUser(context).requestContext.caller;
  return rejectedToken !== undefined && isOracleError(error, 'NOT_FOUND') ? unauthenticated(rejectedToken, error) : error;
}

/** The SDK serializes our reason over JSON-RPC 1.0 only without a transport, and over the others only with one. */
function getErrorTransport(isLegacy: boolean, context: ServerCallContext): 'rest' | 'jsonrpc' | undefined {
  if (isLegacy) return 'jsonrpc';
  return getUser(context).binding === 'rest' ? 'rest' : undefined;
}

/** An error that has no name in the protocol, under our own code. */
class ServiceError extends sdk.A2AError {
  override readonly reason: string;
  readonly transport: 'rest' | 'jsonrpc' | undefined;
  readonly statusCode: number;
  readonly envelopeCode: number;
  readonly data: unknown;

  constructor(clientError: ClientError, transport: 'rest' | 'jsonrpc' | undefined) {
    super({ message: clientError.message, metadata: buildErrorMetadata(clientError) });
    const { http, rpc } = ERROR_MAPPINGS[clientError.code];
    this.reason = clientError.code;
    this.transport = transport;
    this.statusCode = http;
    this.envelopeCode = rpc;
    this.data = [buildErrorInfo(clientError)];
  }
}
