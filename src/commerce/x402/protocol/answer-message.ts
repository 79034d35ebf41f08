import type { Hash } from 'viem';

/** Message that a payer signs to fetch a paid answer again, with the timestamp exactly as in the request. */
export function buildAnswerMessage(txHash: Hash, timestamp: number): string {
  return `Fetch svc answer: ${txHash.toLowerCase()}:${timestamp}`;
}
