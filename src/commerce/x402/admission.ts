import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClaimedPayer } from '../../chain/stablecoin/claimed-payer.ts';
import type { FailedSettlementStore } from './failed-settlements.ts';
import type { IncomingPayment } from './paid-call.ts';
import { requireValidNow } from './protocol/payment-payload.ts';
import { isKeySigned } from './settlement/authorization-signature.ts';

export interface AdmissionDeps {
  failures: FailedSettlementStore;
  now(): Date;
}

/** Recovers the signer of an admitted payment. */
export type IdentifyPayer = () => Promise<ClaimedPayer>;

/** Before any chain read. @throws PaymentRequiredError for an authorization that is not valid now; OracleError RATE_LIMITED */
export async function admitPayment({ failures, now }: AdmissionDeps, incoming: IncomingPayment): Promise<IdentifyPayer> {
  const { call, payment, quote } = incoming;
  requireValidNow(payment, quote, now());
  const wallet = payment.authorization.from;
  const belowLimit = failures.requireBelowLimit({ payer: wallet, address: call.address }, now());
  const identify = async () => ({ wallet, isProven: await isKeySigned(payment, quote.requirements) });
  if ([true, false].every((isProven) => call.hasRejectionAllowance({ wallet, isProven }))) {
    await belowLimit;
    return async () => {
      // Recovery blocks the thread for about a millisecond: requests that were just made are sent before.
      await nextTurn();
      return identify();
    };
  }
  // A rejection of the caller's allowance comes first.
  belowLimit.catch(() => undefined);
  const payer = await identify();
  call.requireRejectionAllowance(payer);
  await belowLimit;
  return async () => payer;
}
