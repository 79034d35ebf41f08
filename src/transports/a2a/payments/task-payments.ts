import { type Task, TaskState } from '@a2a-js/sdk';
import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import type { PaidCalls, SoldAnswer } from '../../../../skills/paid-call.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import { formatMoney } from '../../../commerce/money.ts';
import { toX402ErrorCode, type X402ErrorCode } from '../../../commerce/x402/protocol/error-codes.ts';
import { createPaymentRequired, type PaymentQuote, PaymentRequiredError } from '../../../commerce/x402/protocol/payment-quote.ts';
import { toSaleResponse, toSettlementResponse } from '../../../commerce/x402/protocol/settlement-response.ts';
import { type ClientError, toClientError } from '../../../platform/errors.ts';
import { toOracleError } from '../errors/protocol-error.ts';
import { errorParts, textPart } from '../messages/parts.ts';
import type { MessagePlan } from '../messages/plan.ts';
import type { TaskEventPublisher } from '../tasks/event-publisher.ts';
import { toExtensionErrorCode } from './error-code.ts';
import { getReceipts, PAYMENT_METADATA } from './metadata.ts';

export interface TaskPaymentsDeps {
  paidCalls: PaidCalls;
  publisher: TaskEventPublisher;
  /** As it was before the message; undefined for one that the message opened. */
  task: Task | undefined;
}

export interface SaleOptions {
  requestContext: RequestContext;
  /** Of the task. */
  owner: string;
  /** Hears of what was not paid for after all. */
  onFailure(error: unknown): void;
}

/** A task keeps what became of so many payments. */
const MAX_RECEIPTS = 10;

/** Payments for one task, by the x402 extension: asked for, taken, and told. */
export class TaskPayments {
  readonly #deps: TaskPaymentsDeps;

  constructor(parts: TaskPaymentsDeps) {
    this.#deps = parts;
  }

  requestPayment({ call, error }: MessagePlan & { do: 'bill' }): void {
    const quote = this.#deps.paidCalls.quote(call.skill, ENDPOINTS.a2a);
    const { price } = quote.offering;
    const suggestedAction = `Pay ${formatMoney(price)} for this answer: send a message with this taskId and the metadata "${PAYMENT_METADATA.status}": "payment-submitted" and "${PAYMENT_METADATA.payload}". Or: ${error.suggestedAction}`;
    this.#deps.publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: errorParts({ ...error, suggestedAction }),
      taskMetadata: { skill: call.skill.id, input: call.input },
      messageMetadata: {
        [PAYMENT_METADATA.status]: 'payment-required',
        ...buildPaymentRequired(quote, 'payment_required'),
        ...this.#getReceipts(),
      },
    });
  }

  /** The caller does not want to pay. */
  decline(): void {
    this.#deps.publisher.publishStatus(TaskState.TASK_STATE_CANCELED, {
      parts: [textPart('Nothing was paid, and nothing is owed.')],
      messageMetadata: { [PAYMENT_METADATA.status]: 'payment-rejected', [PAYMENT_METADATA.receipts]: getReceipts(this.#deps.task) },
    });
  }

  async sell({ call, payment }: MessagePlan & { do: 'sell' }, { requestContext, owner, onFailure }: SaleOptions): Promise<void> {
    const { paidCalls, publisher } = this.#deps;
    const { payload, ref } = payment;
    const quote = paidCalls.quote(call.skill, ENDPOINTS.a2a);
    const network = getNetwork(payload, quote);
    // Kept from here on: the payment may come again by itself.
    publisher.publishStatus(TaskState.TASK_STATE_WORKING, { taskMetadata: { skill: call.skill.id, input: call.input } });
    const onVerified = () => publisher.publishStatus(TaskState.TASK_STATE_WORKING, VERIFIED_STATUS);
    let sold: SoldAnswer;
    try {
      sold = await paidCalls.sell({ call, endpoint: ENDPOINTS.a2a, payment: payload, ref, context: requestContext, owner, onVerified });
    } catch (error) {
      onFailure(error);
      return this.#publishFailure(error, quote, network);
    }
    const { kept: taskMetadata, receipts } = this.#appendReceipt(toSettlementResponse(sold.payment, network));
    const messageMetadata = {
      [PAYMENT_METADATA.status]: 'payment-completed',
      [PAYMENT_METADATA.receipts]: receipts,
      [PAYMENT_METADATA.receipt]: toSaleResponse(sold),
    };
    const parts = [textPart(`Paid ${formatMoney(quote.offering.price)} by the transaction ${sold.payment.txHash}.`)];
    publisher.publishCompleted(call, sold, { tier: requestContext.caller.tier, parts, taskMetadata, messageMetadata });
  }

  #publishFailure(error: unknown, quote: PaymentQuote, network: string): void {
    const clientError = toClientError(toOracleError(error));
    // Nothing is known to be wrong with the payment: it can be sent again as it is.
    if (clientError.retryable || clientError.code === 'INTERNAL') this.#publishUnknown(clientError);
    else this.#publishRejection(clientError, toPaymentRejection(error, clientError), { terms: quote, network });
  }

  #publishUnknown(clientError: ClientError): void {
    this.#deps.publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: errorParts(withResendAdvice(clientError)),
      messageMetadata: {
        [PAYMENT_METADATA.status]: 'payment-submitted',
        [PAYMENT_METADATA.error]: clientError.code,
        ...this.#getReceipts(),
      },
    });
  }

  /** The task waits for another payment, unless nothing can come of it. */
  #publishRejection(
    clientError: ClientError,
    { reason, x402Code }: PaymentRejection,
    { terms: quote, network }: { terms: PaymentQuote; network: string },
  ): void {
    const { publisher } = this.#deps;
    const { kept: taskMetadata, receipts } = this.#appendReceipt({ success: false, errorReason: x402Code, transaction: '', network });
    const messageMetadata = {
      [PAYMENT_METADATA.status]: 'payment-failed',
      [PAYMENT_METADATA.error]: toExtensionErrorCode(reason),
      [PAYMENT_METADATA.receipts]: receipts,
    };
    if (clientError.code === 'PAYMENT_REQUIRED' || clientError.code === 'CONFLICT') {
      const again = {
        parts: errorParts(clientError),
        taskMetadata,
        messageMetadata: { ...messageMetadata, ...buildPaymentRequired(quote, x402Code) },
      };
      publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, again);
    } else publisher.publishFailed(clientError, { taskMetadata, messageMetadata });
  }

  #getReceipts(): Record<string, unknown> {
    const receipts = getReceipts(this.#deps.task);
    return receipts.length === 0 ? {} : { [PAYMENT_METADATA.receipts]: receipts };
  }

  #appendReceipt(receipt: object): { receipts: object[]; kept: Record<string, unknown> } {
    const receipts = [...getReceipts(this.#deps.task), receipt].slice(-MAX_RECEIPTS);
    return { receipts, kept: { [PAYMENT_METADATA.receipts]: receipts } };
  }
}

type PaymentRejection = Pick<PaymentRequiredError, 'reason' | 'x402Code'>;

function toPaymentRejection(error: unknown, { code }: ClientError): PaymentRejection {
  return error instanceof PaymentRequiredError ? error : { reason: code, x402Code: toX402ErrorCode(code, 'verify') };
}

const VERIFIED_STATUS = {
  parts: [textPart('The payment is good. It is settled once the answer is made.')],
  messageMetadata: { [PAYMENT_METADATA.status]: 'payment-verified' },
};

/** The extension is of version 1 of x402; a chain that has no name there is told in version 2 alone. */
function buildPaymentRequired(quote: PaymentQuote, error: X402ErrorCode): Record<string, unknown> {
  const { requirementsV1: v1 } = quote;
  const v2 = createPaymentRequired(quote, error);
  return { [PAYMENT_METADATA.required]: v1 === null ? v2 : { x402Version: 1, error, accepts: [v1] }, [PAYMENT_METADATA.requiredV2]: v2 };
}

/** The chain as the payment calls it. */
function getNetwork({ x402Version }: Record<string, unknown>, { requirements, requirementsV1 }: PaymentQuote): string {
  return x402Version === 1 && requirementsV1 !== null ? requirementsV1.network : requirements.network;
}

function withResendAdvice(clientError: ClientError): ClientError {
  const suggestedAction = `${clientError.suggestedAction} Send the same payment in a new message to this task: it is never charged twice.`;
  return { ...clientError, suggestedAction };
}
