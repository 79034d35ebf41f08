import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeFunctionData, parseAbi, zeroAddress } from 'viem';
import { fetchMessage } from '../../commerce/jobs/told.ts';
import { sendInOrder } from '../deploy-send.ts';
import { jsonRpc } from '../json-rpc.ts';
import type { World } from './world.ts';

const abi = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
  'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
  'function jobCounter() view returns (uint256)',
]);

const OFFERING = 'svc_market_context';
const MOST_LOOKS = 60;
const PAUSE_MS = 50;

/** One delivered job for each service: jobs take a while. */
const delivered = new WeakMap<World, Promise<{ jobId: string; contract: Address }>>();

/** The number of a job that the buyer has created and funded, and the service delivered. */
export async function deliveredJob(world: World): Promise<string> {
  return (await jobOf(world)).jobId;
}

/** What the buyer sends to fetch what was delivered. */
export async function fetchBody(world: World): Promise<object> {
  const { jobId, contract } = await jobOf(world);
  const timestamp = world.nowMs();
  const { buyer } = world.wallets;
  return { wallet: buyer.address, timestamp, signature: await buyer.signMessage({ message: fetchMessage(contract, jobId, timestamp) }) };
}

function jobOf(world: World): Promise<{ jobId: string; contract: Address }> {
  const known = delivered.get(world) ?? makeJob(world);
  delivered.set(world, known);
  return known;
}

async function makeJob(world: World): Promise<{ jobId: string; contract: Address }> {
  const { json, rpcUrl, wallets, nowMs } = world;
  const { offerings } = await json('/api/svc/commerce/offerings?channel=agent-commerce');
  const { howToPay, price } = offerings.find(({ name }: { name: string }) => name === OFFERING);
  const { contract, payee, asset } = howToPay;
  const expiredAt = BigInt(Math.floor(nowMs() / 1_000) + 3_600);
  const description = JSON.stringify({ offering: OFFERING });
  const create = encodeFunctionData({
    abi,
    functionName: 'createJob',
    args: [payee, wallets.buyer.address, expiredAt, description, zeroAddress],
  });
  await sendInOrder(rpcUrl, wallets.buyer, [{ to: contract, data: create }]);
  const counter = encodeFunctionData({ abi, functionName: 'jobCounter' });
  const jobId = BigInt(await jsonRpc<string>(rpcUrl, 'eth_call', { to: contract, data: counter }, 'latest'));

  const amount = BigInt(price.amount);
  await reach(world, jobId, ({ budget }) => budget.amount === price.amount);
  await sendInOrder(rpcUrl, wallets.buyer, [
    { to: asset, data: encodeFunctionData({ abi, functionName: 'approve', args: [contract, amount] }) },
    { to: contract, data: encodeFunctionData({ abi, functionName: 'fund', args: [jobId, amount, '0x'] }) },
  ]);
  await reach(world, jobId, ({ deliverable }) => deliverable !== null);
  return { jobId: jobId.toString(), contract };
}

interface JobAnswer {
  budget: { amount: string };
  deliverable: object | null;
}

async function reach({ ask }: World, jobId: bigint, isThere: (job: JobAnswer) => boolean): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    await delay(PAUSE_MS);
    const answer = await ask(`/api/svc/commerce/jobs/${jobId}`);
    if (answer.ok && isThere((await answer.json()) as JobAnswer)) return;
  }
  throw new Error(`job ${jobId} does not go on`);
}
