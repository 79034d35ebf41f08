import { type Address, encodeFunctionData, getAddress, type Hex } from 'viem';
import type { Chain } from '../client.ts';
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

/** Required members of the off-chain feedback file, with the types of ERC-8004; `createdAt` is the sixth. */
export interface FeedbackDescription extends Pick<Feedback, 'agentId' | 'value' | 'valueDecimals'> {
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

/** Calls `giveFeedback`, once per key. Throws as `Wallet.send`. */
export function giveFeedback(
  { addresses }: Chain,
  wallet: Wallet,
  { key, feedback }: { key: string; feedback: Feedback },
): Promise<ConfirmedTransaction> {
  return wallet.send({ key, to: addresses.reputationRegistry, data: encodeFeedback(feedback) });
}
