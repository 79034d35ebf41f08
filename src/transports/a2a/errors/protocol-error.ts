import * as sdk from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { A2A_LEGACY_VERSION } from '../../../../agent-card/protocols.ts';
import { unauthenticated } from '../../../auth/tokens/access-tokens.ts';
import { type ClientError, type ErrorCode, isOracleError, OracleError, toClientError } from '../../../platform/errors.ts';
import { isDatabaseUnreachable } from '../../../platform/mongo.ts';
import { getUser } from '../agent-user.ts';
import { toLegacyMethodNames } from '../bindings/methods.ts';
import { ProtocolRejection, type RejectionName, taskNotFound } from './rejections.ts';

type ProtocolErrorName = RejectionName | 'RequestMalformedError' | 'ContentTypeNotSupportedError';

/** How the protocol tells an error. */
interface ErrorMapping {
  /** Its own name for it; null where it has none. */
  as: ProtocolErrorName | null;
  /** JSON-RPC code. */
  rpc: number;
  /** `google.rpc.Code`. */
  status: string;
  /** HTTP status, over HTTP+JSON. */
  http: number;
}

/** The classes of each name: the plain one, and the one that carries data in protocol 0.3. */
const ERROR_CLASSES = {
  TaskNotFoundError: { plain: sdk.TaskNotFoundError, coded: sdk.JsonRpcTaskNotFoundError },
  TaskNotCancelableError: { plain: sdk.TaskNotCancelableError, coded: sdk.JsonRpcTaskNotCancelableError },
  UnsupportedOperationError: { plain: sdk.UnsupportedOperationError, coded: sdk.JsonRpcUnsupportedOperationError },
  PushNotificationNotSupportedError: { plain: sdk.PushNotificationNotSupportedError, coded: sdk.JsonRpcPushNotificationNotSupportedError },
  VersionNotSupportedError: { plain: sdk.VersionNotSupportedError, coded: sdk.JsonRpcVersionNotSupportedError },
  ExtensionSupportRequiredError: { plain: sdk.ExtensionSupportRequiredError, coded: sdk.JsonRpcExtensionSupportRequiredError },
  RequestMalformedError: { plain: sdk.RequestMalformedError, coded: sdk.JsonRpcRequestMalformedError },
  ContentTypeNotSupportedError: { plain: sdk.ContentTypeNotSupportedError, coded: sdk.JsonRpcContentTypeNotSupportedError },
  ExtendedAgentCardNotConfiguredError: {
    plain: sdk.ExtendedAgentCardNotConfiguredError,
    coded: sdk.JsonRpcExtendedAgentCardNotConfiguredError,
  },
};

const { INVALID_REQUEST, INTERNAL_ERROR, INVALID_PARAMS, TASK_NOT_FOUND, CONTENT_TYPE_NOT_SUPPORTED } = sdk.A2A_ERROR_CODE;

const malformed: ErrorMapping = { as: 'RequestMalformedError', rpc: INVALID_PARAMS, status: 'INVALID_ARGUMENT', http: 400 };
const internalMapping: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'INTERNAL', http: 500 };
const unavailable: ErrorMapping = { as: null, rpc: INTERNAL_ERROR, status: 'UNAVAILABLE', http: 503 };
const rejectedMapping = (http: number, status: string): ErrorMapping => ({ as: null, rpc: INVALID_REQUEST, status, http });

/** Closed, so that a new code without a line here fails the type check. */
export const ERROR_MAPPINGS = {
  CONFIG_INVALID: internalMapping,
  INPUT_INVALID: malformed,
  UNAUTHENTICATED: rejectedMapping(401, 'UNAUTHENTICATED'),
  TIER_REQUIRED: rejectedMapping(403, 'PERMISSION_DENIED'),
  ORIGIN_REFUSED: rejectedMapping(403, 'PERMISSION_DENIED'),
  PAYMENT_REQUIRED: rejectedMapping(402, 'FAILED_PRECONDITION'),
  RATE_LIMITED: rejectedMapping(429, 'RESOURCE_EXHAUSTED'),
  CONFLICT: malformed,
  NOT_FOUND: { as: 'TaskNotFoundError', rpc: TASK_NOT_FOUND, status: 'NOT_FOUND', http: 404 },
  METHOD_NOT_ALLOWED: rejectedMapping(405, 'UNIMPLEMENTED'),
  UPGRADE_REQUIRED: rejectedMapping(426, 'UNIMPLEMENTED'),
  PAYLOAD_TOO_LARGE: rejectedMapping(413, 'INVALID_ARGUMENT'),
  URL_TOO_LONG: rejectedMapping(414, 'INVALID_ARGUMENT'),
  UNSUPPORTED_MEDIA_TYPE: { as: 'ContentTypeNotSupportedError', rpc: CONTENT_TYPE_NOT_SUPPORTED, status: 'INVALID_ARGUMENT', http: 400 },
  FEED_INVALID: unavailable,
  FEED_UNAVAILABLE: unavailable,
  PRICE_UNAVAILABLE: unavailable,
  HISTORY_TOO_SHORT: unavailable,
  CHAIN_UNREACHABLE: unavailable,
  CHAIN_REVERTED: internalMapping,
  TRANSACTION_UNCONFIRMED: unavailable,
  ATTESTATION_MISMATCH: internalMapping,
  DATABASE_UNAVAILABLE: unavailable,
  DATA_DIR_DAMAGED: internalMapping,
  DATA_DIR_IN_USE: unavailable,
  ILLEGAL_TRANSITION: internalMapping,
  STEP_WAITING: unavailable,
  VENUE_REJECTED: internalMapping,
  TARGET_UNREACHABLE: unavailable,
  SERVICE_UNREACHABLE: unavailable,
  SHUTTING_DOWN: unavailable,
  OVERLOADED: unavailable,
  INTERNAL: internalMapping,
} as const satisfies Record<ErrorCode, ErrorMapping>;

/** `google.rpc.ErrorInfo` with what we know beside it; all values are texts there. */
export function buildErrorInfo(clientError: ClientError, reason: string = clientError.code): sdk.A2AErrorInfo {
  return { '@type': sdk.ERROR_INFO_TYPE, reason, domain: sdk.A2A_ERROR_DOMAIN, metadata: buildErrorMetadata(clientError) };
}

/** The protocol's own reason for an error, where it has one. */
export function getProtocolReason(code: ErrorCode): string {
  const { as } = ERROR_MAPPINGS[code] satisfies ErrorMapping as ErrorMapping;
  return as === null ? code : new ERROR_CLASSES[as].plain().reason;
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

/** The error of a call in the words of its protocol, version and binding. */
export function toProtocolError(error: unknown, context: ServerCallContext): sdk.A2AError {
  const known = preferRejectedToken(toOracleError(error), context);
  const isLegacy = context.requestedVersion === A2A_LEGACY_VERSION;
  const clientError = isLegacy ? withLegacyMethodNames(toClientError(known)) : toClientError(known);
  const mapping = ERROR_MAPPINGS[clientError.code];
  const name = known instanceof ProtocolRejection ? known.protocolName : mapping.as;
  const metadata = buildErrorMetadata(clientError);
  if (name === null) return new ServiceError({ told: clientError, telling: mapping, transport: getErrorTransport(isLegacy, context) });
  const plain = new ERROR_CLASSES[name].plain({ message: clientError.message, metadata });
  if (!isLegacy) return plain;
  return new ERROR_CLASSES[name].coded({ message: clientError.message, metadata, data: [plain.toErrorInfo()] as never });
}

/** A task that an anonymous caller does not have may be that of the wallet whose token was rejected: the token is the problem then. */
function preferRejectedToken(error: unknown, context: ServerCallContext): unknown {
  const { rejectedToken } = getUser(context).requestContext.caller;
  return rejectedToken !== undefined && isOracleError(error, 'NOT_FOUND') ? unauthenticated(rejectedToken, error) : error;
}

function withLegacyMethodNames(clientError: ClientError): ClientError {
  return { ...clientError, suggestedAction: toLegacyMethodNames(clientError.suggestedAction) };
}

/** The library writes our reason out only of an error without a transport over JSON-RPC 1.0, and of one with it over the others. */
function getErrorTransport(isLegacy: boolean, context: ServerCallContext): 'rest' | 'jsonrpc' | undefined {
  if (isLegacy) return 'jsonrpc';
  return getUser(context).binding === 'rest' ? 'rest' : undefined;
}

/** What the protocol has no name for: told under our own code. */
class ServiceError extends sdk.A2AError {
  override readonly reason: string;
  readonly transport: 'rest' | 'jsonrpc' | undefined;
  readonly statusCode: number;
  readonly envelopeCode: number;
  readonly data: unknown;

  constructor({
    told: clientError,
    telling: mapping,
    transport,
  }: { told: ClientError; telling: ErrorMapping; transport: 'rest' | 'jsonrpc' | undefined }) {
    super({ message: clientError.message, metadata: buildErrorMetadata(clientError) });
    this.reason = clientError.code;
    this.transport = transport;
    this.statusCode = mapping.http;
    this.envelopeCode = mapping.rpc;
    this.data = [buildErrorInfo(clientError)];
  }
}

/** Errors of the protocol's library, as ours. */
const SDK_ERROR_MAPPERS: Record<string, (error: sdk.A2AError) => OracleError> = {
  TASK_NOT_FOUND: taskNotFound,
  TASK_NOT_CANCELABLE: (cause) => toRejection('TaskNotCancelableError', cause),
  UNSUPPORTED_OPERATION: (cause) => toRejection('UnsupportedOperationError', cause),
  PUSH_NOTIFICATION_NOT_SUPPORTED: (cause) => toRejection('PushNotificationNotSupportedError', cause),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: (cause) => toRejection('ExtendedAgentCardNotConfiguredError', cause),
  EXTENSION_SUPPORT_REQUIRED: (cause) => toRejection('ExtensionSupportRequiredError', cause),
  VERSION_NOT_SUPPORTED: (cause) => toRejection('VersionNotSupportedError', cause),
  INVALID_PARAMS: (cause) => new OracleError('INPUT_INVALID', truncateMessage(cause.message), { field: 'params', cause }),
  CONTENT_TYPE_NOT_SUPPORTED: (cause) => new OracleError('UNSUPPORTED_MEDIA_TYPE', truncateMessage(cause.message), { cause }),
};

/** Anything thrown behind the door, as an error of ours; what is not known stays as it is, and is told as INTERNAL. */
export function toOracleError(error: unknown): unknown {
  if (isDatabaseUnreachable(error)) return new OracleError('DATABASE_UNAVAILABLE', 'The database does not answer', { cause: error });
  if (isOracleError(error) || !(error instanceof sdk.A2AError)) return error;
  return SDK_ERROR_MAPPERS[error.reason]?.(error) ?? error;
}

function toRejection(name: RejectionName, cause: sdk.A2AError): OracleError {
  return new ProtocolRejection(name, { code: 'CONFLICT', message: truncateMessage(cause.message), cause });
}

/** It may repeat what was sent. */
function truncateMessage(message: string): string {
  return message.slice(0, 200);
}
