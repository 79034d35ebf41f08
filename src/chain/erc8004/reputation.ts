import { type Address, decodeEventLog, getAbiItem, type Hex, toEventSelector } from 'viem';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { Chain } from '../client.ts';
import { chainCall } from '../rpc/chain-call.ts';
import type { ConfirmedTransaction, Wallet } from '../tx/wallet.ts';
import { reputationAbi } from './abi.ts';
import { buildFeedbackDescription, type Feedback, type FeedbackDescription, giveFeedback } from './feedback.ts';

export interface OutcomeReport extends Pick<Feedback, 'endpoint' | 'feedbackHash'> {
  outcome: 'WIN' | 'LOSS';
  feedbackUri?: string;
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
      const rating = { value: FEEDBACK_VALUES[outcome], valueDecimals: FEEDBACK_DECIMALS };
      return buildFeedbackDescription(chain, { agentId: await agentId(), client: wallet.address, ...rating });
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
