import type { Hash } from 'viem';

/** The text that a wallet signs to get an answer again that it has paid for: the hash in lower case, the time exactly as it is sent. */
export function buildAnswerMessage(txHash: Hash, timestamp: number): string {
  return `Fetch svc answer: ${txHash.toLowerCase()}:${timestamp}`;
}
