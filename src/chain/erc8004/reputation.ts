import { type Address, decodeEventLog, encodeFunctionData, getAbiItem, type Hex, toEventSelector } from 'viem';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { reputationAbi } from './abi.ts';

export interface Feedback {
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

export interface OutcomeReport extends Pick<Feedback, 'endpoint' | 'feedbackHash'> {
  outcome: 'WIN' | 'LOSS';
  feedbackUri?: string;
}

/** Required fields of the off-chain feedback file, with the types of ERC-8004. */
export interface FeedbackDescription extends Pick<Feedback, 'agentId' | 'value' | 'valueDecimals'> {
  /** `eip155:<chain id>:<address of the identity registry>`. */
  agentRegistry: string;
  clientAddress: string;
}

export interface ConfirmedReport {
  txHash: Hex;
  /** Block time. */
  at: Date;
  /** From the event of the first report under this key; null when that is no ERC-8004 event. */
  feedbackHash: Hex | null;
}

export interface Reporter {
  readonly address: Address;
  describe(outcome: OutcomeReport['outcome']): Promise<FeedbackDescription>;
  /** @param over proof that the outcome may be published @throws as `Wallet.send`; CHAIN_REVERTED for "Self-feedback not allowed" */
  report(key: string, report: OutcomeReport, over: ReachedInstant): Promise<ConfirmedReport>;
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
      return {
        agentRegistry: `eip155:${chain.chainId}:${chain.addresses.identityRegistry}`,
        agentId: await agentId(),
        clientAddress: `eip155:${chain.chainId}:${wallet.address}`,
        value: FEEDBACK_VALUES[outcome],
        valueDecimals: FEEDBACK_DECIMALS,
      };
    },
    async report(key, { outcome, endpoint, feedbackHash, feedbackUri = '' }, _over) {
      const feedback = {
        agentId: await agentId(),
        value: FEEDBACK_VALUES[outcome],
        valueDecimals: FEEDBACK_DECIMALS,
        tag1: FEEDBACK_TAG,
        tag2: outcome,
        endpoint,
        feedbackUri,
        feedbackHash,
      };
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

/** Calls `giveFeedback` of the Reputation Registry, once per key. Throws as `Wallet.send`. */
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

/** From one reporter; zeros without feedback. @throws OracleError CHAIN_UNREACHABLE */
export async function readReputation(chain: Chain, agentId: number, reporter: Address): Promise<ReputationState> {
  const [all, won] = await Promise.all([
    readSummary(chain, { agentId, reporter }),
    readSummary(chain, { agentId, reporter, outcome: 'WIN' }),
  ]);
  return { total: all.count, positive: won.count, averageScore: all.count === 0 ? null : all.average, reporter };
}

/** The registry rejects an empty list of clients, so a summary always names one. */
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
