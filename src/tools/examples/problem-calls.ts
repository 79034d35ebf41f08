import type { ErrorCode } from '../../platform/errors.ts';
import type { ExampleClient, ExampleRequest } from './example-client.ts';
import { buildWebhookRegistration } from './webhook-calls.ts';

export interface RecordedProblem {
  code: ErrorCode;
}

const LOGIN_PATH = '/api/svc/oracle/verify';
/** Upper bound of requests needed to exceed the limit of one address. */
const MAX_REQUESTS = 1_000;

export const PROBLEM_CALLS: ((client: ExampleClient) => Promise<RecordedProblem>)[] = [
  (client) => recordProblem(client, '/api/svc/open/signal?horizon=9d'),
  (client) => recordProblem(client, '/api/svc/oracle'),
  async (client) => recordProblem(client, '/api/svc/oracle/premium', { token: await client.logIn('basic') }),
  (client) => recordProblem(client, `/api/svc/onchain-oracle/verify/0x${'0'.repeat(64)}`),
  (client) => recordProblem(client, '/oracle'),
  registerWebhookTwice,
  (client) => recordProblem(client, LOGIN_PATH, { method: 'POST', body: { signature: '0'.repeat(70_000) } }),
  (client) => recordProblem(client, `/api/svc/open/signal?horizon=${'7'.repeat(5_000)}`),
  async (client) =>
    recordProblem(client, LOGIN_PATH, { method: 'POST', body: new URLSearchParams({ wallet: client.wallets.basic.address }) }),
  exceedRateLimit,
];

async function recordProblem(client: ExampleClient, path: string, request: ExampleRequest = {}): Promise<RecordedProblem> {
  const response = await client.request(path, request);
  if (response.ok) throw new Error(`${path} was meant to fail`);
  return (await response.json()) as RecordedProblem;
}

async function registerWebhookTwice(client: ExampleClient): Promise<RecordedProblem> {
  const path = '/api/svc/webhooks/register';
  const registration = { method: 'POST', token: await client.logIn('basic'), body: buildWebhookRegistration() };
  await client.requestJson(path, registration);
  return recordProblem(client, path, registration);
}

async function exceedRateLimit({ request }: ExampleClient): Promise<RecordedProblem> {
  for (let requestCount = 0; requestCount < MAX_REQUESTS; requestCount++) {
    const response = await request('/api/btc-price', { from: '203.0.113.7' });
    if (response.status === 429) return (await response.json()) as RecordedProblem;
    await response.arrayBuffer();
  }
  throw new Error(`no limit was met within ${MAX_REQUESTS} requests`);
}
