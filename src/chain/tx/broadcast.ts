import { HttpRequestError, TimeoutError } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import { getNodeMessage, toChainError } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import type { SignedAttempt } from './journal.ts';

/**
 * `sent`: the node has it, perhaps since before. `refused`: this transaction or another one with its nonce is mined, its fee is
 * too low, or the node wants it later; what is on chain tells which.
 */
export type BroadcastOutcome = 'sent' | 'refused';

const ALREADY_KNOWN_MESSAGE = /already known|already imported|known transaction|already exists|already in/;
const INSUFFICIENT_FUNDS_MESSAGE = /insufficient funds|insufficient balance/;

/**
 * Hands a signed transaction to the node; repeating it is harmless.
 * @throws OracleError CHAIN_UNREACHABLE when there is no answer, or no money for gas in the wallet.
 */
export async function broadcast(
  { chain, account, nodeRejections: refusals }: WalletContext,
  attempt: SignedAttempt,
): Promise<BroadcastOutcome> {
  try {
    await chain.client.request({ method: 'eth_sendRawTransaction', params: [attempt.raw] });
    return 'sent';
  } catch (error) {
    const message = getNodeMessage(error);
    if (ALREADY_KNOWN_MESSAGE.test(message)) return 'sent';
    const what = `Broadcasting from ${account.address}`;
    if (INSUFFICIENT_FUNDS_MESSAGE.test(message)) throw insufficientFundsError(what, error);
    if (isTransportError(error)) throw toChainError(what, error);
    refusals.set(attempt.hash, message.trim());
    return 'refused';
  }
}

/** In words of this service: those of the node stay in the cause. */
function insufficientFundsError(what: string, error: unknown): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', `${what} failed: insufficient funds for gas`, {
    cause: toChainError(what, error).cause,
    suggestedAction: "Send the wallet some of the chain's own currency.",
  });
}

function isTransportError(error: unknown): boolean {
  return error instanceof HttpRequestError || error instanceof TimeoutError;
}
