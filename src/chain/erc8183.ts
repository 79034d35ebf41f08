import {
  type Address,
  encodeFunctionData,
  getAbiItem,
  type Hash,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseEventLogs,
  sliceHex,
  zeroAddress,
} from 'viem';
import type { Chain } from './client.ts';
import { type BlockRange, type ChainReader, chainCall, readBlockTime, readContractEvents, readLogs } from './rpc.ts';
import { stablecoinAbi } from './stablecoin.ts';
import { type ConfirmedTransaction, type MinedBlock, toMinedBlock, type Wallet } from './wallet.ts';

/** Subset of the ABI of the ERC-8183 reference implementation. Further fields at the end of a contract's `Job` are ignored. */
export const agentCommerceAbi = parseAbi([
  'struct Job { uint256 id; address client; address provider; address evaluator; string description; uint256 budget; uint256 expiredAt; uint8 status; address hook; }',
  'function paymentToken() view returns (address)',
  'function getJob(uint256 jobId) view returns (Job)',
  'function setBudget(uint256 jobId, uint256 amount, bytes optParams)',
  'function submit(uint256 jobId, bytes32 deliverable, bytes optParams)',
  'event JobCreated(uint256 indexed jobId, address indexed client, address indexed provider, address evaluator, uint256 expiredAt, address hook)',
  'event ProviderSet(uint256 indexed jobId, address indexed provider)',
  'event BudgetSet(uint256 indexed jobId, uint256 amount)',
  'event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount)',
  'event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable)',
  'event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason)',
  'event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason)',
  'event JobExpired(uint256 indexed jobId)',
  'event PaymentReleased(uint256 indexed jobId, address indexed provider, uint256 amount)',
  'event Refunded(uint256 indexed jobId, address indexed client, uint256 amount)',
]);

export const JOB_STATES = ['OPEN', 'FUNDED', 'SUBMITTED', 'COMPLETED', 'REJECTED', 'EXPIRED'] as const;

export interface OnChainJob {
  jobId: bigint;
  client: Address;
  provider: Address;
  evaluator: Address;
  /** Untrusted text of any length. */
  description: string;
  budget: bigint;
  expiresAt: Date;
  state: (typeof JOB_STATES)[number];
  hook: Address;
}

export interface JobEvent {
  /** Block hash and position: another one once a reorganisation has moved the event. */
  id: string;
  jobId: bigint;
  blockNumber: bigint;
  assigned: boolean;
  funded: boolean;
}

type ProviderContract = { contract: Address; provider: Address };

/** The payment token of a contract. @throws OracleError CHAIN_REVERTED for a contract other than ERC-8183, CHAIN_UNREACHABLE */
export function readPaymentToken({ client }: ChainReader, contract: Address): Promise<Address> {
  return chainCall('Asking the agent commerce contract for its payment token', () =>
    client.readContract({ address: contract, abi: agentCommerceAbi, functionName: 'paymentToken' }),
  );
}

/** State of a job at a block, or null. @throws OracleError CHAIN_REVERTED, CHAIN_UNREACHABLE */
export async function readJob({ client }: ChainReader, contract: Address, jobId: bigint, blockNumber: bigint): Promise<OnChainJob | null> {
  const job = await chainCall('Reading a job', () =>
    client.readContract({ address: contract, abi: agentCommerceAbi, functionName: 'getJob', args: [jobId], blockNumber }),
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
).map((name) => getAbiItem({ abi: agentCommerceAbi, name }));

/** Of any provider, since most events do not name theirs; range by range as `readLogRanges`. @throws OracleError CHAIN_UNREACHABLE */
export async function* readJobEvents(
  chain: ChainReader,
  { contract, provider }: ProviderContract,
  range: BlockRange,
): AsyncGenerator<BlockRange & { events: JobEvent[] }, void> {
  for await (const { logs, from, to } of readContractEvents(chain, { address: contract, events: JOB_EVENT_ABIS, ...range })) {
    const events = logs.map(({ eventName, args, blockNumber, blockHash, logIndex }) => ({
      id: `${blockHash}:${logIndex}`,
      jobId: args.jobId as bigint,
      blockNumber,
      assigned: ASSIGNMENT_EVENTS.has(eventName) && isAddressEqual(args.provider as Address, provider),
      funded: eventName === 'JobFunded',
    }));
    yield { from, to, events };
  }
}

const ASSIGNMENT_EVENTS = new Set(['JobCreated', 'ProviderSet']);

/** Idempotent per job. @throws OracleError as `Wallet.send` */
export function proposeBudget(wallet: Wallet, contract: Address, jobId: bigint, amount: bigint): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi: agentCommerceAbi, functionName: 'setBudget', args: [jobId, amount, '0x'] });
  return wallet.send({ key: buildTransactionKey(contract, jobId, 'budget'), to: contract, data });
}

/** Idempotent per job. @throws OracleError as `Wallet.send` */
export function submitJob(wallet: Wallet, contract: Address, jobId: bigint, deliverable: Hash): Promise<ConfirmedTransaction> {
  const data = encodeFunctionData({ abi: agentCommerceAbi, functionName: 'submit', args: [jobId, deliverable, '0x'] });
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
): Promise<{ amount: bigint; txHash: Hash; settledAt: Date; block: MinedBlock } | null> {
  const event = getAbiItem({ abi: agentCommerceAbi, name: 'PaymentReleased' });
  const [released] = await readLogs(chain, { address: contract, event, args: { jobId, provider }, fromBlock, toBlock });
  if (released === undefined) return null;
  const txHash = released.transactionHash;
  const [receipt, settledAt] = await Promise.all([
    chainCall('Reading the payment of a job', () => chain.client.getTransactionReceipt({ hash: txHash })),
    readBlockTime(chain, released.blockNumber),
  ]);
  const receivedAmount = sumReceivedByProvider(receipt.logs, { contract, provider, stablecoin: chain.addresses.stablecoin });
  return { amount: receivedAmount ?? released.args.amount, txHash, settledAt, block: toMinedBlock(receipt) };
}

type Logs = Parameters<typeof parseEventLogs>[0]['logs'];

/** Sum that one transaction moved from the contract to the provider; null when it completed several jobs, whose events then count. */
function sumReceivedByProvider(logs: Logs, { contract, provider, stablecoin }: ProviderContract & { stablecoin: Address }): bigint | null {
  const released = parseEventLogs({ abi: agentCommerceAbi, eventName: 'PaymentReleased', args: { provider }, logs });
  if (released.filter(({ address }) => isAddressEqual(address, contract)).length > 1) return null;
  return parseEventLogs({ abi: stablecoinAbi, eventName: 'Transfer', args: { from: contract, to: provider }, logs })
    .filter(({ address }) => isAddressEqual(address, stablecoin))
    .reduce((sum, { args }) => sum + args.value, 0n);
}

/** Storage slots of ERC-1967: keccak256 of `eip1967.proxy.implementation` and of `eip1967.proxy.beacon`, minus 1. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const BEACON_SLOT = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';

/**
 * keccak256 of the runtime code of a contract, followed by that of its implementation where it is a proxy of ERC-1967. Null without code,
 * and for a beacon proxy, whose code any call may change. @throws OracleError CHAIN_UNREACHABLE
 */
export async function readCodeHashes(chain: ChainReader, contract: Address): Promise<Hex[] | null> {
  const [code, implementation, beacon] = await Promise.all([
    readCode(chain, contract),
    readAddressSlot(chain, contract, IMPLEMENTATION_SLOT),
    readAddressSlot(chain, contract, BEACON_SLOT),
  ]);
  if (code === null || beacon !== null) return null;
  if (implementation === null) return [keccak256(code)];
  const target = await readCode(chain, implementation);
  return target === null ? null : [keccak256(code), keccak256(target)];
}

async function readCode({ client }: ChainReader, address: Address): Promise<Hex | null> {
  return (await chainCall('Reading the code of a contract', () => client.getCode({ address }))) ?? null;
}

async function readAddressSlot({ client }: ChainReader, address: Address, slot: Hex): Promise<Address | null> {
  const word = await chainCall('Reading the implementation of a contract', () => client.getStorageAt({ address, slot }));
  if (word === undefined || BigInt(word) === 0n) return null;
  return sliceHex(word, 12);
}
