import type { Message, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';
import { parseRefCode } from '../../../commerce/ledger/ref-code.ts';
import { OracleError } from '../../../platform/errors.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

/** Members of the metadata of messages: those of the x402 extension, and ours beside them. */
export const PAYMENT_METADATA = {
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
export type MessagePayment = { do: 'submit'; payload: Record<string, unknown>; ref: unknown } | { do: 'decline' };

/** What a task waits to be paid for. */
export interface PayableCall {
  skill: string;
  input: Record<string, unknown>;
}

/** @throws OracleError INPUT_INVALID naming the member; undefined for a message that says nothing of a payment */
export function parsePayment({ metadata }: Pick<Message, 'metadata'>): MessagePayment | undefined {
  const { [PAYMENT_METADATA.status]: status, [PAYMENT_METADATA.payload]: payload, [PAYMENT_METADATA.ref]: ref } = metadata ?? {};
  if (status === undefined && payload === undefined) return undefined;
  if (status === 'payment-rejected') return { do: 'decline' };
  if (status !== 'payment-submitted')
    throw invalidPaymentMember(PAYMENT_METADATA.status, 'must be "payment-submitted" or "payment-rejected"');
  if (!isPlainObject(payload)) throw invalidPaymentMember(PAYMENT_METADATA.payload, 'must be the payment, an object');
  if (ref !== undefined) parseRefCode(typeof ref === 'string' ? ref : '');
  return { do: 'submit', payload, ref };
}

/** A message as it is kept and shown: whoever reads a signed payment could send it in the payer's place. */
export function removePaymentPayload(message: Message): Message {
  if (message.metadata?.[PAYMENT_METADATA.payload] === undefined) return message;
  const { [PAYMENT_METADATA.payload]: _, ...metadata } = message.metadata;
  return { ...message, metadata };
}

/** Has whatever carries a call out find the payment that came with it. */
export function setPayment(context: ServerCallContext, payment: MessagePayment | undefined): void {
  context.state.set(PAYMENT_METADATA.payload, payment);
}

/** The payment that came with a call. */
export function getPayment(context: ServerCallContext): MessagePayment | undefined {
  return context.state.get(PAYMENT_METADATA.payload) as MessagePayment | undefined;
}

/** Whether the caller knows what to do with a bill. */
export function isX402Activated({ requestedExtensions }: ServerCallContext): boolean {
  return requestedExtensions?.includes(EXTENSION_URIS.x402) === true;
}

/** What a task was last asked for that has to be paid; undefined for one that was never. */
export function findPayableCall({ metadata }: Pick<Task, 'metadata'>): PayableCall | undefined {
  const { skill, input } = metadata ?? {};
  return typeof skill === 'string' && isPlainObject(input) ? { skill, input } : undefined;
}

/** What became of the payments of a task so far. */
export function getReceipts(task: Pick<Task, 'metadata'> | undefined): object[] {
  const receipts: unknown = task?.metadata?.[PAYMENT_METADATA.receipts];
  return Array.isArray(receipts) ? receipts : [];
}

function invalidPaymentMember(member: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `message.metadata["${member}"] ${problem}`, {
    field: `message.metadata.${member}`,
    suggestedAction: `Send "${PAYMENT_METADATA.status}": "payment-submitted" with "${PAYMENT_METADATA.payload}", or "payment-rejected" to end the task.`,
  });
}
