import { isOracleError, OracleError } from '../../../platform/errors.ts';
import type { CliContext } from '../context.ts';
import { formatMinute } from '../text/amounts.ts';
import type { SignedPayment } from './authorization.ts';
import { readAuthorizationState } from './authorization-state.ts';
import type { Coin } from './coins.ts';
import { getPaymentFile, type Purchase, removePendingPayment } from './pending-payment.ts';

/** A payment that was rejected and has expired. */
interface EndedPayment {
  purchase: Purchase;
  payment: SignedPayment;
  coins: readonly Coin[];
  /** Answer of the service. */
  rejection: OracleError;
}

/** A notice that the payment was not used, and whether the chain confirms it. @throws OracleError when it was used, or still may be */
export async function describeUnused(context: CliContext, ended: EndedPayment): Promise<string> {
  const use = await readAuthorizationState(ended.payment, ended.coins);
  if (use === 'used') throw usedPaymentError(context, ended);
  if (use === 'open') throw openPaymentError(ended.rejection);
  if (use === 'unused') return 'It can no longer be used, and was not, says the chain: a new one is made.';
  return "It can no longer be used. That it was not is the service's word: --rpc asks the chain. A new one is made.";
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
      'It is not known whether it was paid: the payment has ended, and the chain could not be asked (--rpc). It is kept for the next call.';
    return withHint(rejection, hint);
  }
  await removePendingPayment(context, purchase, payment);
  return withHint(rejection, 'Nothing was paid: the payment has ended, and the chain says that it was not used.');
}

function usedPaymentError(context: CliContext, { purchase, payment, rejection }: EndedPayment): OracleError {
  const { nonce, to } = payment.payload.authorization;
  const what = `The payment was used, says the chain, and the service gives nothing for it (${rejection.code}: ${rejection.message})`;
  return new OracleError('CONFLICT', what, {
    suggestedAction: `Ask the seller ${to} about the authorization ${nonce}. To pay a second time, remove ${getPaymentFile(context, purchase)}.`,
    cause: rejection,
  });
}

function openPaymentError(rejection: OracleError): OracleError {
  return withHint(
    rejection,
    'By the clock of the chain the payment may still be used: the next call sends the same one again, and no second one.',
  );
}

/** The rejection of a payment that may still be used. */
export function rejectedPaymentError(rejection: OracleError, end: Date): OracleError {
  const again = `That nothing was paid is the service's word. Until ${formatMinute(end)} UTC the next call sends the same payment again, and no second one.`;
  return withHint(rejection, `${rejection.suggestedAction ?? ''} ${again}`.trim());
}

export function toUnconfirmedError(error: unknown): unknown {
  if (!isOracleError(error)) return error;
  const hint = 'It is not known yet whether it was paid. Call again: the same payment is sent, and no second one.';
  return new OracleError(error.code === 'SERVICE_UNREACHABLE' ? 'TRANSACTION_UNCONFIRMED' : error.code, error.message, {
    suggestedAction: hint,
    cause: error,
  });
}

export function paymentInProgressError(): OracleError {
  return new OracleError('CONFLICT', 'Another call is paying for the same answer at this moment', {
    suggestedAction: 'Call again: it goes on with that payment.',
  });
}

function withHint(rejection: OracleError, suggestedAction: string): OracleError {
  return new OracleError(rejection.code, rejection.message, { suggestedAction, cause: rejection });
}
