import { HttpRequestError, TimeoutError } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import { getNodeMessage, toChainError } from '../rpc/chain-call.ts';
import type { WalletContext } from './context.ts';
import type { SignedAttempt } from './journal.ts';

/** `sent`: perhaps earlier. `rejected`: nonce used, fee too low, or too early; only the chain decides which. */
export type BroadcastOutcome = 'sent' | 'rejected';

const ALREADY_KNOWN_MESSAGE = /already known|already imported|known transaction|already exists|already in/;
const INSUFFICIENT_FUNDS_MESSAGE = /insufficient funds|insufficient balance/;

/** Idempotent. @throws OracleError CHAIN_UNREACHABLE when the node does not answer, or the wallet has no funds for gas. */
export async function broadcast({ chain, account, nodeRejections }: WalletContext, attempt: SignedAttempt): Promise<BroadcastOutcome> {
  try {
    await chain.client.request({ method: 'eth_sendRawTransaction', params: [attempt.raw] });
    return 'sent';
  } catch (error) {
    const message = getNodeMessage(error);
    if (ALREADY_KNOWN_MESSAGE.test(message)) return 'sent';
    const what = `Broadcasting from ${account.address}`;
    if (INSUFFICIENT_FUNDS_MESSAGE.test(message)) throw insufficientFundsError(what, error);
    if (error instanceof HttpRequestError || error instanceof TimeoutError) throw toChainError(what, error);
    nodeRejections.set(attempt.hash, message.trim());
    return 'rejected';
  }
}

/** The node's own message stays in the cause. */
function insufficientFundsError(what: string, error: unknown): OracleError {
  return new OracleError('CHAIN_UNREACHABLE', `${what} failed: insufficient funds for gas`, {
    cause: toChainError(what, error).cause,
    suggestedAction: "Send the wallet some of the chain's own currency.",
  });
}
