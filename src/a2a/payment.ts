import type { Message, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { EXTENSIONS } from '../../agent-card/extensions.ts';
import { parseRefCode } from '../commerce/ref-code.ts';
import { OracleError } from '../errors.ts';
import { isObject } from '../plain-object.ts';

/** Members of the metadata of messages: those of the x402 extension, and ours beside them. */
export const PAYMENT = {
  status: 'x402.payment.status',
  required: 'x402.payment.required',
  payload: 'x402.payment.payload',
  receipts: 'x402.payment.receipts',
  error: 'x402.payment.error',
  /** `PaymentRequired` of version 2 of x402; what the extension names is of version 1. */
  requiredV2: 'bitcoin-signal-oracle/payment-required',
  /** How an answer was paid for, with the signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  /** Code of the partner who sent the payer. */
  ref: 'bitcoin-signal-oracle/ref',
} as const;

/** What a message says of the payment for its task. */
export type SentPayment = { do: 'submit'; payload: Record<string, unknown>; ref: unknown } | { do: 'decline' };

/** What a task waits to be paid for. */
export interface Bill {
  skill: string;
  input: Record<string, unknown>;
}

/** @throws OracleError INPUT_INVALID naming the member; undefined for a message that says nothing of a payment */
export function paymentIn({ metadata }: Pick<Message, 'metadata'>): SentPayment | undefined {
  const { [PAYMENT.status]: status, [PAYMENT.payload]: payload, [PAYMENT.ref]: ref } = metadata ?? {};
  if (status === undefined && payload === undefined) return undefined;
  if (status === 'payment-rejected') return { do: 'decline' };
  if (status !== 'payment-submitted') throw invalid(PAYMENT.status, 'must be "payment-submitted" or "payment-rejected"');
  if (!isObject(payload)) throw invalid(PAYMENT.payload, 'must be the payment, an object');
  if (ref !== undefined) parseRefCode(typeof ref === 'string' ? ref : '');
  return { do: 'submit', payload, ref };
}

/** A message as it is kept and shown: whoever reads a signed payment could send it in the payer's place. */
export function withoutPayload(message: Message): Message {
  if (message.metadata?.[PAYMENT.payload] === undefined) return message;
  const { [PAYMENT.payload]: _, ...metadata } = message.metadata;
  return { ...message, metadata };
}

/** Has whatever carries a call out find the payment that came with it. */
export function notePayment(context: ServerCallContext, payment: SentPayment | undefined): void {
  context.state.set(PAYMENT.payload, payment);
}

/** The payment that came with a call. */
export function notedPayment(context: ServerCallContext): SentPayment | undefined {
  return context.state.get(PAYMENT.payload) as SentPayment | undefined;
}

/** Whether the caller knows what to do with a bill. */
export function isActivated({ requestedExtensions }: ServerCallContext): boolean {
  return requestedExtensions?.includes(EXTENSIONS.x402) === true;
}

/** What a task was last asked for that has to be paid; undefined for one that was never. */
export function billOf({ metadata }: Pick<Task, 'metadata'>): Bill | undefined {
  const { skill, input } = metadata ?? {};
  return typeof skill === 'string' && isObject(input) ? { skill, input } : undefined;
}

/** What became of the payments of a task so far. */
export function receiptsOf(task: Pick<Task, 'metadata'> | undefined): object[] {
  const receipts: unknown = task?.metadata?.[PAYMENT.receipts];
  return Array.isArray(receipts) ? receipts : [];
}

function invalid(member: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `message.metadata["${member}"] ${problem}`, {
    field: `message.metadata.${member}`,
    suggestedAction: `Send "${PAYMENT.status}": "payment-submitted" with "${PAYMENT.payload}", or "payment-rejected" to end the task.`,
  });
}
