import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeFunctionData, parseAbi, zeroAddress } from 'viem';
import { callJsonRpc, sendTransactions } from '../../../src/dev/local-chain/contracts.ts';
import { buildFetchMessage } from '../../../src/http/routes/jobs.ts';
import type { ExampleClient } from './client.ts';

const abi = parseAbi([
  'function approve(address spender, uint256 value) returns (bool)',
  'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
  'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
  'function jobCounter() view returns (uint256)',
]);

const OFFERING = 'svc_market_context';
const MAX_POLLS = 60;
const POLL_MS = 50;

/** One delivered job per service, since a job takes a while. */
const delivered = new WeakMap<ExampleClient, Promise<{ jobId: string; contract: Address }>>();

export async function ensureDeliveredJob(client: ExampleClient): Promise<string> {
  return (await getOrCreateJob(client)).jobId;
}

export async function buildFetchBody(client: ExampleClient): Promise<object> {
  const { jobId, contract } = await getOrCreateJob(client);
  const timestamp = client.nowMs();
  const { buyer } = client.wallets;
  const signature = await buyer.signMessage({ message: buildFetchMessage(contract, jobId, timestamp) });
  return { wallet: buyer.address, timestamp, signature };
}

function getOrCreateJob(client: ExampleClient): Promise<{ jobId: string; contract: Address }> {
  const known = delivered.get(client) ?? createJob(client);
  delivered.set(client, known);
  return known;
}

async function createJob(client: ExampleClient): Promise<{ jobId: string; contract: Address }> {
  const { requestJson, rpcUrl, wallets, nowMs } = client;
  const { offerings } = await requestJson('/api/svc/commerce/offerings?channel=agent-commerce');
  const { howToPay, price } = offerings.find(({ name }: { name: string }) => name === OFFERING);
  const { contract, payee, asset } = howToPay;
  const expiredAt = BigInt(Math.floor(nowMs() / 1_000) + 3_600);
  const description = JSON.stringify({ offering: OFFERING });
  const args = [payee, wallets.buyer.address, expiredAt, description, zeroAddress] as const;
  const create = encodeFunctionData({ abi, functionName: 'createJob', args });
  await sendTransactions(rpcUrl, wallets.buyer, [{ to: contract, data: create }]);
  const counter = encodeFunctionData({ abi, functionName: 'jobCounter' });
  const jobId = BigInt(await callJsonRpc<string>(rpcUrl, 'eth_call', { to: contract, data: counter }, 'latest'));

  const amount = BigInt(price.amount);
  await waitForJob(client, jobId, ({ budget }) => budget.amount === price.amount);
  await sendTransactions(rpcUrl, wallets.buyer, [
    { to: asset, data: encodeFunctionData({ abi, functionName: 'approve', args: [contract, amount] }) },
    { to: contract, data: encodeFunctionData({ abi, functionName: 'fund', args: [jobId, amount, '0x'] }) },
  ]);
  await waitForJob(client, jobId, ({ deliverable }) => deliverable !== null);
  return { jobId: jobId.toString(), contract };
}

interface JobResponse {
  budget: { amount: string };
  deliverable: object | null;
}

async function waitForJob({ request }: ExampleClient, jobId: bigint, isReady: (job: JobResponse) => boolean): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await delay(POLL_MS);
    const response = await request(`/api/svc/commerce/jobs/${jobId}`);
    if (response.ok && isReady((await response.json()) as JobResponse)) return;
  }
  throw new Error(`job ${jobId} does not go on`);
}
