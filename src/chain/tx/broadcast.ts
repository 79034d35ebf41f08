import { HttpRequestError, TimeoutError } from 'viem';
import { OracleError } from '../../errors.ts';
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
    const what = `Broadcasting from ${account.address}`;
    if (NO_MONEY.test(message)) throw noFunds(what, error);
    if (isTransport(error)) throw chainError(what, error);
    refusals.set(attempt.hash, message.trim());
    return 'refused';
  }
}

/** In words of this service: those of the node stay in the cause. */
function noFunds(what: string, error: unknown): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', `${what} failed: insufficient funds for gas`, {
    cause: chainError(what, error).cause,
    suggestedAction: "Send the wallet some of the chain's own currency.",
  });
}

function isTransport(error: unknown): boolean {
  return error instanceof HttpRequestError || error instanceof TimeoutError;
}
