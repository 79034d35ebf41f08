import { setTimeout as delay } from 'node:timers/promises';
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type Hash,
  keccak256,
  parseAbi,
  parseEventLogs,
  stringToHex,
  zeroAddress,
} from 'viem';
import { type Agent, send } from './agent.ts';
import { answerOf, post, reach } from './ask.ts';
import { findOffering } from './buy-document.ts';
import { beginStep, check, narrate, StepFailed, usd } from './narrate.ts';
import { checkPaid, short } from './receipt.ts';

const WANTED = 'svc_market_context';
const PATIENCE_MS = 60_000;

const abi = parseAbi([
  'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
  'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
  'function complete(uint256 jobId, bytes32 reason, bytes optParams)',
  'event JobCreated(uint256 indexed jobId, address indexed client, address indexed provider, address evaluator, uint256 expiredAt, address hook)',
]);

interface Order {
  contract: Address;
  jobId: bigint;
  price: bigint;
}

/** What the service says of a job. */
interface Job {
  accepted: boolean | null;
  /** Why it is refused. */
  reason: string | null;
  budget: { amount: string };
  deliverable: { hash: Hash } | null;
  payment: { amount: string; txHash: Hash } | null;
}

/** Hires the service by an ERC-8183 contract, which holds the money until the work is accepted. */
export async function openJob(agent: Agent): Promise<void> {
  beginStep('Open an agent commerce job: ERC-8183');
  const { title, price, payee: provider, contract } = await findOffering(agent, 'agent-commerce', WANTED);
  const order = { contract: contract!, price, jobId: await createJob(agent, contract!, provider) };
  narrate(`job ${order.jobId} for "${title}" at ${short(order.contract)}, evaluated by ourselves`);
  const offered = await until(agent, order, 'the price', ({ accepted, budget }) => accepted === true && budget.amount !== '0');
  check(offered.budget.amount === price.toString(), `the provider takes it on for the listed ${usd(price)}`);
  await fund(agent, order);
  const { deliverable } = await until(agent, order, 'the delivery', (job) => job.deliverable !== null);
  await fetchDelivery(agent, order, deliverable!.hash);
  await complete(agent, order);
  const { payment } = await until(agent, order, 'the payment', (job) => job.payment !== null);
  check(payment!.amount === price.toString(), `accepted: ${usd(price)} released to the provider in ${short(payment!.txHash)}`);
}

async function createJob(agent: Agent, contract: Address, provider: Address): Promise<bigint> {
  const { chain, account } = agent;
  const { timestamp } = await chain.getBlock();
  const seconds = BigInt(Math.floor(Date.now() / 1_000));
  const expiredAt = (timestamp > seconds ? timestamp : seconds) + 3_600n;
  const args = [provider, account.address, expiredAt, JSON.stringify({ offering: WANTED }), zeroAddress] as const;
  const hash = await send(agent, 'createJob', { to: contract, data: encodeFunctionData({ abi, functionName: 'createJob', args }) });
  const { logs } = await chain.getTransactionReceipt({ hash });
  return parseEventLogs({ abi, eventName: 'JobCreated', logs })[0].args.jobId;
}

/** The contract takes the price into escrow. */
async function fund(agent: Agent, { contract, jobId, price }: Order): Promise<void> {
  const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, price] });
  await send(agent, 'approve', { to: agent.contracts.stablecoin, data: allowance });
  const data = encodeFunctionData({ abi, functionName: 'fund', args: [jobId, price, '0x'] });
  await checkPaid(agent, { txHash: await send(agent, 'fund', { to: contract, data }), payee: contract, amount: price });
}

async function complete(agent: Agent, { contract, jobId }: Order): Promise<void> {
  const args = [jobId, keccak256(stringToHex('as ordered')), '0x'] as const;
  await send(agent, 'complete', { to: contract, data: encodeFunctionData({ abi, functionName: 'complete', args }) });
}

/** The bytes are for client and evaluator only: the wallet signs for them. Their hash is on chain. */
async function fetchDelivery({ service, account }: Agent, { contract, jobId }: Order, hash: Hash): Promise<void> {
  const timestamp = Date.now();
  const signature = await account.signMessage({ message: `Fetch svc job: ${getAddress(contract)}:${jobId}:${timestamp}` });
  const url = `${service}/api/svc/commerce/jobs/${jobId}/deliverable`;
  const response = await reach(url, post({ wallet: account.address, timestamp, signature }));
  if (!response.ok) await answerOf(url, response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  narrate(`${Math.ceil(bytes.length / 1_024)} kB delivered to the client of the job`);
  check(keccak256(bytes) === hash, `whose keccak256 is what the job says on chain, ${short(hash)}`);
}

/** Asks what became of the job, every second. */
async function until({ service }: Agent, { jobId }: Order, what: string, holds: (job: Job) => boolean): Promise<Job> {
  const url = `${service}/api/svc/commerce/jobs/${jobId}`;
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(1_000)) {
    const response = await reach(url);
    // Its block is not deep enough yet.
    if (response.status === 503) continue;
    const job = await answerOf<Job>(url, response);
    if (job.accepted === false) throw new StepFailed(`The provider refuses the job: ${job.reason}`, 'Create another one.');
    if (holds(job)) return job;
  }
  throw new StepFailed(`Waited a minute for ${what}`, `Look at ${url}: "next" says what is to come.`);
}
