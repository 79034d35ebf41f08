import { HttpRequestError, TimeoutError } from 'viem';
import type { SignedAttempt } from '../journal.ts';
import { chainError, nodeMessage } from '../rpc-error.ts';
import type { WalletContext } from './context.ts';

/**
 * `sent`: the node has it, perhaps since before. `refused`: this transaction or another one with its nonce is mined, its fee is
 * too low, or the node wants it later; what is on chain tells which.
 */
export type BroadcastOutcome = 'sent' | 'refused';

const ALREADY_THERE = /already known|already imported|known transaction|already exists|already in/;
const NO_MONEY = /insufficient funds|insufficient balance/;

/**
 * Hands a signed transaction to the node; repeating it is harmless.
 * @throws OracleError CHAIN_UNREACHABLE when there is no answer, or no money for gas in the wallet.
 */
export async function broadcast({ chain, account, refusals }: WalletContext, attempt: SignedAttempt): Promise<BroadcastOutcome> {
  try {
    await chain.client.request({ method: 'eth_sendRawTransaction', params: [attempt.raw] });
    return 'sent';
  } catch (error) {
    const message = nodeMessage(error);
    if (ALREADY_THERE.test(message)) return 'sent';
    if (isTransport(error) || NO_MONEY.test(message)) throw chainError(`Broadcasting from ${account.address}`, error);
    refusals.set(attempt.hash, message.trim());
    return 'refused';
  }
}

function isTransport(error: unknown): boolean {
  return error instanceof HttpRequestError || error instanceof TimeoutError;
}
