import type { Address, Hex } from 'viem';
import { chainCall } from '../../../chain/rpc/chain-call.ts';
import { stablecoinAbi } from '../../../chain/stablecoin/stablecoin.ts';
import { findCoin } from '../../../payer/coins.ts';
import type { SignedPayment } from '../../../payer/payment-signer.ts';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { CliContext } from '../context.ts';
import { formatMinute } from '../text/amounts.ts';
import { type Coin, createRpcClient } from './coins.ts';
import { getPaymentFile, type Purchase, removePendingPayment } from './pending-payment.ts';

/** `open`: not used, and still valid by the clock of the chain. `unknown`: no endpoint of the chain is known. */
type AuthorizationState = 'used' | 'unused' | 'open' | 'unknown';

interface EndedPayment {
  purchase: Purchase;
  payment: SignedPayment;
  coins: readonly Coin[];
  rejection: OracleError;
}

/** A notice that the payment was not used, and whether the chain confirms it. @throws OracleError when it was used, or still may be */
export async function describeUnused(context: CliContext, ended: EndedPayment): Promise<string> {
  const use = await readAuthorizationState(ended.payment, ended.coins);
  if (use === 'used') throw usedPaymentError(context, ended);
  if (use === 'open') throw openPaymentError(ended.rejection);
  if (use === 'unused') return 'It expired unused according to the chain. A new one is signed.';
  return 'It has expired. Only the service claims that it was not used; --rpc checks the chain. A new one is signed.';
}

/** The error of a call whose payment has expired without an answer. The payment is deleted only when the chain confirms that it is unused. */
export async function toEndedPaymentError(context: CliContext, ended: EndedPayment): Promise<OracleError> {
  const { purchase, payment, coins, rejection } = ended;
  const use = await readAuthorizationState(payment, coins).catch((error: unknown) => {
    if (!isOracleError(error)) throw error;
    return 'unknown' as const;
  });
  if (use === 'used') return usedPaymentError(context, ended);
  if (use === 'open') return openPaymentError(rejection);
  if (use === 'unknown') {
    const hint =
      'It is not known whether it was paid: the payment has expired, and the chain could not be read (--rpc). It is kept for the next call.';
    return withHint(rejection, hint);
  }
  await removePendingPayment(context, purchase, payment);
  return withHint(rejection, 'Nothing was paid: the payment expired unused according to the chain.');
}

function usedPaymentError(context: CliContext, { purchase, payment, rejection }: EndedPayment): OracleError {
  const { nonce, to } = payment.payload.authorization;
  const what = `The payment was used on chain, but the service returned no answer (${rejection.code}: ${rejection.message})`;
  return new OracleError('CONFLICT', what, {
    suggestedAction: `Ask the seller ${to} about the authorization ${nonce}. To pay again, remove ${getPaymentFile(context, purchase)}.`,
    cause: rejection,
  });
}

function openPaymentError(rejection: OracleError): OracleError {
  return withHint(rejection, 'By the clock of the chain the payment may still be used. The next call sends the same payment again.');
}

export function rejectedPaymentError(rejection: OracleError, end: Date): OracleError {
  const again = `Only the service claims that nothing was paid. Until ${formatMinute(end)} UTC the next call sends the same payment again.`;
  return withHint(rejection, `${rejection.suggestedAction ?? ''} ${again}`.trim());
}

export function toUnconfirmedError(error: unknown): unknown {
  if (!isOracleError(error)) return error;
  const hint = 'It is not known yet whether it was paid. Call again to send the same payment.';
  return new OracleError(error.code === 'SERVICE_UNREACHABLE' ? 'TRANSACTION_UNCONFIRMED' : error.code, error.message, {
    suggestedAction: hint,
    cause: error,
  });
}

export function paymentInProgressError(): OracleError {
  return new OracleError('CONFLICT', 'Another call is paying for the same answer', {
    suggestedAction: 'Call again to continue with that payment.',
  });
}

function withHint(rejection: OracleError, suggestedAction: string): OracleError {
  return new OracleError(rejection.code, rejection.message, { suggestedAction, cause: rejection });
}

/** The on-chain state of an authorization (EIP-3009), without trusting the seller. @throws OracleError CHAIN_UNREACHABLE, CHAIN_REVERTED */
async function readAuthorizationState({ accepted, payload }: SignedPayment, coins: readonly Coin[]): Promise<AuthorizationState> {
  const { asset, network } = accepted as { asset: Address; network: string };
  const rpcUrl = findCoin(coins, { asset, chainId: Number(network.split(':')[1]) })?.rpcUrl;
  if (rpcUrl == null) return 'unknown';
  const client = createRpcClient(rpcUrl);
  const { from, nonce, validBefore } = payload.authorization;
  // On a quiet chain the newest block is old; the pending block is the one that could still use it.
  const { timestamp } = await chainCall('Reading the clock of the chain', () => client.getBlock({ blockTag: 'pending' }));
  const args = [from as Address, nonce as Hex] as const;
  const call = { address: asset, abi: stablecoinAbi, functionName: 'authorizationState', args } as const;
  const isUsed = await chainCall('Reading what became of the payment', () => client.readContract(call));
  return isUsed ? 'used' : timestamp < BigInt(validBefore) ? 'open' : 'unused';
}
