/**
 * What can go wrong, as a closed list. The core throws `OracleError` with one of these codes; each door maps the codes
 * through its own table. `retryable` says whether the same call may succeed later without the caller changing anything.
 */
export const ERROR_CODES = {
  /** A setting is missing or malformed; the start stops. */
  CONFIG_INVALID: { retryable: false },
  /** A caller's parameter is wrong; `field` names it. */
  INPUT_INVALID: { retryable: false },
  /** No token, or one that is expired, revoked or not ours. */
  UNAUTHENTICATED: { retryable: false },
  /** Known, but the balance of gate tokens is below the tier that is asked for. */
  TIER_REQUIRED: { retryable: false },
  /** A page of another site, or a host name that is not this service's. */
  ORIGIN_REFUSED: { retryable: false },
  /** Nothing, too little or something else was paid for what is asked for. */
  PAYMENT_REQUIRED: { retryable: false },
  /** Too many requests; `retryAfterSeconds` says when there is room again. */
  RATE_LIMITED: { retryable: true },
  /** What is asked for contradicts what is there, e.g. a signature that was used before. */
  CONFLICT: { retryable: false },
  NOT_FOUND: { retryable: false },
  METHOD_NOT_ALLOWED: { retryable: false },
  /** What is served there is a WebSocket, in version 13 of its protocol. */
  UPGRADE_REQUIRED: { retryable: false },
  PAYLOAD_TOO_LARGE: { retryable: false },
  URL_TOO_LONG: { retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { retryable: false },
  /** A feed's content cannot be read; the message names the file and line, or the provider and field. */
  FEED_INVALID: { retryable: false },
  FEED_UNAVAILABLE: { retryable: true },
  /** No fresh or agreed price yet: the step waits. */
  PRICE_UNAVAILABLE: { retryable: true },
  /** The model needs more price history than there is. */
  HISTORY_TOO_SHORT: { retryable: false },
  CHAIN_UNREACHABLE: { retryable: true },
  /** A transaction or call reverted; sending it again would revert again. */
  CHAIN_REVERTED: { retryable: false },
  /** Broadcast, but not yet at its confirmation depth. */
  TRANSACTION_UNCONFIRMED: { retryable: true },
  /** What stands on chain is not what the record says. */
  ATTESTATION_MISMATCH: { retryable: false },
  DATABASE_UNAVAILABLE: { retryable: true },
  DATA_DIR_DAMAGED: { retryable: false },
  DATA_DIR_IN_USE: { retryable: true },
  /** The record does not allow this change from the state it is in. */
  ILLEGAL_TRANSITION: { retryable: false },
  /** An earlier step of the day has not finished: this one waits. */
  STEP_WAITING: { retryable: true },
  VENUE_REJECTED: { retryable: false },
  /** A URL that a caller named does not answer, or not over TLS that can be trusted. */
  TARGET_UNREACHABLE: { retryable: true },
  SHUTTING_DOWN: { retryable: true },
  /** The general share of connections is used up; the reserve is for health probes, token holders and payers. */
  OVERLOADED: { retryable: true },
  /** Told by a program beside the service that has to ask it: it does not answer. */
  SERVICE_UNREACHABLE: { retryable: true },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface OracleErrorOptions {
  /** The parameter, setting or column at fault. */
  field?: string;
  /** What the reader can do about it, as an instruction. */
  suggestedAction?: string;
  /** Further public facts for the caller, e.g. the balance found and the one required. */
  details?: Readonly<Record<string, string | number | boolean | null>>;
  /** For how long trying again is pointless. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

export class OracleError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly suggestedAction: string | undefined;
  readonly details: OracleErrorOptions['details'];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: OracleErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OracleError';
    this.code = code;
    this.field = options.field;
    this.suggestedAction = options.suggestedAction;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

/** An error as any door may tell it: nothing of its cause, and nothing of an error that is not ours. */
export interface ClientError {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  /** What the reader can do about it. */
  suggestedAction: string;
  /** The parameter at fault. */
  field?: string;
  /** For how long trying again is pointless, where that is known. */
  retryAfterSeconds?: number;
  details?: OracleErrorOptions['details'];
}

/** Anything that is not an `OracleError` becomes INTERNAL and keeps its message to itself. */
export function toClientError(error: unknown): ClientError {
  const known = isOracleError(error) ? error : new OracleError('INTERNAL', 'The request failed; it has been logged.', { cause: error });
  const { code, message, retryable, field, retryAfterSeconds, details } = known;
  return {
    code,
    message,
    retryable,
    suggestedAction: known.suggestedAction ?? getDefaultAction(known),
    ...(field === undefined ? {} : { field }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(details === undefined ? {} : { details }),
  };
}

function getDefaultAction({ retryable, field }: OracleError): string {
  if (retryable) return 'Try again later.';
  return field === undefined ? 'Do not repeat the request as it is.' : `Correct "${field}" and send the request again.`;
}

/** True when `error` is an `OracleError`, of the given code if one is named. */
export function isOracleError(error: unknown, code?: ErrorCode): error is OracleError {
  return error instanceof OracleError && (code === undefined || error.code === code);
}

/** Why something came to nothing, as anybody may read it: of an error that is not ours nothing but that it was one. */
export function toPublicReason(error: unknown): string {
  return isOracleError(error) ? error.message : 'it failed; the log says why';
}

/** Text of anything thrown, for logs and messages. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
