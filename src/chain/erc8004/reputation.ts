import { type Address, decodeEventLog, encodeFunctionData, getAbiItem, type Hex, toEventSelector } from 'viem';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { reputationAbi } from './abi.ts';

/** Feedback as ERC-8004 takes it. */
export interface Feedback {
  agentId: number;
  /** In units of 10^-valueDecimals. */
  value: number;
  valueDecimals: number;
  tag1: string;
  tag2: string;
  /** URI of the endpoint that was used. */
  endpoint: string;
  /** Where the details are served, or empty. */
  feedbackUri: string;
  /** Hash of the details. */
  feedbackHash: Hex;
}

/** The outcome of a settled wager. */
export interface OutcomeReport extends Pick<Feedback, 'endpoint' | 'feedbackHash'> {
  outcome: 'WIN' | 'LOSS';
  feedbackUri?: string;
}

/** What the off-chain file of a report must say, with the types of ERC-8004. */
export interface FeedbackDescription extends Pick<Feedback, 'agentId' | 'value' | 'valueDecimals'> {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  /** The reporter, CAIP-10. */
  clientAddress: string;
}

/** A report that is on chain. */
export interface ConfirmedReport {
  txHash: Hex;
  /** Block time. */
  at: Date;
  /** As the registry logged it, of the first report under this key; null where its event is none of ERC-8004. */
  feedbackHash: Hex | null;
}

export interface Reporter {
  readonly address: Address;
  /** The report of an outcome, for its off-chain file. */
  describe(outcome: OutcomeReport['outcome']): Promise<FeedbackDescription>;
  /**
   * Errors as `Wallet.send`; CHAIN_REVERTED when the reporter owns or operates the agent ("Self-feedback not allowed").
   * @param over proves that the outcome may be published
   */
  report(key: string, report: OutcomeReport, over: ReachedInstant): Promise<ConfirmedReport>;
}

export interface ReputationState {
  /** Outcomes that were logged. */
  total: number;
  /** Those that were a WIN. */
  positive: number;
  /** 0 to 100, two decimals, truncated; null without feedback. */
  averageScore: number | null;
  reporter: Address;
}

export interface ReporterOptions {
  chain: Chain;
  wallet: Wallet;
  /** Whom the feedback is about; may register it first. */
  agentId(): Promise<number>;
}

/** What all outcomes are filed under; the second tag is the outcome. */
const FEEDBACK_TAG = 'wagerOutcome';
/** With two decimals, the registry's truncating average keeps hundredths of a percent. */
const FEEDBACK_DECIMALS = 2;
const FEEDBACK_VALUES = { WIN: 10_000, LOSS: 0 } as const;

const NEW_FEEDBACK_TOPIC = toEventSelector(getAbiItem({ abi: reputationAbi, name: 'NewFeedback' }));

/** Logs outcomes to the Reputation Registry (ERC-8004), from a wallet that is not the agent's. */
export function createReporter({ chain, wallet, agentId }: ReporterOptions): Reporter {
  return {
    address: wallet.address,
    async describe(outcome) {
      return {
        agentRegistry: `eip155:${chain.chainId}:${chain.addresses.identityRegistry}`,
        agentId: await agentId(),
        clientAddress: `eip155:${chain.chainId}:${wallet.address}`,
        value: FEEDBACK_VALUES[outcome],
        valueDecimals: FEEDBACK_DECIMALS,
      };
    },
    async report(key, { outcome, endpoint, feedbackHash, feedbackUri = '' }, _over) {
      const scored = { value: FEEDBACK_VALUES[outcome], valueDecimals: FEEDBACK_DECIMALS, tag1: FEEDBACK_TAG, tag2: outcome };
      const feedback = { agentId: await agentId(), ...scored, endpoint, feedbackUri, feedbackHash };
      const sent = await giveFeedback(chain, wallet, { key, feedback });
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

/** Calls `giveFeedback` of the Reputation Registry, once per key. Errors as `Wallet.send`. */
export function giveFeedback(
  { addresses }: Chain,
  wallet: Wallet,
  { key, feedback }: { key: string; feedback: Feedback },
): Promise<ConfirmedTransaction> {
  const { agentId, value, valueDecimals, tag1, tag2, endpoint, feedbackUri, feedbackHash } = feedback;
  const args = [BigInt(agentId), BigInt(value), valueDecimals, tag1, tag2, endpoint, feedbackUri, feedbackHash] as const;
  const data = encodeFunctionData({ abi: reputationAbi, functionName: 'giveFeedback', args });
  return wallet.send({ key, to: addresses.reputationRegistry, data });
}

/**
 * The outcomes that a reporter logged about an agent. Without any, all is zero.
 * @throws OracleError CHAIN_UNREACHABLE
 */
export async function readReputation(chain: Chain, agentId: number, reporter: Address): Promise<ReputationState> {
  const [all, won] = await Promise.all([
    readSummary(chain, { agentId, reporter }),
    readSummary(chain, { agentId, reporter, outcome: 'WIN' }),
  ]);
  return { total: all.count, positive: won.count, averageScore: all.count === 0 ? null : all.average, reporter };
}

/** The registry refuses an empty list of clients: one can only ask what somebody said. */
async function readSummary(
  { client, addresses }: Chain,
  { agentId, reporter, outcome = '' }: { agentId: number; reporter: Address; outcome?: 'WIN' | 'LOSS' | '' },
): Promise<{ count: number; average: number }> {
  const call = { address: addresses.reputationRegistry, abi: reputationAbi, functionName: 'getSummary' } as const;
  const [count, value, decimals] = await chainCall('Reading the reputation', () =>
    client.readContract({ ...call, args: [BigInt(agentId), [reporter], FEEDBACK_TAG, outcome] }),
  );
  return { count: Number(count), average: Number(value) / 10 ** decimals };
}
