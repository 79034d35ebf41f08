import type { Channel } from '../channels.ts';
import type { PaymentDoc } from '../ledger/ledger.ts';
import { type PaymentCause, parseCauseKey, type SettledPayment } from '../ledger/payment.ts';
import type { Movement } from './movements.ts';

export interface BookedPayment extends Omit<SettledPayment, 'resource' | 'ref'> {
  key: string;
}

export interface LedgerMatch {
  pairs: { booked: BookedPayment; movement: Movement }[];
  bookedOnly: BookedPayment[];
  chainOnly: Movement[];
}

export const CHANNEL_BY_CAUSE = { transfer: 'purchase', authorization: 'x402', job: 'agent-commerce' } as const satisfies Record<
  PaymentCause['kind'],
  Channel
>;

export function toBookedPayment(doc: PaymentDoc): BookedPayment {
  const { _id: key, channel, offering, amountMicros, asset, payer, payee, txHash, settledAt } = doc;
  const amount = BigInt(amountMicros.toString());
  return { key, cause: parseCauseKey(key), channel, offering, amountMicros: amount, asset, payer, payee, txHash, settledAt };
}

export function matchLedger(booked: readonly BookedPayment[], movements: readonly Movement[]): LedgerMatch {
  const unmatched = new Set(movements);
  const byKey = Map.groupBy(movements, ({ key }) => key);
  const pairs: LedgerMatch['pairs'] = [];
  const bookedOnly: BookedPayment[] = [];
  for (const entry of booked) {
    const movement = byKey.get(entry.key)?.find((one) => unmatched.has(one) && isMovementOf(one, entry));
    if (movement === undefined) {
      bookedOnly.push(entry);
      continue;
    }
    unmatched.delete(movement);
    pairs.push({ booked: entry, movement });
  }
  return { pairs, bookedOnly, chainOnly: [...unmatched] };
}

function isMovementOf({ cause, txHash, asset, from, to }: Movement, { payer, payee, ...entry }: BookedPayment): boolean {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  // A job's payment comes from its contract; the ledger names the client as payer.
  const samePayer = cause.kind === 'job' || same(from, payer);
  return samePayer && same(txHash, entry.txHash) && same(asset, entry.asset) && same(to, payee);
}
