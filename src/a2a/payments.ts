import { type Task, TaskState } from '@a2a-js/sdk';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { PaidCalls, SoldAnswer } from '../../skills/paid-call.ts';
import type { Asker } from '../access/asker.ts';
import { displayMoney } from '../commerce/money.ts';
import { toX402ErrorCode, type X402ErrorCode } from '../commerce/x402/error-code.ts';
import { PaymentRequiredError, paymentRequired, type Terms } from '../commerce/x402/terms.ts';
import { settlementResponse, toldPurchase } from '../commerce/x402/told.ts';
import { type ToldError, toldError } from '../errors.ts';
import { errorParts, textPart } from './parts.ts';
import { PAYMENT, receiptsOf } from './payment.ts';
import { errorCodeOf } from './payment-error-code.ts';
import { ownError } from './protocol-error.ts';
import type { Plan } from './read-call.ts';
import type { TaskTeller } from './task-teller.ts';

export interface PaymentsParts {
  paidCalls: PaidCalls;
  teller: TaskTeller;
  /** As it was before the message; undefined for one that the message opened. */
  task: Task | undefined;
}

export interface Payer {
  asker: Asker;
  /** Of the task. */
  owner: string;
  /** Hears of what was not paid for after all. */
  onFailure(error: unknown): void;
}

/** A task keeps what became of so many payments. */
const MOST_RECEIPTS = 10;

/** Payments for one task, by the x402 extension: asked for, taken, and told. */
export class Payments {
  readonly #parts: PaymentsParts;

  constructor(parts: PaymentsParts) {
    this.#parts = parts;
  }

  bill({ call, error }: Plan & { do: 'bill' }): void {
    const terms = this.#parts.paidCalls.terms(call.skill, ENDPOINTS.a2a);
    const { price } = terms.offering;
    const suggestedAction = `Pay ${displayMoney(price)} for this answer: send a message with this taskId and the metadata "${PAYMENT.status}": "payment-submitted" and "${PAYMENT.payload}". Or: ${error.suggestedAction}`;
    this.#parts.teller.status(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: errorParts({ ...error, suggestedAction }),
      kept: { skill: call.skill.id, input: call.input },
      said: { [PAYMENT.status]: 'payment-required', ...requiredBy(terms, 'payment_required'), ...this.#receipts() },
    });
  }

  /** The caller does not want to pay. */
  decline(): void {
    this.#parts.teller.status(TaskState.TASK_STATE_CANCELED, {
      parts: [textPart('Nothing was paid, and nothing is owed.')],
      said: { [PAYMENT.status]: 'payment-rejected', [PAYMENT.receipts]: receiptsOf(this.#parts.task) },
    });
  }

  async sell({ call, payment }: Plan & { do: 'sell' }, { asker, owner, onFailure }: Payer): Promise<void> {
    const { paidCalls, teller } = this.#parts;
    const { payload, ref } = payment;
    const terms = paidCalls.terms(call.skill, ENDPOINTS.a2a);
    const network = networkIn(payload, terms);
    // Kept from here on: the payment may come again by itself.
    teller.status(TaskState.TASK_STATE_WORKING, { kept: { skill: call.skill.id, input: call.input } });
    const onVerified = () => teller.status(TaskState.TASK_STATE_WORKING, VERIFIED);
    let sold: SoldAnswer;
    try {
      sold = await paidCalls.sell({ call, endpoint: ENDPOINTS.a2a, payment: payload, ref, asker, owner, onVerified });
    } catch (error) {
      onFailure(error);
      return this.#tellFailure(error, terms, network);
    }
    const { kept, receipts } = this.#withReceipt(settlementResponse(sold.payment, network));
    const said = { [PAYMENT.status]: 'payment-completed', [PAYMENT.receipts]: receipts, [PAYMENT.receipt]: toldPurchase(sold) };
    const parts = [textPart(`Paid ${displayMoney(terms.offering.price)} by the transaction ${sold.payment.txHash}.`)];
    teller.answered(call, sold, { tier: asker.caller.tier, parts, kept, said });
  }

  #tellFailure(error: unknown, terms: Terms, network: string): void {
    const told = toldError(ownError(error));
    // Nothing is known to be wrong with the payment: it can be sent again as it is.
    if (told.retryable || told.code === 'INTERNAL') this.#tellUnknown(told);
    else this.#tellRefused(told, rejectionOf(error, told), { terms, network });
  }

  #tellUnknown(told: ToldError): void {
    this.#parts.teller.status(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: errorParts(sameAgain(told)),
      said: { [PAYMENT.status]: 'payment-submitted', [PAYMENT.error]: told.code, ...this.#receipts() },
    });
  }

  /** The task waits for another payment, unless nothing can come of it. */
  #tellRefused(told: ToldError, { reason, x402Code }: PaymentRejection, { terms, network }: { terms: Terms; network: string }): void {
    const { teller } = this.#parts;
    const { kept, receipts } = this.#withReceipt({ success: false, errorReason: x402Code, transaction: '', network });
    const said = { [PAYMENT.status]: 'payment-failed', [PAYMENT.error]: errorCodeOf(reason), [PAYMENT.receipts]: receipts };
    if (told.code === 'PAYMENT_REQUIRED' || told.code === 'CONFLICT') {
      const again = { parts: errorParts(told), kept, said: { ...said, ...requiredBy(terms, x402Code) } };
      teller.status(TaskState.TASK_STATE_INPUT_REQUIRED, again);
    } else teller.failed(told, { kept, said });
  }

  #receipts(): Record<string, unknown> {
    const receipts = receiptsOf(this.#parts.task);
    return receipts.length === 0 ? {} : { [PAYMENT.receipts]: receipts };
  }

  #withReceipt(receipt: object): { receipts: object[]; kept: Record<string, unknown> } {
    const receipts = [...receiptsOf(this.#parts.task), receipt].slice(-MOST_RECEIPTS);
    return { receipts, kept: { [PAYMENT.receipts]: receipts } };
  }
}

type PaymentRejection = Pick<PaymentRequiredError, 'reason' | 'x402Code'>;

function rejectionOf(error: unknown, { code }: ToldError): PaymentRejection {
  return error instanceof PaymentRequiredError ? error : { reason: code, x402Code: toX402ErrorCode(code, 'verify') };
}

const VERIFIED = {
  parts: [textPart('The payment is good. It is settled once the answer is made.')],
  said: { [PAYMENT.status]: 'payment-verified' },
};

/** The extension is of version 1 of x402; a chain that has no name there is told in version 2 alone. */
function requiredBy(terms: Terms, error: X402ErrorCode): Record<string, unknown> {
  const { requirementsV1: v1 } = terms;
  const v2 = paymentRequired(terms, error);
  return { [PAYMENT.required]: v1 === null ? v2 : { x402Version: 1, error, accepts: [v1] }, [PAYMENT.requiredV2]: v2 };
}

/** The chain as the payment calls it. */
function networkIn({ x402Version }: Record<string, unknown>, { requirements, requirementsV1 }: Terms): string {
  return x402Version === 1 && requirementsV1 !== null ? requirementsV1.network : requirements.network;
}

function sameAgain(told: ToldError): ToldError {
  const suggestedAction = `${told.suggestedAction} Send the same payment in a new message to this task: it is never charged twice.`;
  return { ...told, suggestedAction };
}
