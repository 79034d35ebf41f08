import { type Address, encodeFunctionData, getAbiItem, type Hash, isAddressEqual, parseEventLogs, zeroAddress } from 'viem';
import type { Chain } from '../client.ts';
import { type ChainReader, readBlockTime } from '../rpc/blocks.ts';
import { chainCall } from '../rpc/chain-call.ts';
import { readContractEvents, readLogs } from '../rpc/logs.ts';
import { stablecoinAbi } from '../stablecoin/stablecoin.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { agentCommerceAbi as abi, JOB_STATES, type JobState } from './abi.ts';

export interface OnChainJob {
  jobId: bigint;
  client: Address;
  provider: Address;
  evaluator: Address;
  /** Untrusted text of any length. */
  description: string;
  budget: bigint;
  expiresAt: Date;
  state: JobState;
  hook: Address;
}

export interface JobEvent {
  jobId: bigint;
  blockNumber: bigint;
  assigned: boolean;
  funded: boolean;
}

export interface ProviderContract {
  contract: Address;
  provider: Address;
}

/** The payment token of a contract. @throws OracleError CHAIN_REVERTED for a contract other than ERC-8183, CHAIN_UNREACHABLE */
export function readPaymentToken({ client }: ChainReader, contract: Address): Promise<Address> {
  return chainCall('Asking the agent commerce contract for its payment token', () =>
    client.readContract({ address: contract, abi, functionName: 'paymentToken' }),
  );
}

/** State of a job at a block, or null. @throws OracleError CHAIN_REVERTED, CHAIN_UNREACHABLE */
export async function readJob({ client }: ChainReader, contract: Address, jobId: bigint, blockNumber: bigint): Promise<OnChainJob | null> {
  const job = await chainCall('Reading a job', () =>
    client.readContract({ address: contract, abi, functionName: 'getJob', args: [jobId], blockNumber }),
  );
  const state = JOB_STATES[job.status];
  if (state === undefined || isAddressEqual(job.client, zeroAddress)) return null;
  const { client: buyer, provider, evaluator, description, budget, hook } = job;
  return { jobId, client: buyer, provider, evaluator, description, budget, hook, state, expiresAt: toDate(job.expiredAt) };
}

/** Latest time of RFC 3339: the last second of the year 9999. */
const MAX_RFC3339_SECONDS = 253_402_300_799n;

function toDate(seconds: bigint): Date {
  return new Date(Number(seconds < MAX_RFC3339_SECONDS ? seconds : MAX_RFC3339_SECONDS) * 1_000);
}

const JOB_EVENT_ABIS = (
  ['JobCreated', 'ProviderSet', 'BudgetSet', 'JobFunded', 'JobSubmitted', 'JobCompleted', 'JobRejected', 'JobExpired'] as const
).map((name) => getAbiItem({ abi, name }));

/** In an inclusive block range, of any provider: most events do not name theirs. @throws OracleError CHAIN_UNREACHABLE */
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

/** Idempotent per job. @throws OracleError as `Wallet.send` */
export function proposeBudget(wallet: Wallet, contract: Address, jobId: bigint, amount: bigint): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi, functionName: 'setBudget', args: [jobId, amount, '0x'] });
  return wallet.send({ key: buildTransactionKey(contract, jobId, 'budget'), to: contract, data });
}

/** Idempotent per job. @throws OracleError as `Wallet.send` */
export function submitJob(wallet: Wallet, contract: Address, jobId: bigint, deliverable: Hash): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi, functionName: 'submit', args: [jobId, deliverable, '0x'] });
  return wallet.send({ key: buildTransactionKey(contract, jobId, 'submit'), to: contract, data });
}

function buildTransactionKey(contract: Address, jobId: bigint, act: 'budget' | 'submit'): string {
  return `job:${contract.toLowerCase()}:${jobId}:${act}`;
}

/** From the events between two blocks; null without a payment. @throws OracleError CHAIN_UNREACHABLE */
export async function readJobPayment(
  chain: Chain,
  { contract, provider }: ProviderContract,
  { jobId, fromBlock, toBlock }: { jobId: bigint; fromBlock: bigint; toBlock: bigint },
): Promise<{ amount: bigint; txHash: Hash; settledAt: Date } | null> {
  const event = getAbiItem({ abi, name: 'PaymentReleased' });
  const [released] = await readLogs(chain, { address: contract, event, args: { jobId, provider }, fromBlock, toBlock });
  if (released === undefined) return null;
  const txHash = released.transactionHash;
  const [receipt, settledAt] = await Promise.all([
    chainCall('Reading the payment of a job', () => chain.client.getTransactionReceipt({ hash: txHash })),
    readBlockTime(chain, released.blockNumber),
  ]);
  const receivedAmount = sumReceivedByProvider(receipt.logs, { contract, provider, stablecoin: chain.addresses.stablecoin });
  return { amount: receivedAmount ?? released.args.amount, txHash, settledAt };
}

type Logs = Parameters<typeof parseEventLogs>[0]['logs'];

/** Sum that one transaction moved from the contract to the provider; null when it completed several jobs, whose events then count. */
function sumReceivedByProvider(logs: Logs, { contract, provider, stablecoin }: ProviderContract & { stablecoin: Address }): bigint | null {
  const released = parseEventLogs({ abi, eventName: 'PaymentReleased', args: { provider }, logs });
  if (released.filter(({ address }) => isAddressEqual(address, contract)).length > 1) return null;
  return parseEventLogs({ abi: stablecoinAbi, eventName: 'Transfer', args: { from: contract, to: provider }, logs })
    .filter(({ address }) => isAddressEqual(address, stablecoin))
    .reduce((sum, { args }) => sum + args.value, 0n);
}
