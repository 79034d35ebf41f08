import type { Message, Task } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { EXTENSION_URIS } from '../../../../agent-card/card/extensions.ts';
import { parseRefCode } from '../../../commerce/ledger/ref-code.ts';
import { isPaymentPayload } from '../../../commerce/x402/protocol/payment-payload.ts';
import { OracleError } from '../../../platform/errors.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

/** Message metadata of the x402 extension, and our additions. */
export const PAYMENT_METADATA = {
  status: 'x402.payment.status',
  required: 'x402.payment.required',
  payload: 'x402.payment.payload',
  receipts: 'x402.payment.receipts',
  error: 'x402.payment.error',
  /** `PaymentRequired` of x402 version 2; the member of the extension has version 1. */
  requiredV2: 'bitcoin-signal-oracle/payment-required',
  /** Settlement and signed receipt. */
  receipt: 'bitcoin-signal-oracle/receipt',
  ref: 'bitcoin-signal-oracle/ref',
} as const;

export type MessagePayment = { do: 'submit'; payload: Record<string, unknown>; ref: unknown } | { do: 'decline' };

/** The call that a task awaits payment for. */
export interface PayableCall {
  skill: string;
  input: Record<string, unknown>;
}

/** Whether a message, of any form, has a payment of a known form; nothing of it is verified. */
export function hasPaymentPayload(message: unknown): boolean {
  const metadata = isPlainObject(message) ? message.metadata : undefined;
  return isPlainObject(metadata) && isPaymentPayload(metadata[PAYMENT_METADATA.payload]);
}

/** Undefined without payment metadata. @throws OracleError INPUT_INVALID naming the member */
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

/** Drops the signed payload before a message is stored or returned: a reader could submit it in place of the payer. */
export function removePaymentPayload(message: Message): Message {
  if (message.metadata?.[PAYMENT_METADATA.payload] === undefined) return message;
  const { [PAYMENT_METADATA.payload]: _, ...metadata } = message.metadata;
  return { ...message, metadata };
}

export function setPayment(context: ServerCallContext, payment: MessagePayment | undefined): void {
  context.state.set(PAYMENT_METADATA.payload, payment);
}

export function getPayment(context: ServerCallContext): MessagePayment | undefined {
  return context.state.get(PAYMENT_METADATA.payload) as MessagePayment | undefined;
}

export function isX402Activated({ requestedExtensions }: ServerCallContext): boolean {
  return requestedExtensions?.includes(EXTENSION_URIS.x402) === true;
}

/** Undefined for a task that never required payment. */
export function findPayableCall({ metadata }: Pick<Task, 'metadata'>): PayableCall | undefined {
  const { skill, input } = metadata ?? {};
  return typeof skill === 'string' && isPlainObject(input) ? { skill, input } : undefined;
}

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
