import {
  type AbiEvent,
  type Address,
  decodeEventLog,
  encodeFunctionData,
  getAbiItem,
  getAddress,
  type Hex,
  keccak256,
  parseAbi,
  stringToHex,
  toEventSelector,
} from 'viem';
import { OracleError } from '../errors.ts';
import type { ReachedInstant } from '../platform/time.ts';
import type { Chain } from './client.ts';
import type { Journal } from './journal.ts';
import { type BlockRange, chainCall, readLogRanges, requestLogs } from './rpc.ts';
import type { ConfirmedTransaction, Wallet } from './wallet.ts';

export interface RegisteredAgent {
  /** Ids of a registry start at 0. */
  agentId: number;
  owner: Address;
  agentUri: string;
  /** Wallet declared for payments; a transfer clears it to null until the new owner declares one. */
  agentWallet: Address | null;
  /** Block time; null for an agent that another wallet or database registered. */
  registeredAt: Date | null;
}

const REGISTERED_TOPIC = toEventSelector('Registered(uint256,string,address)');

/**
 * Once; later found in the wallet's journal, with any URI. @throws OracleError as `Wallet.send`; CONFIG_INVALID for another's agent
 * @param agentId of an existing agent; unset: the agent in the wallet's journal, or a new one
 */
export async function ensureIdentity(
  chain: Chain,
  { agentUri, wallet, agentId }: { agentUri: string; wallet: Wallet; agentId?: number },
): Promise<RegisteredAgent> {
  const registered = agentId === undefined ? await registerAgent(chain, wallet, agentUri) : { agentId, registeredAt: null };
  const identity = { ...(await readIdentity(chain, registered.agentId)), ...registered };
  if (identity.owner !== wallet.address) {
    throw new OracleError(
      'CONFIG_INVALID',
      `Agent ${identity.agentId} belongs to ${identity.owner}, not to the ${wallet.role} ${wallet.address}`,
      { suggestedAction: 'Use the key that registered the agent.' },
    );
  }
  return identity;
}

/** No transaction when it is set already. @throws OracleError as `Wallet.send` */
export async function updateAgentUri(chain: Chain, wallet: Wallet, identity: RegisteredAgent, agentUri: string): Promise<RegisteredAgent> {
  if (identity.agentUri === agentUri) return identity;
  return { ...(await setAgentUri(chain, wallet, identity.agentId, agentUri)), registeredAt: identity.registeredAt };
}

/** @throws OracleError CHAIN_REVERTED for an unknown agent, CHAIN_UNREACHABLE. */
export async function readIdentity({ client, addresses }: Chain, agentId: number): Promise<RegisteredAgent> {
  const call = { address: addresses.identityRegistry, abi: identityAbi, args: [BigInt(agentId)] } as const;
  const [owner, agentUri, agentWallet] = await chainCall(`Reading agent ${agentId}`, () =>
    Promise.all([
      client.readContract({ ...call, functionName: 'ownerOf' }),
      client.readContract({ ...call, functionName: 'tokenURI' }),
      client.readContract({ ...call, functionName: 'getAgentWallet' }),
    ]),
  );
  return { agentId, owner, agentUri, agentWallet: BigInt(agentWallet) === 0n ? null : agentWallet, registeredAt: null };
}

/** The agent that the attester's journal has registered, as the chain has it now; null without one. @throws OracleError CHAIN_UNREACHABLE */
export async function findRegisteredAgent(chain: Chain, journal: Pick<Journal, 'find'>): Promise<RegisteredAgent | null> {
  const row = await journal.find(`${chain.chainId}:attester:${buildRegistrationKey(chain.addresses.identityRegistry)}`);
  if (row?.state !== 'CONFIRMED' || row.receipt === null) return null;
  return { ...(await readIdentity(chain, parseAgentId(row.receipt))), registeredAt: row.receipt.at };
}

/** Block of the registration in the attester's journal; null for an agent that another wallet or database registered. */
export async function findRegistrationBlock({ chainId, addresses }: Chain, journal: Pick<Journal, 'find'>): Promise<number | null> {
  const row = await journal.find(`${chainId}:attester:${buildRegistrationKey(addresses.identityRegistry)}`);
  return row?.receipt?.blockNumber ?? null;
}

const buildRegistrationKey = (registry: Address) => `identity:register:${registry.toLowerCase()}`;

async function registerAgent({ addresses }: Chain, wallet: Wallet, agentUri: string) {
  const to = addresses.identityRegistry;
  const data = encodeFunctionData({ abi: identityAbi, functionName: 'register', args: [agentUri] });
  const sent = await wallet.send({ key: buildRegistrationKey(to), to, data });
  return { agentId: parseAgentId(sent), registeredAt: sent.at };
}

function parseAgentId({ hash, logs }: Pick<ConfirmedTransaction, 'hash' | 'logs'>): number {
  const log = logs.find(({ topics }) => topics[0] === REGISTERED_TOPIC);
  if (!log) throw new OracleError('CHAIN_REVERTED', `Transaction ${hash} registered no agent`);
  const { args } = decodeEventLog({ abi: identityAbi, eventName: 'Registered', topics: log.topics as [Hex, ...Hex[]], data: log.data });
  return Number(args.agentId);
}

/** Retries under a new key: for a URI that was set before, the journal returns its earlier transaction, which others have overridden. */
async function setAgentUri(chain: Chain, wallet: Wallet, agentId: number, agentUri: string): Promise<RegisteredAgent> {
  const data = encodeFunctionData({ abi: identityAbi, functionName: 'setAgentURI', args: [BigInt(agentId), agentUri] });
  const uriHash = keccak256(stringToHex(agentUri));
  for (let attempt = 1; ; attempt += 1) {
    await wallet.send({ key: `identity:uri:${agentId}:${uriHash}:${attempt}`, to: chain.addresses.identityRegistry, data });
    const identity = await readIdentity(chain, agentId);
    if (identity.agentUri === agentUri) return identity;
  }
}

/** Subset of the ABI of the Identity Registry (https://eips.ethereum.org/EIPS/eip-8004). */
export const identityAbi = parseAbi([
  'error ERC721NonexistentToken(uint256 tokenId)',
  'event Registered(uint256 indexed agentId, string agentURI, address indexed owner)',
  'function register(string agentURI) returns (uint256 agentId)',
  'function setAgentURI(uint256 agentId, string newURI)',
  'function ownerOf(uint256 agentId) view returns (address)',
  'function tokenURI(uint256 agentId) view returns (string)',
  'function getAgentWallet(uint256 agentId) view returns (address)',
]);

/** Subset of the ABI of the Reputation Registry (ERC-8004). */
export const reputationAbi = parseAbi([
  'event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)',
  'event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)',
  'function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)',
  'function getSummary(uint256 agentId, address[] clientAddresses, string tag1, string tag2) view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)',
  'function getClients(uint256 agentId) view returns (address[])',
]);

interface OutcomeReport extends Pick<Feedback, 'endpoint' | 'feedbackHash'> {
  outcome: 'WIN' | 'LOSS';
  feedbackUri?: string;
}

export interface Reporter {
  readonly address: Address;
  describe(outcome: OutcomeReport['outcome']): Promise<FeedbackDescription>;
  /**
   * Returns the block time, and the hash in the event of the first report under this key, null when that is no ERC-8004 event.
   * @param over proof that the outcome may be published @throws as `Wallet.send`; CHAIN_REVERTED for "Self-feedback not allowed"
   */
  report(key: string, report: OutcomeReport, over: ReachedInstant): Promise<{ txHash: Hex; at: Date; feedbackHash: Hex | null }>;
}

export interface ReputationState {
  total: number;
  positive: number;
  /** 0 to 100, two decimals, truncated; null without feedback. */
  averageScore: number | null;
  reporter: Address;
}

const FEEDBACK_TAG = 'wagerOutcome';
/** Two decimals keep hundredths of a percent in the registry's truncating average. */
const FEEDBACK_DECIMALS = 2;
const FEEDBACK_VALUES = { WIN: 10_000, LOSS: 0 } as const;
const NEW_FEEDBACK_TOPIC = toEventSelector(getAbiItem({ abi: reputationAbi, name: 'NewFeedback' }));

/** Reports outcomes to the Reputation Registry (ERC-8004) from a wallet other than the agent's. */
export function createReporter({ chain, wallet, agentId }: { chain: Chain; wallet: Wallet; agentId(): Promise<number> }): Reporter {
  return {
    address: wallet.address,
    async describe(outcome) {
      const rating = { value: FEEDBACK_VALUES[outcome], valueDecimals: FEEDBACK_DECIMALS };
      return buildFeedbackDescription(chain, { agentId: await agentId(), client: wallet.address, ...rating });
    },
    async report(key, { outcome, endpoint, feedbackHash, feedbackUri = '' }, _over) {
      const data = encodeFeedback({
        agentId: await agentId(),
        value: FEEDBACK_VALUES[outcome],
        valueDecimals: FEEDBACK_DECIMALS,
        tag1: FEEDBACK_TAG,
        tag2: outcome,
        endpoint,
        feedbackUri,
        feedbackHash,
      });
      const sent = await wallet.send({ key, to: chain.addresses.reputationRegistry, data });
      return { txHash: sent.hash, at: sent.at, feedbackHash: parseFeedbackHash(sent) };
    },
  };
}

function parseFeedbackHash({ logs }: ConfirmedTransaction): Hex | null {
  const log = logs.find(({ topics }) => topics[0] === NEW_FEEDBACK_TOPIC);
  if (!log) return null;
  const topics = log.topics as [Hex, ...Hex[]];
  return decodeEventLog({ abi: reputationAbi, eventName: 'NewFeedback', topics, data: log.data }).args.feedbackHash;
}

/** From one reporter; zeros without feedback. @throws OracleError CHAIN_UNREACHABLE */
export async function readReputation({ client, addresses }: Chain, agentId: number, reporter: Address): Promise<ReputationState> {
  const call = { address: addresses.reputationRegistry, abi: reputationAbi, functionName: 'getSummary' } as const;
  const readSummary = (outcome: 'WIN' | '') =>
    chainCall('Reading the reputation', () =>
      // The registry rejects an empty list of clients.
      client.readContract({ ...call, args: [BigInt(agentId), [reporter], FEEDBACK_TAG, outcome] }),
    );
  const [[count, value, decimals], [won]] = await Promise.all([readSummary(''), readSummary('WIN')]);
  const averageScore = count === 0n ? null : Number(value) / 10 ** decimals;
  return { total: Number(count), positive: Number(won), averageScore, reporter };
}

interface Feedback {
  agentId: number;
  /** Integer of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
  tag1: string;
  tag2: string;
  endpoint: string;
  /** URI of the off-chain details, or empty. */
  feedbackUri: string;
  feedbackHash: Hex;
}

/** Required members of the off-chain feedback file, with the types of ERC-8004; `createdAt` is the sixth. */
interface FeedbackDescription extends Pick<Feedback, 'agentId' | 'value' | 'valueDecimals'> {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  /** Author of the feedback, CAIP-10. */
  clientAddress: string;
}

/** With checksummed addresses, so that equal input gives equal bytes. */
export function buildFeedbackDescription(
  { chainId, addresses }: Pick<Chain, 'chainId' | 'addresses'>,
  { agentId, client, value, valueDecimals }: Pick<Feedback, 'agentId' | 'value' | 'valueDecimals'> & { client: Address },
): FeedbackDescription {
  return {
    agentRegistry: `eip155:${chainId}:${getAddress(addresses.identityRegistry)}`,
    agentId,
    clientAddress: `eip155:${chainId}:${getAddress(client)}`,
    value,
    valueDecimals,
  };
}

/** Calldata of `giveFeedback` of the Reputation Registry. */
export function encodeFeedback({ agentId, value, valueDecimals, tag1, tag2, endpoint, feedbackUri, feedbackHash }: Feedback): Hex {
  const args = [BigInt(agentId), BigInt(value), valueDecimals, tag1, tag2, endpoint, feedbackUri, feedbackHash] as const;
  return encodeFunctionData({ abi: reputationAbi, functionName: 'giveFeedback', args });
}

/** Feedback by any client. Texts are untrusted and of any length. */
export interface GivenFeedback {
  kind: 'given';
  client: Address;
  /** Counts the feedback of a client from 1. */
  index: bigint;
  value: bigint;
  valueDecimals: number;
  tag1: string;
  tag2: string;
  feedbackUri: string;
  feedbackHash: Hex;
  blockNumber: bigint;
  logIndex: number;
}

export type FeedbackEvent = GivenFeedback | (Pick<GivenFeedback, 'client' | 'index' | 'blockNumber' | 'logIndex'> & { kind: 'revoked' });

const GIVEN_EVENT = getAbiItem({ abi: reputationAbi, name: 'NewFeedback' });
const REVOKED_EVENT = getAbiItem({ abi: reputationAbi, name: 'FeedbackRevoked' });

/** Feedback events of an agent in chain order, range by range as `readLogRanges`. @throws OracleError CHAIN_UNREACHABLE */
export async function* readFeedbackEvents(
  { client, addresses }: Pick<Chain, 'client' | 'addresses'>,
  agentId: number,
  { from, to }: BlockRange,
): AsyncGenerator<BlockRange & { events: FeedbackEvent[] }, void> {
  // Filtered by the node: the registry is shared by all agents of a chain.
  const query = { address: addresses.reputationRegistry, args: { agentId: BigInt(agentId) } };
  const readKind = (event: AbiEvent, range: BlockRange) =>
    chainCall('Reading feedback events', () => requestLogs(client, { ...query, event }, range));
  const read = async (range: BlockRange) => (await Promise.all([readKind(GIVEN_EVENT, range), readKind(REVOKED_EVENT, range)])).flat();
  for await (const { logs, ...range } of readLogRanges(client, { from, to, read })) {
    const events = logs.map(({ eventName, args, blockNumber, logIndex }) => {
      const { clientAddress: client, feedbackIndex: index, feedbackURI: feedbackUri, ...rating } = args as unknown as FeedbackArgs;
      const common = { client, index, blockNumber, logIndex };
      if (eventName !== 'NewFeedback') return { kind: 'revoked' as const, ...common };
      const { value, valueDecimals, tag1, tag2, feedbackHash } = rating;
      return { kind: 'given' as const, ...common, value, valueDecimals, tag1, tag2, feedbackUri, feedbackHash };
    });
    events.sort((one, other) => Number(one.blockNumber - other.blockNumber) || one.logIndex - other.logIndex);
    yield { ...range, events };
  }
}

/** Those of a revocation are the first two. */
type FeedbackArgs = { clientAddress: Address; feedbackIndex: bigint; feedbackURI: string } & Pick<
  GivenFeedback,
  'value' | 'valueDecimals' | 'tag1' | 'tag2' | 'feedbackHash'
>;
