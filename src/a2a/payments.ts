import { type Part, type Task, TaskState } from '@a2a-js/sdk';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { PaidCalls, SoldAnswer } from '../../skills/runner.ts';
import type { RequestContext } from '../auth/auth.ts';
import { formatMoney } from '../commerce/offerings.ts';
import { toSaleResponse, toSettlementResponse } from '../commerce/x402/sales.ts';
import {
  createPaymentRequired,
  type PaymentQuote,
  PaymentRequiredError,
  toX402ErrorCode,
  type X402ErrorCode,
} from '../commerce/x402/terms.ts';
import { toClientError } from '../errors.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import type { MessagePlan } from './plan.ts';
import { errorParts, getReceipts, PAYMENT_METADATA, textPart } from './protocol.ts';
import type { TaskEventPublisher } from './task-events.ts';

interface TaskPaymentsDeps {
  paidCalls: PaidCalls;
  publisher: TaskEventPublisher;
  /** State before the message; undefined if the message opened the task. */
  task: Task | undefined;
}

const MAX_RECEIPTS = 10;

export class TaskPayments {
  readonly #deps: TaskPaymentsDeps;

  constructor(deps: TaskPaymentsDeps) {
    this.#deps = deps;
  }

  /** @param publicPart of the answer that is for sale */
  async requestPayment({ call, error }: MessagePlan & { do: 'bill' }, publicPart: Part[]): Promise<void> {
    const quote = await this.#deps.paidCalls.signedQuote({ call, endpoint: ENDPOINTS.a2a });
    const { price } = quote.offering;
    const suggestedAction = `Pay ${formatMoney(price)} for this answer: send a message with this taskId and the metadata "${PAYMENT_METADATA.status}": "payment-submitted" and "${PAYMENT_METADATA.payload}". Or: ${error.suggestedAction}`;
    this.#deps.publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: [...errorParts({ ...error, suggestedAction }), ...publicPart],
      taskMetadata: { skill: call.skill.id, input: call.input },
      messageMetadata: {
        [PAYMENT_METADATA.status]: 'payment-required',
        ...buildPaymentRequired(quote, 'payment_required'),
        ...this.#getReceipts(),
      },
    });
  }

  decline(): void {
    this.#deps.publisher.publishStatus(TaskState.TASK_STATE_CANCELED, {
      parts: [textPart('Payment declined. Nothing was charged.')],
      messageMetadata: { [PAYMENT_METADATA.status]: 'payment-rejected', [PAYMENT_METADATA.receipts]: getReceipts(this.#deps.task) },
    });
  }

  async sell(
    { call, payment }: MessagePlan & { do: 'sell' },
    { requestContext, owner, onFailure }: { requestContext: RequestContext; owner: string; onFailure(error: unknown): void },
  ): Promise<void> {
    const { paidCalls, publisher } = this.#deps;
    const { payload, ref } = payment;
    const quote = await paidCalls.quote({ call, endpoint: ENDPOINTS.a2a });
    // In the naming of the payment's x402 version.
    const { network } = (payload.x402Version === 1 ? quote.requirementsV1 : null) ?? quote.requirements;
    // Stored before the sale, because the same payment may be sent again without the call.
    publisher.publishStatus(TaskState.TASK_STATE_WORKING, { taskMetadata: { skill: call.skill.id, input: call.input } });
    const onVerified = () => publisher.publishStatus(TaskState.TASK_STATE_WORKING, VERIFIED_STATUS);
    let sold: SoldAnswer;
    try {
      sold = await paidCalls.sell({ call, endpoint: ENDPOINTS.a2a, payment: payload, ref, context: requestContext, owner, onVerified });
    } catch (error) {
      onFailure(error);
      return this.#publishFailure(error, quote, network);
    }
    const receipts = this.#appendReceipt(toSettlementResponse(sold, network));
    const messageMetadata = {
      [PAYMENT_METADATA.status]: 'payment-completed',
      [PAYMENT_METADATA.receipts]: receipts,
      [PAYMENT_METADATA.receipt]: toSaleResponse(sold),
    };
    const parts = [textPart(`Paid ${formatMoney(quote.offering.price)} in transaction ${sold.payment.txHash}.`)];
    const taskMetadata = { [PAYMENT_METADATA.receipts]: receipts };
    publisher.publishCompleted(call, sold, { tier: requestContext.caller.tier, parts, taskMetadata, messageMetadata });
  }

  /** The task awaits another payment if one can succeed, and fails otherwise. */
  #publishFailure(error: unknown, quote: PaymentQuote, network: string): void {
    const { publisher } = this.#deps;
    const clientError = toClientError(toDatabaseError(error));
    // The payment itself may be valid, so the client can send it again.
    if (clientError.retryable || clientError.code === 'INTERNAL') {
      const suggestedAction = `${clientError.suggestedAction} Send the same payment in a new message to this task: it is not charged twice.`;
      const { status, error: errorName } = PAYMENT_METADATA;
      publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, {
        parts: errorParts({ ...clientError, suggestedAction }),
        messageMetadata: { [status]: 'payment-submitted', [errorName]: clientError.code, ...this.#getReceipts() },
      });
      return;
    }
    const isRejection = error instanceof PaymentRequiredError;
    const reason = isRejection ? error.reason : clientError.code;
    const x402Code = isRejection ? error.x402Code : toX402ErrorCode(clientError.code, 'verify');
    const receipts = this.#appendReceipt({ success: false, errorReason: x402Code, transaction: '', network });
    const taskMetadata = { [PAYMENT_METADATA.receipts]: receipts };
    const messageMetadata = {
      [PAYMENT_METADATA.status]: 'payment-failed',
      [PAYMENT_METADATA.error]: toExtensionErrorCode(reason),
      [PAYMENT_METADATA.receipts]: receipts,
    };
    if (clientError.code !== 'PAYMENT_REQUIRED' && clientError.code !== 'CONFLICT') {
      publisher.publishFailed(clientError, { taskMetadata, messageMetadata });
      return;
    }
    publisher.publishStatus(TaskState.TASK_STATE_INPUT_REQUIRED, {
      parts: errorParts(clientError),
      taskMetadata,
      messageMetadata: { ...messageMetadata, ...buildPaymentRequired(quote, x402Code) },
    });
  }

  #getReceipts(): Record<string, unknown> {
    const receipts = getReceipts(this.#deps.task);
    return receipts.length === 0 ? {} : { [PAYMENT_METADATA.receipts]: receipts };
  }

  #appendReceipt(receipt: object): object[] {
    return [...getReceipts(this.#deps.task), receipt].slice(-MAX_RECEIPTS);
  }
}

const VERIFIED_STATUS = {
  parts: [textPart('The payment is verified. It is settled once the answer is ready.')],
  messageMetadata: { [PAYMENT_METADATA.status]: 'payment-verified' },
};

/** Error codes of the x402 extension by failure reason; the first match counts. */
const ERROR_CODE_PATTERNS: readonly (readonly [reason: RegExp, code: string])[] = [
  [/insufficient|balance/, 'INSUFFICIENT_FUNDS'],
  [/signature/, 'INVALID_SIGNATURE'],
  [/expired|expires|valid_before/, 'EXPIRED_PAYMENT'],
  [/nonce|payment_used|CONFLICT/, 'DUPLICATE_NONCE'],
  [/network/, 'NETWORK_MISMATCH'],
  [/amount|value/, 'INVALID_AMOUNT'],
];

/** @param reason from the facilitator or this service; unknown reasons map to SETTLEMENT_FAILED */
export function toExtensionErrorCode(reason: string): string {
  return ERROR_CODE_PATTERNS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'SETTLEMENT_FAILED';
}

/** The extension uses x402 version 1. A chain without a version 1 name is quoted in version 2 only. */
function buildPaymentRequired(quote: PaymentQuote, error: X402ErrorCode): Record<string, unknown> {
  const { requirementsV1: v1 } = quote;
  const v2 = createPaymentRequired(quote, error);
  return { [PAYMENT_METADATA.required]: v1 === null ? v2 : { x402Version: 1, error, accepts: [v1] }, [PAYMENT_METADATA.requiredV2]: v2 };
}
