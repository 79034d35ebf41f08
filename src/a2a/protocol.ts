import { createHash, randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type Task, type TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { ServerCallContext, User } from '@a2a-js/sdk/server';
import { EXTENSION_URIS } from '../../agent-card/card.ts';
import type { RequestContext } from '../auth/auth.ts';
import { type ClientError, OracleError } from '../errors.ts';
import { isPlainObject } from '../platform/validation.ts';

/** Protocol binding of a request, which decides the error format. */
type Binding = 'jsonrpc' | 'rest';

/** Requests without an HTTP connection lack the optional members: they are admitted and metered where they entered. */
export type A2aRequestContext = Pick<RequestContext, 'caller' | 'address'> & Partial<RequestContext>;

/** Tasks are scoped to `userName`: wallet or address. A browser page is a user of its own, and cannot read tasks of others. */
export class AgentUser implements User {
  readonly requestContext: A2aRequestContext;
  readonly binding: Binding;
  readonly disconnectSignal: AbortSignal | undefined;

  constructor(requestContext: A2aRequestContext, binding: Binding, disconnectSignal?: AbortSignal) {
    this.requestContext = requestContext;
    this.binding = binding;
    this.disconnectSignal = disconnectSignal;
  }

  get isAuthenticated(): boolean {
    return this.requestContext.caller.wallet !== undefined;
  }

  get userName(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined || origin === undefined) return this.rateLimitKey;
    return `page:${createHash('sha256').update(origin).digest('hex').slice(0, 32)}@${address}`;
  }

  /** Key of task and stream quotas. All pages at an address share one, because a client can name any origin. */
  get rateLimitKey(): string {
    const { caller, address, origin } = this.requestContext;
    if (caller.wallet !== undefined) return `wallet:${caller.wallet.toLowerCase()}`;
    return `${origin === undefined ? 'address' : 'pages'}:${address}`;
  }
}

/** Runs a unit of work of a call, admitted by what it costs. @throws OracleError OVERLOADED */
export function runUnit<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
  const { run } = getUser(context).requestContext;
  return run === undefined ? work() : run(work);
}

export function getUser({ user }: ServerCallContext): AgentUser {
  if (user instanceof AgentUser) return user;
  throw new OracleError('INTERNAL', 'A call came in without its user');
}

/** Owner of the tasks that a call can access. The tenant of the request is ignored, so it cannot widen the scope. */
export function getOwner(context: ServerCallContext): string {
  return getUser(context).userName;
}

export function getRateLimitKey(context: ServerCallContext): string {
  return getUser(context).rateLimitKey;
}

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}

export function errorParts(error: ClientError): Part[] {
  return [textPart(`${error.message}. ${error.suggestedAction}`), dataPart({ ...error })];
}

interface TaskStatusFields {
  taskId: string;
  contextId: string;
  state: TaskState;
  at: Date;
  /** Content of the status message. */
  parts?: Part[];
  /** Metadata of the status message, for the x402 extension. */
  messageMetadata?: Record<string, unknown>;
}

export function buildTaskStatus({ taskId, contextId, state, at, parts, messageMetadata }: TaskStatusFields): TaskStatus {
  const message: Message | undefined = parts && {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: messageMetadata,
    extensions: messageMetadata === undefined ? [] : [EXTENSION_URIS.x402],
    referenceTaskIds: [],
  };
  return { state, message, timestamp: at.toISOString() };
}

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

/** Drops the signed payload before a message is stored or returned: a reader could submit it in place of the payer. */
export function removePaymentPayload(message: Message): Message {
  if (message.metadata?.[PAYMENT_METADATA.payload] === undefined) return message;
  const { [PAYMENT_METADATA.payload]: _, ...metadata } = message.metadata;
  return { ...message, metadata };
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
