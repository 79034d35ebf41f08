import * as sdk from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { A2A_LEGACY_VERSION } from '../../agent-card/protocols.ts';
import { unauthenticated } from '../access/tokens.ts';
import { type ErrorCode, isOracleError, OracleError, type ToldError, toldError } from '../errors.ts';
import { isDatabaseSilent } from '../mongo.ts';
import { toLegacyNames } from './methods.ts';
import { userOf } from './owner.ts';
import { Refusal, type RefusalName, taskNotFound } from './refusal.ts';

type ProtocolName = RefusalName | 'RequestMalformedError' | 'ContentTypeNotSupportedError';

/** How the protocol tells an error. */
interface Telling {
  /** Its own name for it; null where it has none. */
  as: ProtocolName | null;
  /** JSON-RPC code. */
  rpc: number;
  /** `google.rpc.Code`. */
  status: string;
  /** HTTP status, over HTTP+JSON. */
  http: number;
}

/** The classes of each name: the plain one, and the one that carries data in protocol 0.3. */
const CLASSES = {
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

const malformed: Telling = { as: 'RequestMalformedError', rpc: INVALID_PARAMS, status: 'INVALID_ARGUMENT', http: 400 };
const ours: Telling = { as: null, rpc: INTERNAL_ERROR, status: 'INTERNAL', http: 500 };
const unavailable: Telling = { as: null, rpc: INTERNAL_ERROR, status: 'UNAVAILABLE', http: 503 };
const refused = (http: number, status: string): Telling => ({ as: null, rpc: INVALID_REQUEST, status, http });

/** Closed, so that a new code without a line here fails the type check. */
export const TELLINGS = {
  CONFIG_INVALID: ours,
  INPUT_INVALID: malformed,
  UNAUTHENTICATED: refused(401, 'UNAUTHENTICATED'),
  TIER_REQUIRED: refused(403, 'PERMISSION_DENIED'),
  ORIGIN_REFUSED: refused(403, 'PERMISSION_DENIED'),
  PAYMENT_REQUIRED: refused(402, 'FAILED_PRECONDITION'),
  RATE_LIMITED: refused(429, 'RESOURCE_EXHAUSTED'),
  CONFLICT: malformed,
  NOT_FOUND: { as: 'TaskNotFoundError', rpc: TASK_NOT_FOUND, status: 'NOT_FOUND', http: 404 },
  METHOD_NOT_ALLOWED: refused(405, 'UNIMPLEMENTED'),
  UPGRADE_REQUIRED: refused(426, 'UNIMPLEMENTED'),
  PAYLOAD_TOO_LARGE: refused(413, 'INVALID_ARGUMENT'),
  URL_TOO_LONG: refused(414, 'INVALID_ARGUMENT'),
  UNSUPPORTED_MEDIA_TYPE: { as: 'ContentTypeNotSupportedError', rpc: CONTENT_TYPE_NOT_SUPPORTED, status: 'INVALID_ARGUMENT', http: 400 },
  FEED_INVALID: unavailable,
  FEED_UNAVAILABLE: unavailable,
  PRICE_UNAVAILABLE: unavailable,
  HISTORY_TOO_SHORT: unavailable,
  CHAIN_UNREACHABLE: unavailable,
  CHAIN_REVERTED: ours,
  TRANSACTION_UNCONFIRMED: unavailable,
  ATTESTATION_MISMATCH: ours,
  DATABASE_UNAVAILABLE: unavailable,
  DATA_DIR_DAMAGED: ours,
  DATA_DIR_IN_USE: unavailable,
  ILLEGAL_TRANSITION: ours,
  STEP_WAITING: unavailable,
  VENUE_REJECTED: ours,
  TARGET_UNREACHABLE: unavailable,
  SERVICE_UNREACHABLE: unavailable,
  SHUTTING_DOWN: unavailable,
  OVERLOADED: unavailable,
  INTERNAL: ours,
} as const satisfies Record<ErrorCode, Telling>;

/** `google.rpc.ErrorInfo` with what we know beside it; all values are texts there. */
export function errorInfoOf(told: ToldError, reason: string = told.code): sdk.A2AErrorInfo {
  return { '@type': sdk.ERROR_INFO_TYPE, reason, domain: sdk.A2A_ERROR_DOMAIN, metadata: metadataOf(told) };
}

/** The protocol's own reason for an error, where it has one. */
export function reasonOf(code: ErrorCode): string {
  const { as } = TELLINGS[code] satisfies Telling as Telling;
  return as === null ? code : new CLASSES[as].plain().reason;
}

function metadataOf({ code, retryable, suggestedAction, field, retryAfterSeconds }: ToldError): Record<string, string> {
  return {
    code,
    retryable: String(retryable),
    suggestedAction,
    ...(field === undefined ? {} : { field }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds: String(retryAfterSeconds) }),
  };
}

/** The error of a call in the words of its protocol, version and binding. */
export function protocolError(error: unknown, context: ServerCallContext): sdk.A2AError {
  const known = orRejectedToken(ownError(error), context);
  const isLegacy = context.requestedVersion === A2A_LEGACY_VERSION;
  const told = isLegacy ? withLegacyNames(toldError(known)) : toldError(known);
  const telling = TELLINGS[told.code];
  const name = known instanceof Refusal ? known.toldAs : telling.as;
  const metadata = metadataOf(told);
  if (name === null) return new ServiceError({ told, telling, transport: transportOf(isLegacy, context) });
  const plain = new CLASSES[name].plain({ message: told.message, metadata });
  if (!isLegacy) return plain;
  return new CLASSES[name].coded({ message: told.message, metadata, data: [plain.toErrorInfo()] as never });
}

/** A task that an anonymous caller does not have may be that of the wallet whose token was rejected: the token is the problem then. */
function orRejectedToken(error: unknown, context: ServerCallContext): unknown {
  const { rejectedToken } = userOf(context).asker.caller;
  return rejectedToken !== undefined && isOracleError(error, 'NOT_FOUND') ? unauthenticated(rejectedToken, error) : error;
}

function withLegacyNames(told: ToldError): ToldError {
  return { ...told, suggestedAction: toLegacyNames(told.suggestedAction) };
}

/** The library writes our reason out only of an error without a transport over JSON-RPC 1.0, and of one with it over the others. */
function transportOf(isLegacy: boolean, context: ServerCallContext): 'rest' | 'jsonrpc' | undefined {
  if (isLegacy) return 'jsonrpc';
  return userOf(context).binding === 'rest' ? 'rest' : undefined;
}

/** What the protocol has no name for: told under our own code. */
class ServiceError extends sdk.A2AError {
  override readonly reason: string;
  readonly transport: 'rest' | 'jsonrpc' | undefined;
  readonly statusCode: number;
  readonly envelopeCode: number;
  readonly data: unknown;

  constructor({ told, telling, transport }: { told: ToldError; telling: Telling; transport: 'rest' | 'jsonrpc' | undefined }) {
    super({ message: told.message, metadata: metadataOf(told) });
    this.reason = told.code;
    this.transport = transport;
    this.statusCode = telling.http;
    this.envelopeCode = telling.rpc;
    this.data = [errorInfoOf(told)];
  }
}

/** Errors of the protocol's library, as ours. */
const BY_REASON: Record<string, (error: sdk.A2AError) => OracleError> = {
  TASK_NOT_FOUND: taskNotFound,
  TASK_NOT_CANCELABLE: (cause) => refusal('TaskNotCancelableError', cause),
  UNSUPPORTED_OPERATION: (cause) => refusal('UnsupportedOperationError', cause),
  PUSH_NOTIFICATION_NOT_SUPPORTED: (cause) => refusal('PushNotificationNotSupportedError', cause),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: (cause) => refusal('ExtendedAgentCardNotConfiguredError', cause),
  EXTENSION_SUPPORT_REQUIRED: (cause) => refusal('ExtensionSupportRequiredError', cause),
  VERSION_NOT_SUPPORTED: (cause) => refusal('VersionNotSupportedError', cause),
  INVALID_PARAMS: (cause) => new OracleError('INPUT_INVALID', bounded(cause.message), { field: 'params', cause }),
  CONTENT_TYPE_NOT_SUPPORTED: (cause) => new OracleError('UNSUPPORTED_MEDIA_TYPE', bounded(cause.message), { cause }),
};

/** Anything thrown behind the door, as an error of ours; what is not known stays as it is, and is told as INTERNAL. */
export function ownError(error: unknown): unknown {
  if (isDatabaseSilent(error)) return new OracleError('DATABASE_UNAVAILABLE', 'The database does not answer', { cause: error });
  if (isOracleError(error) || !(error instanceof sdk.A2AError)) return error;
  return BY_REASON[error.reason]?.(error) ?? error;
}

function refusal(name: RefusalName, cause: sdk.A2AError): OracleError {
  return new Refusal(name, { code: 'CONFLICT', message: bounded(cause.message), cause });
}

/** It may repeat what was sent. */
function bounded(message: string): string {
  return message.slice(0, 200);
}
