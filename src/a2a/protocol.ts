import { createHash, randomUUID } from 'node:crypto';
import { formatSSEEvent, type Message, type Part, Role, SSE_HEADERS, type Task, type TaskState, type TaskStatus } from '@a2a-js/sdk';
import { ServerCallContext, type User } from '@a2a-js/sdk/server';
import type { Request, Response } from 'express';
import { EXTENSION_URIS } from '../../agent-card/card.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION, ENDPOINTS } from '../../agent-card/endpoints.ts';
import type { RequestContext } from '../auth/auth.ts';
import { parseRefCode } from '../commerce/ledger.ts';
import { isPaymentPayload } from '../commerce/x402/payload.ts';
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

/** Wallet tasks live longer than anonymous ones, whose address another client may hold tomorrow. */
export function isWalletOwner(owner: string): boolean {
  return owner.startsWith('wallet:');
}

/** Call context of a request that did not use A2A. */
export function createPlainCallContext(requestContext: A2aRequestContext): ServerCallContext {
  return new ServerCallContext({ user: new AgentUser(requestContext, 'jsonrpc'), requestedVersion: '1.0' });
}

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Record<string, unknown>): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}

export function findData(parts: readonly Part[] | undefined): Record<string, unknown> | undefined {
  const content = parts?.find((part) => part.content?.$case === 'data')?.content;
  return content?.$case === 'data' ? content.value : undefined;
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
  const rule = 'must be an object: the PaymentPayload that an x402 client signs for the requirements of the task';
  if (!isPlainObject(payload)) throw invalidPaymentMember(PAYMENT_METADATA.payload, rule);
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

/** 0.3 clients read the response of a streaming method as SSE only (0.3, section 3.3.1): the error is one event under status 200. */
export function sendRpcError(response: Response, envelope: object): void {
  if (response.statusCode !== 200 || !expectsLegacyEvents(response.req)) return void response.json(envelope);
  response.set(SSE_HEADERS);
  response.end(formatSSEEvent(envelope));
}

/** Whether a 0.3 client expects SSE: by the method, or by `Accept` if the body has no method. */
export function expectsLegacyEvents(request: Request): boolean {
  if (getRequestVersion(request) !== A2A_LEGACY_VERSION) return false;
  const method: unknown = request.body?.method;
  return typeof method === 'string' ? LEGACY_STREAMS.includes(method) : (request.get('Accept') ?? '').includes('text/event-stream');
}

/** JSON-RPC methods of A2A 1.0 (section 9.4). */
const METHODS: readonly string[] = [
  ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask', 'GetExtendedAgentCard'],
  ...['CreateTaskPushNotificationConfig', 'GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs'],
  'DeleteTaskPushNotificationConfig',
];

/** JSON-RPC methods of A2A 0.3 (section 7) and their 1.0 names. */
const LEGACY_METHODS: ReadonlyMap<string, string> = new Map([
  ['message/send', 'SendMessage'],
  ['message/stream', 'SendStreamingMessage'],
  ['tasks/get', 'GetTask'],
  ['tasks/cancel', 'CancelTask'],
  ['tasks/resubscribe', 'SubscribeToTask'],
  ['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'],
  ['tasks/pushNotificationConfig/set', 'CreateTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/get', 'GetTaskPushNotificationConfig'],
  ['tasks/pushNotificationConfig/list', 'ListTaskPushNotificationConfigs'],
  ['tasks/pushNotificationConfig/delete', 'DeleteTaskPushNotificationConfig'],
]);

/** Methods of 0.3 that return an SSE stream (section 3.3). */
const LEGACY_STREAMS: readonly string[] = ['message/stream', 'tasks/resubscribe'];

export function isKnownMethod(method: string): boolean {
  return METHODS.includes(method) || LEGACY_METHODS.has(method);
}

export function listMethods(version: string): readonly string[] {
  return version === A2A_LEGACY_VERSION ? [...LEGACY_METHODS.keys()] : METHODS;
}

export function findSuccessor(method: string): string | undefined {
  return LEGACY_METHODS.get(method);
}

/** 0.3 name of a 1.0 method; undefined if 0.3 has no such method. */
export function findPredecessor(method: string): string | undefined {
  return [...LEGACY_METHODS].find(([, successor]) => successor === method)?.[0];
}

export function toLegacyMethodNames(text: string): string {
  return text.replace(/\b[A-Z]\w+\b/g, (word) => findPredecessor(word) ?? word);
}

export function isSupportedVersion(version: string): boolean {
  return version === A2A_VERSION || version === A2A_LEGACY_VERSION;
}

/** Of the header, or of the query parameter (A2A 1.0, section 3.6.1). Without either, or with an empty one, the version is 0.3 (section 3.6). */
export function getRequestVersion(request: Request): string {
  const { 'A2A-Version': inQuery } = request.query;
  return request.get('A2A-Version') || (typeof inQuery === 'string' && inQuery) || A2A_LEGACY_VERSION;
}

/** Base of the HTTP+JSON paths of 0.3 (section 3.5.3). */
export const LEGACY_REST_PATH = `${ENDPOINTS.a2aRest}/v1`;

/** The routers take any case. */
const LEGACY_PATHS = new RegExp(`^${LEGACY_REST_PATH}/`, 'i');

export function isLegacyRestRequest(request: Request): boolean {
  return getRequestVersion(request) === A2A_LEGACY_VERSION && LEGACY_PATHS.test(request.originalUrl);
}
