/** The closed list of errors. Each transport maps these codes through its own table. `retryable`: the unchanged request may succeed later. */
export const ERROR_CODES = {
  /** A setting is missing or malformed; the start fails. */
  CONFIG_INVALID: { retryable: false },
  INPUT_INVALID: { retryable: false },
  /** No token, or one that is expired, revoked or foreign. */
  UNAUTHENTICATED: { retryable: false },
  /** Authenticated, but the gate-token balance is below the required tier. */
  TIER_REQUIRED: { retryable: false },
  /** Origin of another site, or a foreign `Host`. */
  ORIGIN_REFUSED: { retryable: false },
  /** No payment, too little, or payment for something else. */
  PAYMENT_REQUIRED: { retryable: false },
  /** The client names its own transfer as the payment, and the chain does not have it yet, or not deep enough. */
  TRANSFER_UNCONFIRMED: { retryable: true },
  /** A rate limit or quota is exceeded; `retryAfterSeconds` says until when. */
  RATE_LIMITED: { retryable: true },
  /** The request conflicts with the current state, e.g. a signature that was used before. */
  CONFLICT: { retryable: false },
  NOT_FOUND: { retryable: false },
  METHOD_NOT_ALLOWED: { retryable: false },
  /** The client accepts none of the media types of the answer. */
  NOT_ACCEPTABLE: { retryable: false },
  /** The path serves WebSockets of protocol version 13. */
  UPGRADE_REQUIRED: { retryable: false },
  PAYLOAD_TOO_LARGE: { retryable: false },
  URL_TOO_LONG: { retryable: false },
  UNSUPPORTED_MEDIA_TYPE: { retryable: false },
  /** A protocol defines it, and the service does not offer it. */
  NOT_IMPLEMENTED: { retryable: false },
  /** Unreadable feed content; the message names file and line, or provider and field. */
  FEED_INVALID: { retryable: false },
  FEED_UNAVAILABLE: { retryable: true },
  /** No fresh price or no quorum yet: the step waits. */
  PRICE_UNAVAILABLE: { retryable: true },
  HISTORY_TOO_SHORT: { retryable: false },
  CHAIN_UNREACHABLE: { retryable: true },
  /** The signer of a wallet's role gives no valid signature: nothing was signed. */
  SIGNER_UNAVAILABLE: { retryable: true },
  /** A transaction or call reverted; a repetition would revert again. */
  CHAIN_REVERTED: { retryable: false },
  /** A transaction of the service, broadcast but below the confirmation depth. */
  TRANSACTION_UNCONFIRMED: { retryable: true },
  ATTESTATION_MISMATCH: { retryable: false },
  DATABASE_UNAVAILABLE: { retryable: true },
  DATA_DIR_DAMAGED: { retryable: false },
  DATA_DIR_IN_USE: { retryable: true },
  /** The record does not allow this transition from its current state. */
  ILLEGAL_TRANSITION: { retryable: false },
  /** An earlier step has not finished: this one waits. */
  STEP_WAITING: { retryable: true },
  VENUE_REJECTED: { retryable: false },
  /** A caller-supplied URL does not respond, or has no valid TLS certificate. */
  TARGET_UNREACHABLE: { retryable: true },
  SHUTTING_DOWN: { retryable: true },
  /** No unreserved connections left; the reserve is for health probes, token holders and payers. */
  OVERLOADED: { retryable: true },
  /** A client program gets no response from the service. */
  SERVICE_UNREACHABLE: { retryable: true },
  INTERNAL: { retryable: false },
} as const satisfies Record<string, { retryable: boolean }>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface OracleErrorOptions {
  /** The parameter, setting or column at fault. */
  field?: string;
  suggestedAction?: string;
  /** Further public facts, e.g. the actual and the required balance. */
  details?: Readonly<Record<string, string | number | boolean | null>>;
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

export interface ClientError {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  suggestedAction: string;
  field?: string;
  retryAfterSeconds?: number;
  details?: OracleErrorOptions['details'];
}

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

export function isOracleError(error: unknown, code?: ErrorCode): error is OracleError {
  return error instanceof OracleError && (code === undefined || error.code === code);
}

/** For `catch`: a value in place of an error of this code; any other is thrown. */
export function orElse<T>(code: ErrorCode, value: T): (error: unknown) => T {
  return (error) => {
    if (isOracleError(error, code)) return value;
    throw error;
  };
}

/** Public reason of a failure; the message of an unknown error is not exposed. */
export function toPublicReason(error: unknown): string {
  return isOracleError(error) ? error.message : 'it failed; the log says why';
}

export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export class UsageError extends OracleError {
  constructor(field: string, problem: string, suggestedAction = 'Try --help.') {
    super('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction });
  }
}
