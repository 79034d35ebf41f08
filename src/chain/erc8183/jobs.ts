import { type Address, encodeFunctionData, getAbiItem, type Hash, isAddressEqual, parseEventLogs, zeroAddress } from 'viem';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import { readContractEvents, readLogs } from '../rpc/logs.ts';
import { stablecoinAbi } from '../stablecoin/stablecoin.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { agentCommerceAbi as abi, JOB_STATES, type JobState } from './abi.ts';

/** A job of an ERC-8183 contract. */
export interface OnChainJob {
  jobId: bigint;
  client: Address;
  provider: Address;
  evaluator: Address;
  /** Text from outside, of any length. */
  description: string;
  /** In the smallest unit of the contract's payment token. */
  budget: bigint;
  expiresAt: Date;
  state: JobState;
  hook: Address;
}

/** A block that is as deep as this service asks for: what is read up to it stays. */
export interface ConfirmedBlock {
  number: bigint;
  at: Date;
}

/** That something happened to a job. */
export interface JobEvent {
  jobId: bigint;
  blockNumber: bigint;
  /** True for the job's creation for this provider, or its handing over to it. */
  assigned: boolean;
  /** True where it says that the price went into escrow. */
  funded: boolean;
}

/** The payment that a completed job brought its provider. */
export interface JobPayment {
  /** What arrived, fees deducted. */
  amount: bigint;
  txHash: Hash;
  settledAt: Date;
}

/** A contract and its provider. */
export interface ProviderContract {
  contract: Address;
  provider: Address;
}

type ChainReader = Pick<Chain, 'client'>;

/** The payment token of a contract. @throws OracleError CHAIN_REVERTED when it is no ERC-8183 contract, CHAIN_UNREACHABLE */
export function readPaymentToken({ client }: ChainReader, contract: Address): Promise<Address> {
  return chainCall('Asking the agent commerce contract for its payment token', () =>
    client.readContract({ address: contract, abi, functionName: 'paymentToken' }),
  );
}

/** The newest block at the confirmation depth; null on a chain that is shorter. @throws OracleError CHAIN_UNREACHABLE */
export async function readConfirmedBlock({
  client,
  confirmations,
}: Pick<Chain, 'client' | 'confirmations'>): Promise<ConfirmedBlock | null> {
  return chainCall('Reading a block', async () => {
    const number = (await client.getBlockNumber()) - BigInt(confirmations - 1);
    if (number < 0n) return null;
    const { timestamp } = await client.getBlock({ blockNumber: number });
    return { number, at: new Date(Number(timestamp) * 1_000) };
  });
}

/** A job as it stood at a block; null when there was none. @throws OracleError CHAIN_REVERTED, CHAIN_UNREACHABLE */
export async function readJob({ client }: ChainReader, contract: Address, jobId: bigint, blockNumber: bigint): Promise<OnChainJob | null> {
  const job = await chainCall('Reading a job', () =>
    client.readContract({ address: contract, abi, functionName: 'getJob', args: [jobId], blockNumber }),
  );
  const state = JOB_STATES[job.status];
  if (state === undefined || isAddressEqual(job.client, zeroAddress)) return null;
  const { client: buyer, provider, evaluator, description, budget, hook } = job;
  return { jobId, client: buyer, provider, evaluator, description, budget, hook, state, expiresAt: toDate(job.expiredAt) };
}

/** The last second of a year with four digits: RFC 3339 has no later one. */
const MAX_RFC3339_SECONDS = 253_402_300_799n;

function toDate(seconds: bigint): Date {
  return new Date(Number(seconds < MAX_RFC3339_SECONDS ? seconds : MAX_RFC3339_SECONDS) * 1_000);
}

const JOB_EVENT_ABIS = (
  ['JobCreated', 'ProviderSet', 'BudgetSet', 'JobFunded', 'JobSubmitted', 'JobCompleted', 'JobRejected', 'JobExpired'] as const
).map((name) => getAbiItem({ abi, name }));

/**
 * What happened to the jobs of a contract in a range of blocks, both ends included: whoever their provider is, since most events do
 * not name it.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readJobEvents(
  chain: ChainReader,
  { contract, provider }: ProviderContract,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<JobEvent[]> {
  const logs = await readContractEvents(chain, { address: contract, events: JOB_EVENT_ABIS, ...range });
  return logs.map(({ eventName, args, blockNumber }) => ({
    jobId: args.jobId as bigint,
    blockNumber,
    assigned: ASSIGNMENT_EVENTS.has(eventName) && isAddressEqual(args.provider as Address, provider),
    funded: eventName === 'JobFunded',
  }));
}

const ASSIGNMENT_EVENTS = new Set(['JobCreated', 'ProviderSet']);

/** Proposes a price for a job. The same key is one transaction for good. @throws OracleError as `Wallet.send` */
export function proposeBudget(wallet: Wallet, contract: Address, jobId: bigint, amount: bigint): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi, functionName: 'setBudget', args: [jobId, amount, '0x'] });
  return wallet.send({ key: buildTransactionKey(contract, jobId, 'budget'), to: contract, data });
}

/** Submits the hash of what is delivered. The same key is one transaction for good. @throws OracleError as `Wallet.send` */
export function submitJob(wallet: Wallet, contract: Address, jobId: bigint, deliverable: Hash): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi, functionName: 'submit', args: [jobId, deliverable, '0x'] });
  return wallet.send({ key: buildTransactionKey(contract, jobId, 'submit'), to: contract, data });
}

function buildTransactionKey(contract: Address, jobId: bigint, act: 'budget' | 'submit'): string {
  return `job:${contract.toLowerCase()}:${jobId}:${act}`;
}

/**
 * What a completed job brought, by the events between two blocks; null when they tell of no payment.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readJobPayment(
  chain: Chain,
  { contract, provider }: ProviderContract,
  { jobId, fromBlock, toBlock }: { jobId: bigint; fromBlock: bigint; toBlock: bigint },
): Promise<JobPayment | null> {
  const event = getAbiItem({ abi, name: 'PaymentReleased' });
  const [released] = await readLogs(chain, { address: contract, event, args: { jobId, provider }, fromBlock, toBlock });
  if (released === undefined) return null;
  const txHash = released.transactionHash;
  const [receipt, block] = await chainCall('Reading the payment of a job', () =>
    Promise.all([chain.client.getTransactionReceipt({ hash: txHash }), chain.client.getBlock({ blockNumber: released.blockNumber })]),
  );
  const receivedAmount = sumReceivedByProvider(receipt.logs, { contract, provider, stablecoin: chain.addresses.stablecoin });
  return { amount: receivedAmount ?? released.args.amount, txHash, settledAt: new Date(Number(block.timestamp) * 1_000) };
}

type Logs = Parameters<typeof parseEventLogs>[0]['logs'];

/** What one transaction moved from the contract to the provider; null when it completed several jobs, whose events tell them apart. */
function sumReceivedByProvider(logs: Logs, { contract, provider, stablecoin }: ProviderContract & { stablecoin: Address }): bigint | null {
  const released = parseEventLogs({ abi, eventName: 'PaymentReleased', args: { provider }, logs });
  if (released.filter(({ address }) => isAddressEqual(address, contract)).length > 1) return null;
  return parseEventLogs({ abi: stablecoinAbi, eventName: 'Transfer', args: { from: contract, to: provider }, logs })
    .filter(({ address }) => isAddressEqual(address, stablecoin))
    .reduce((sum, { args }) => sum + args.value, 0n);
}
