import { isOracleError, OracleError } from '../../errors.ts';
import type { Host } from '../host.ts';
import { minute } from '../text/amounts.ts';
import type { SignedPayment } from './authorization.ts';
import type { Coin } from './coins.ts';
import { dropPayment, type Purchase, paymentFile } from './pending.ts';
import { useOf } from './use.ts';

/** A payment that was refused, and has ended. */
interface Ended {
  purchase: Purchase;
  payment: SignedPayment;
  coins: readonly Coin[];
  /** What the service says of it. */
  refusal: OracleError;
}

/** That it was not used, and by whose word. @returns words for people @throws OracleError where it was, or still may be */
export async function notUsed(host: Host, ended: Ended): Promise<string> {
  const use = await useOf(ended.payment, ended.coins);
  if (use === 'used') throw usedUnanswered(host, ended);
  if (use === 'open') throw stillOpen(ended.refusal);
  if (use === 'unused') return 'It can no longer be used, and was not, says the chain: a new one is made.';
  return "It can no longer be used. That it was not is the service's word: --rpc asks the chain. A new one is made.";
}

/** How a call ends that has paid and got nothing, not even in time. Only what the chain knows to be unused is forgotten. */
export async function endedUnanswered(host: Host, ended: Ended): Promise<OracleError> {
  const { purchase, payment, coins, refusal } = ended;
  const use = await useOf(payment, coins).catch(untoldOf);
  if (use === 'used') return usedUnanswered(host, ended);
  if (use === 'open') return stillOpen(refusal);
  if (use === 'untold') {
    const hint =
      'It is not known whether it was paid: the payment has ended, and the chain could not be asked (--rpc). It is kept for the next call.';
    return withHint(refusal, hint);
  }
  await dropPayment(host, purchase, payment);
  return withHint(refusal, 'Nothing was paid: the payment has ended, and the chain says that it was not used.');
}

/** A chain that does not answer tells nothing. */
function untoldOf(error: unknown): 'untold' {
  if (!isOracleError(error)) throw error;
  return 'untold';
}

function usedUnanswered(host: Host, { purchase, payment, refusal }: Ended): OracleError {
  const { nonce, to } = payment.payload.authorization;
  const what = `The payment was used, says the chain, and the service gives nothing for it (${refusal.code}: ${refusal.message})`;
  return new OracleError('CONFLICT', what, {
    suggestedAction: `Ask the seller ${to} about the authorization ${nonce}. To pay a second time, remove ${paymentFile(host, purchase)}.`,
    cause: refusal,
  });
}

function stillOpen(refusal: OracleError): OracleError {
  return withHint(
    refusal,
    'By the clock of the chain the payment may still be used: the next call sends the same one again, and no second one.',
  );
}

/** The refusal of a payment that may still be used. */
export function refused(refusal: OracleError, end: Date): OracleError {
  const again = `That nothing was paid is the service's word. Until ${minute(end)} UTC the next call sends the same payment again, and no second one.`;
  return withHint(refusal, `${refusal.suggestedAction ?? ''} ${again}`.trim());
}

export function unknownYet(error: unknown): unknown {
  if (!isOracleError(error)) return error;
  const hint = 'It is not known yet whether it was paid. Call again: the same payment is sent, and no second one.';
  return new OracleError(error.code === 'SERVICE_UNREACHABLE' ? 'TRANSACTION_UNCONFIRMED' : error.code, error.message, {
    suggestedAction: hint,
    cause: error,
  });
}

export function underWay(): OracleError {
  return new OracleError('CONFLICT', 'Another call is paying for the same answer at this moment', {
    suggestedAction: 'Call again: it goes on with that payment.',
  });
}

function withHint(refusal: OracleError, suggestedAction: string): OracleError {
  return new OracleError(refusal.code, refusal.message, { suggestedAction, cause: refusal });
}
