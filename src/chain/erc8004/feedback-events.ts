import { type Address, getAbiItem, type Hex } from 'viem';
import type { Chain } from '../client.ts';
import { readLogs } from '../rpc/logs.ts';
import { reputationAbi } from './abi.ts';

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

export interface RevokedFeedback extends Pick<GivenFeedback, 'client' | 'index' | 'blockNumber' | 'logIndex'> {
  kind: 'revoked';
}

export type FeedbackEvent = GivenFeedback | RevokedFeedback;

/** Feedback events of an agent in an inclusive range of blocks, in chain order. @throws OracleError CHAIN_UNREACHABLE */
export async function readFeedbackEvents(
  chain: Pick<Chain, 'client' | 'addresses'>,
  agentId: number,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<FeedbackEvent[]> {
  // Filtered by the node: the registry is shared by all agents of a chain.
  const query = { address: chain.addresses.reputationRegistry, args: { agentId: BigInt(agentId) }, ...range };
  const [given, revoked] = await Promise.all([
    readLogs(chain, { ...query, event: getAbiItem({ abi: reputationAbi, name: 'NewFeedback' }) }),
    readLogs(chain, { ...query, event: getAbiItem({ abi: reputationAbi, name: 'FeedbackRevoked' }) }),
  ]);
  const events: FeedbackEvent[] = [
    ...given.map(({ args, blockNumber, logIndex }) => toGivenFeedback(args, { blockNumber, logIndex })),
    ...revoked.map(({ args, blockNumber, logIndex }) => ({
      kind: 'revoked' as const,
      client: args.clientAddress,
      index: args.feedbackIndex,
      blockNumber,
      logIndex,
    })),
  ];
  return events.sort((one, other) => Number(one.blockNumber - other.blockNumber) || one.logIndex - other.logIndex);
}

type GivenArgs = Pick<GivenFeedback, 'value' | 'valueDecimals' | 'tag1' | 'tag2' | 'feedbackHash'> & {
  clientAddress: Address;
  feedbackIndex: bigint;
  feedbackURI: string;
};

function toGivenFeedback(
  { clientAddress, feedbackIndex, feedbackURI, value, valueDecimals, tag1, tag2, feedbackHash }: GivenArgs,
  position: Pick<GivenFeedback, 'blockNumber' | 'logIndex'>,
): GivenFeedback {
  const rating = { value, valueDecimals, tag1, tag2 };
  return { kind: 'given', client: clientAddress, index: feedbackIndex, ...rating, feedbackUri: feedbackURI, feedbackHash, ...position };
}
