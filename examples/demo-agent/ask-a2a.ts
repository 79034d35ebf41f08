import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { Agent } from './agent.ts';
import { patientFetch } from './ask.ts';
import { beginStep, check } from './narrate.ts';
import type { Terms } from './read-price.ts';
import { checkReceipt, type Receipt } from './receipt.ts';

const PAYMENTS = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2';

/** What messages of the service say of a payment. */
interface PaymentMetadata {
  'x402.payment.status'?: string;
  'x402.payment.required'?: Parameters<Agent['payer']['createPaymentPayload']>[0];
  'x402.payment.receipts'?: { success: boolean; transaction: string }[];
  'bitcoin-signal-oracle/receipt'?: { receipt: Receipt };
}

/** The same agent to agent: a task for everybody, and one that waits until it is paid for. */
export async function askA2a(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Ask over A2A');
  const client = await connect(agent.service);
  const free = await send(client, [data({ skill: 'get_market_context', input: {} })]);
  check(free.status?.state === TaskState.TASK_STATE_COMPLETED, `get_market_context, free: ${textOf(free).split('\n')[0]}`);
  const asked = await send(client, [data({ skill: 'predict_btc_direction', input: { horizon: '7d' } })]);
  const required = metadataOf(asked)['x402.payment.required'];
  const waits = asked.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED && required !== undefined;
  check(waits, 'predict_btc_direction waits with INPUT_REQUIRED and the terms', JSON.stringify(asked.status).slice(0, 500));
  const payment = await agent.payer.createPaymentPayload(required);
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment };
  const paid = await send(client, [words('Here is the payment.')], { taskId: asked.id, contextId: asked.contextId, metadata });
  const paymentMetadata = metadataOf(paid);
  const isPaid = paid.status?.state === TaskState.TASK_STATE_COMPLETED && paymentMetadata['x402.payment.status'] === 'payment-completed';
  check(isPaid, `the same task is paid and completed: ${textOf(paid).split('\n')[0]}`, JSON.stringify(paid.status).slice(0, 500));
  const [settled] = paymentMetadata['x402.payment.receipts']!;
  const { receipt } = paymentMetadata['bitcoin-signal-oracle/receipt']!;
  check(settled.success && settled.transaction === receipt.message.txHash, 'its receipt names the settlement');
  await checkReceipt(agent, receipt, { answer: dataOf(paid), seller });
}

/** From the address alone: the card says where and how. Payments are an extension, which a client has to ask for. */
function connect(service: string): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) =>
    patientFetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'A2A-Extensions': PAYMENTS } });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  return new ClientFactory({ ...ClientFactoryOptions.default, transports }).createFromUrl(service);
}

async function send(client: Client, parts: Part[], more: Partial<Message> = {}): Promise<Task> {
  const empty = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  const message = { ...empty, messageId: randomUUID(), role: Role.ROLE_USER, parts, ...more };
  return (await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: undefined })) as Task;
}

function data(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

function metadataOf({ status }: Task): PaymentMetadata {
  return status?.message?.metadata ?? {};
}

function words(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function dataOf({ artifacts }: Task): unknown {
  return artifacts[0].parts.find(({ content }) => content?.$case === 'data')?.content?.value;
}

function textOf({ artifacts }: Task): string {
  const text = artifacts[0]?.parts.find(({ content }) => content?.$case === 'text')?.content?.value;
  return typeof text === 'string' ? text : '';
}
