import { type Part, TaskState } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext as TaskContext } from '@a2a-js/sdk/server';
import { ENDPOINTS } from '../../agent-card/endpoints.ts';
import {
  type PaidCalls,
  preparePublicCall,
  type RunSkill,
  type SkillAnswer,
  type SkillCall,
  type SoldAnswer,
} from '../../skills/runner.ts';
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
import type { Context } from '../context.ts';
import { isOracleError, toClientError } from '../errors.ts';
import { toDatabaseError } from '../platform/mongo.ts';
import { dataPart, errorParts, getReceipts, getUser, type MessagePlan, PAYMENT_METADATA, planMessage, textPart } from './plan.ts';
import { buildTask, buildTaskStatus } from './tasks.ts';

const { TASK_STATE_WORKING, TASK_STATE_INPUT_REQUIRED, TASK_STATE_COMPLETED } = TaskState;
const { TASK_STATE_FAILED, TASK_STATE_CANCELED, TASK_STATE_REJECTED } = TaskState;
const { status: STATUS, required, requiredV2, receipts: RECEIPTS, receipt: RECEIPT, error: ERROR } = PAYMENT_METADATA;

export interface ExecutorOptions {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  /** Scenarios of the test kit (TCK); unset in production. `play` returns true if it has answered. */
  fixtures?: { isFixture(messageId: string): boolean; play(context: TaskContext, bus: ExecutionEventBus): Promise<boolean> };
}

type Options = ExecutorOptions & Pick<Context, 'log' | 'now'>;

/** Runs the call of a message and publishes the task's events. Never throws. */
export class SkillExecutor implements AgentExecutor {
  readonly #options: Options;
  /** Context ids of running tasks, by task id. */
  readonly #runningContexts = new Map<string, string>();

  constructor(options: Options) {
    this.#options = options;
  }

  async execute(task: TaskContext, bus: ExecutionEventBus): Promise<void> {
    if ((await this.#options.fixtures?.play(task, bus)) === true) return;
    const { taskId, contextId, context } = task;
    const run = new TaskRun(task, bus, this.#options);
    this.#runningContexts.set(taskId, contextId);
    try {
      await getUser(context).requestContext.run(() => run.start());
    } catch (error) {
      run.fail(error);
    } finally {
      this.#runningContexts.delete(taskId);
    }
  }

  /** Ends the stream; later output of the skill is discarded. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const at = { taskId, contextId: this.#runningContexts.get(taskId) ?? '' };
    const parts = [textPart('Cancelled by the client.')];
    const status = buildTaskStatus({ ...at, state: TASK_STATE_CANCELED, at: this.#options.now(), parts });
    bus.publish(AgentEvent.statusUpdate({ ...at, status, metadata: undefined }));
  }
}

interface StatusDetails {
  parts?: Part[];
  taskMetadata?: Record<string, unknown>;
  messageMetadata?: Record<string, unknown>;
}

const MAX_RECEIPTS = 10;

/** The run of one message of a task. */
class TaskRun {
  readonly #task: TaskContext;
  readonly #bus: ExecutionEventBus;
  readonly #options: Options;
  readonly #requestContext: RequestContext;
  /** How a text was parsed; final states include it. */
  #note: Part[] = [];

  constructor(task: TaskContext, bus: ExecutionEventBus, options: Options) {
    this.#task = task;
    this.#bus = bus;
    this.#options = options;
    this.#requestContext = getUser(task.context).requestContext;
  }

  async start(): Promise<void> {
    const { task, taskId, contextId, userMessage: message, context } = this.#task;
    // The protocol requires the task as the first event.
    this.#bus.publish(AgentEvent.task(task ?? buildTask({ taskId, contextId, message, at: this.#options.now() })));
    const plan = planMessage(message, task, context);
    if (plan.do === 'ask') {
      const taskMetadata = plan.skill === undefined ? undefined : { skill: plan.skill };
      return this.#publish(TASK_STATE_INPUT_REQUIRED, { parts: plan.parts, taskMetadata });
    }
    if (plan.do === 'decline') return this.#decline();
    if (plan.note !== undefined) this.#note = [textPart(plan.note)];
    if (plan.do === 'sell') return this.#sell(plan);
    if (plan.do === 'bill') return this.#requestPayment(plan);
    const taskMetadata = { skill: plan.call.skill.id };
    if (plan.do === 'reject') {
      const parts = [...errorParts(plan.error), ...(await this.#readPublicPart(plan.call)), ...this.#note];
      return this.#publish(TASK_STATE_REJECTED, { parts, taskMetadata });
    }
    this.#publish(TASK_STATE_WORKING, { taskMetadata });
    this.#complete(plan.call, await this.#options.runSkill(plan.call, this.#requestContext));
  }

  fail(error: unknown): void {
    this.#logInternalError(error);
    this.#publish(TASK_STATE_FAILED, { parts: [...errorParts(toClientError(error)), ...this.#note] });
  }

  /** Internal errors are logged here, because the client receives none of their text. */
  #logInternalError(error: unknown): void {
    if (toClientError(error).code !== 'INTERNAL') return;
    const { requestId } = this.#requestContext;
    this.#options.log.error({ err: error, taskId: this.#task.taskId, requestId }, 'a task failed');
  }

  /** What the caller may know of an answer outside its tier, as text and as data; empty where it cannot be read, e.g. before the first forecast. */
  async #readPublicPart(call: SkillCall): Promise<Part[]> {
    const open = preparePublicCall(call);
    if (open === null) return [];
    try {
      const { text, output } = await this.#options.runSkill(open, this.#requestContext);
      return [textPart(text), dataPart(output)];
    } catch (error) {
      if (isOracleError(error)) return [];
      throw error;
    }
  }

  #complete({ skill: { id, title } }: SkillCall, { output, text }: SkillAnswer, details: StatusDetails = {}): void {
    const { taskId, contextId } = this.#task;
    const metadata = { skill: id, tier: this.#requestContext.caller.tier };
    const content = { parts: [dataPart(output), textPart(text)], metadata, extensions: [] };
    const artifact = { artifactId: id, name: id, description: title, ...content };
    this.#bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    const parts = [...this.#note, ...(details.parts ?? [])];
    this.#publish(TASK_STATE_COMPLETED, { ...details, parts: parts.length === 0 ? undefined : parts });
  }

  #publish(state: TaskState, { parts, taskMetadata, messageMetadata }: StatusDetails = {}): void {
    const { taskId, contextId } = this.#task;
    const status = buildTaskStatus({ taskId, contextId, state, at: this.#options.now(), parts, messageMetadata });
    this.#bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: taskMetadata }));
  }

  async #requestPayment({ call, error }: MessagePlan & { do: 'bill' }): Promise<void> {
    const publicPart = await this.#readPublicPart(call);
    const quote = await this.#options.paidCalls.signedQuote({ call, endpoint: ENDPOINTS.a2a });
    const { price } = quote.offering;
    const suggestedAction = `Pay ${formatMoney(price)} for this answer: send a message with this taskId and the metadata "${STATUS}": "payment-submitted" and "${PAYMENT_METADATA.payload}". Or: ${error.suggestedAction}`;
    this.#publish(TASK_STATE_INPUT_REQUIRED, {
      parts: [...errorParts({ ...error, suggestedAction }), ...publicPart],
      taskMetadata: { skill: call.skill.id, input: call.input },
      messageMetadata: { [STATUS]: 'payment-required', ...buildPaymentRequired(quote, 'payment_required'), ...this.#getReceipts() },
    });
  }

  #decline(): void {
    this.#publish(TASK_STATE_CANCELED, {
      parts: [textPart('Payment declined. Nothing was charged.')],
      messageMetadata: { [STATUS]: 'payment-rejected', [RECEIPTS]: getReceipts(this.#task.task) },
    });
  }

  async #sell({ call, payment: { payload, ref } }: MessagePlan & { do: 'sell' }): Promise<void> {
    const { paidCalls } = this.#options;
    const { userName } = getUser(this.#task.context);
    const context = this.#requestContext;
    const quote = await paidCalls.quote({ call, endpoint: ENDPOINTS.a2a });
    // In the naming of the payment's x402 version.
    const { network } = (payload.x402Version === 1 ? quote.requirementsV1 : null) ?? quote.requirements;
    // Stored before the sale, because the same payment may be sent again without the call.
    this.#publish(TASK_STATE_WORKING, { taskMetadata: { skill: call.skill.id, input: call.input } });
    const onVerified = () => this.#publish(TASK_STATE_WORKING, VERIFIED_STATUS);
    const owner = context.caller.wallet === undefined ? context.address : userName;
    let sold: SoldAnswer;
    try {
      sold = await paidCalls.sell({ call, endpoint: ENDPOINTS.a2a, payment: payload, ref, context, owner, onVerified });
    } catch (error) {
      return this.#publishFailedPayment(error, quote, network);
    }
    const receipts = this.#appendReceipt(toSettlementResponse(sold, network));
    const messageMetadata = { [STATUS]: 'payment-completed', [RECEIPTS]: receipts, [RECEIPT]: toSaleResponse(sold) };
    const parts = [textPart(`Paid ${formatMoney(quote.offering.price)} in transaction ${sold.payment.txHash}.`)];
    this.#complete(call, sold, { parts, taskMetadata: { [RECEIPTS]: receipts }, messageMetadata });
  }

  /** The task awaits another payment if one can succeed, and fails otherwise. */
  #publishFailedPayment(error: unknown, quote: PaymentQuote, network: string): void {
    this.#logInternalError(error);
    const clientError = toClientError(toDatabaseError(error));
    // The payment itself may be valid, so the client can send it again.
    if (clientError.retryable || clientError.code === 'INTERNAL') {
      const suggestedAction = `${clientError.suggestedAction} Send the same payment in a new message to this task: it is not charged twice.`;
      const messageMetadata = { [STATUS]: 'payment-submitted', [ERROR]: clientError.code, ...this.#getReceipts() };
      this.#publish(TASK_STATE_INPUT_REQUIRED, { parts: errorParts({ ...clientError, suggestedAction }), messageMetadata });
      return;
    }
    const isRejection = error instanceof PaymentRequiredError;
    const reason = isRejection ? error.reason : clientError.code;
    const x402Code = isRejection ? error.x402Code : toX402ErrorCode(clientError.code, 'verify');
    const receipts = this.#appendReceipt({ success: false, errorReason: x402Code, transaction: '', network });
    const failed = { [STATUS]: 'payment-failed', [ERROR]: toExtensionErrorCode(reason), [RECEIPTS]: receipts };
    const isPayable = clientError.code === 'PAYMENT_REQUIRED' || clientError.code === 'CONFLICT';
    this.#publish(isPayable ? TASK_STATE_INPUT_REQUIRED : TASK_STATE_FAILED, {
      parts: [...errorParts(clientError), ...(isPayable ? [] : this.#note)],
      taskMetadata: { [RECEIPTS]: receipts },
      messageMetadata: isPayable ? { ...failed, ...buildPaymentRequired(quote, x402Code) } : failed,
    });
  }

  #getReceipts(): Record<string, unknown> {
    const receipts = getReceipts(this.#task.task);
    return receipts.length === 0 ? {} : { [RECEIPTS]: receipts };
  }

  #appendReceipt(receipt: object): object[] {
    return [...getReceipts(this.#task.task), receipt].slice(-MAX_RECEIPTS);
  }
}

const VERIFIED_STATUS = {
  parts: [textPart('The payment is verified. It is settled once the answer is ready.')],
  messageMetadata: { [STATUS]: 'payment-verified' },
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
  return { [required]: v1 === null ? v2 : { x402Version: 1, error, accepts: [v1] }, [requiredV2]: v2 };
}
