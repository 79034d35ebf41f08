import type { ErrorCode } from '../../errors.ts';
import { webhook } from './webhook-calls.ts';
import type { Question, World } from './world.ts';

export interface RecordedProblem {
  code: ErrorCode;
}

const LOGIN = '/api/svc/oracle/verify';

/** Requests that are beyond the limit of one address. */
const PATIENCE = 1_000;

/** One request for each of the problems that a caller is likely to meet. */
export const PROBLEM_CALLS: ((world: World) => Promise<RecordedProblem>)[] = [
  (world) => problem(world, '/api/svc/open/signal?horizon=9d'),
  (world) => problem(world, '/api/svc/oracle'),
  async (world) => problem(world, '/api/svc/oracle/premium', { token: await world.logIn('basic') }),
  (world) => problem(world, `/api/svc/onchain-oracle/verify/0x${'0'.repeat(64)}`),
  (world) => problem(world, '/oracle'),
  sameWebhookTwice,
  (world) => problem(world, LOGIN, { method: 'POST', body: { signature: '0'.repeat(70_000) } }),
  (world) => problem(world, `/api/svc/open/signal?horizon=${'7'.repeat(5_000)}`),
  async (world) => problem(world, LOGIN, { method: 'POST', body: new URLSearchParams({ wallet: world.wallets.basic.address }) }),
  rateLimited,
];

async function problem(world: World, path: string, question: Question = {}): Promise<RecordedProblem> {
  const response = await world.ask(path, question);
  if (response.ok) throw new Error(`${path} was meant to fail`);
  return (await response.json()) as RecordedProblem;
}

async function sameWebhookTwice(world: World): Promise<RecordedProblem> {
  const path = '/api/svc/webhooks/register';
  const registration = { method: 'POST', token: await world.logIn('basic'), body: webhook() };
  await world.json(path, registration);
  return problem(world, path, registration);
}

async function rateLimited({ ask }: World): Promise<RecordedProblem> {
  for (let asked = 0; asked < PATIENCE; asked++) {
    const response = await ask('/api/btc-price', { from: '203.0.113.7' });
    if (response.status === 429) return (await response.json()) as RecordedProblem;
    await response.arrayBuffer();
  }
  throw new Error(`no limit was met within ${PATIENCE} requests`);
}
