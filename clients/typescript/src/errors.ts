import { ERROR_CODES, type ErrorCode, OracleError, type OracleErrorOptions } from '../../../src/errors.ts';
import type { PaidAnswer, PreparedPayment, Problem } from './types.ts';

export type { ErrorCode };
export { OracleError };

/** The service gave no answer, or an answer that is not of this service. The request may have had its effect. */
export class TransportError extends OracleError {
  constructor(message: string, options: OracleErrorOptions = {}) {
    super('SERVICE_UNREACHABLE', message, options);
    this.name = 'TransportError';
  }
}

/** Received bytes differ from the digest that the service names for them. */
export class IntegrityError extends OracleError {
  constructor(message: string) {
    super('FEED_INVALID', message, { suggestedAction: 'Download it again: the record may have grown in between.' });
    this.name = 'IntegrityError';
  }
}

/**
 * An error response of the service, RFC 9457. `code` is for programs (INTERNAL stands for one that this version does not know; `problem.code`
 * has it), `field` names the rejected input. `retryAfterSeconds` is that of `Retry-After`.
 */
export class ServiceProblem extends OracleError {
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly detail: string;
  readonly instance: string | undefined;
  /** The whole body, with members that are particular to the problem. */
  readonly problem: Readonly<Partial<Problem> & Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter: string | null) {
    const { code, detail = `HTTP status ${status} without a description`, suggestedAction, field } = body;
    super(toErrorCode(code), String(detail), {
      suggestedAction: toText(suggestedAction),
      field: toText(field),
      retryAfterSeconds: retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined,
    });
    this.name = 'ServiceProblem';
    this.status = status;
    this.type = toText(body.type) ?? 'about:blank';
    this.title = toText(body.title) ?? '';
    this.detail = this.message;
    this.instance = toText(body.instance);
    this.problem = body as ServiceProblem['problem'];
  }

  /** Whether the unchanged request may succeed later, as the service says. */
  override get retryable(): boolean {
    return this.problem.retryable === true;
  }
}

/** The error of a response. A body that is no problem, as of a proxy, is one without a code. */
export function toServiceProblem(response: Response, body: unknown): ServiceProblem {
  const problem = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  return new ServiceProblem(response.status, problem, response.headers.get('Retry-After'));
}

function toErrorCode(code: unknown): ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'INTERNAL';
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The terms exceed what this call allows. Nothing was signed. */
export class PaymentDeclined extends OracleError {
  constructor(message: string, suggestedAction = 'Nothing was signed or paid.') {
    super('PAYMENT_REQUIRED', message, { suggestedAction });
    this.name = 'PaymentDeclined';
  }
}

const DEFAULT_RETRY_SECONDS = 5;

/** The payment was sent and its result is unknown. The same `buy`, or `send(error.payment)`, sends it again and never pays twice. */
export class PaymentUncertain extends OracleError {
  readonly payment: PreparedPayment;

  constructor(payment: PreparedPayment, cause: OracleError) {
    super('TRANSACTION_UNCONFIRMED', `It is not known whether the payment was used: ${cause.message}`, {
      suggestedAction: 'Send the same payment again.',
      retryAfterSeconds: cause.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS,
      cause,
    });
    this.name = 'PaymentUncertain';
    this.payment = payment;
  }
}

/** The answer was paid for, and its receipt does not prove it. `bought` has the answer and the checks. */
export class ReceiptRejected extends OracleError {
  readonly bought: PaidAnswer;

  constructor(bought: PaidAnswer) {
    const failed = bought.checks.filter(({ ok }) => !ok).map(({ what }) => what);
    super('ATTESTATION_MISMATCH', `The answer was paid for, but its receipt fails: ${failed.join('; ')}`, {
      suggestedAction: 'Keep the answer with its receipt, and do not pay this seller again before it is explained.',
    });
    this.name = 'ReceiptRejected';
    this.bought = bought;
  }
}

/** The service has closed the connection for good: another one would end the same way. `closeCode` is one of docs/EVENTS.md. */
export class StreamEnded extends OracleError {
  readonly closeCode: number;

  constructor(closeCode: number, reason: string) {
    super('TIER_REQUIRED', `The connection was closed with ${closeCode}: ${reason}`);
    this.name = 'StreamEnded';
    this.closeCode = closeCode;
  }
}

/** The delivery is not one of the service, or too old: answer 401 and do nothing. */
export class WebhookRejected extends OracleError {
  constructor(message: string) {
    super('UNAUTHENTICATED', message);
    this.name = 'WebhookRejected';
  }
}
