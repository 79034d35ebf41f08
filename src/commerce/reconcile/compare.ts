import type { Address, Hash } from 'viem';
import type { Channel } from '../channel.ts';
import type { PaymentDoc } from '../ledger.ts';
import { causeOfKey, type PaymentCause } from '../payment.ts';
import type { Movement } from './movements.ts';

/** An entry of the ledger. */
export interface Booked {
  key: string;
  cause: PaymentCause;
  channel: Channel;
  offering: string;
  amountMicros: bigint;
  asset: Address;
  payer: Address;
  payee: Address;
  txHash: Hash;
  settledAt: Date;
}

export interface Comparison {
  /** Booked, and on chain: to the unit, or not. */
  pairs: { booked: Booked; movement: Movement }[];
  /** Booked, and not found on chain. */
  bookedOnly: Booked[];
  /** On chain, and not booked. */
  chainOnly: Movement[];
}

/** The channel that money of a kind comes through. */
export const CHANNEL_OF = { transfer: 'purchase', authorization: 'x402', job: 'agent-commerce' } as const satisfies Record<
  PaymentCause['kind'],
  Channel
>;

export function bookedOf({ _id: key, channel, offering, amountMicros, asset, payer, payee, txHash, settledAt }: PaymentDoc): Booked {
  const amount = BigInt(amountMicros.toString());
  return { key, cause: causeOfKey(key), channel, offering, amountMicros: amount, asset, payer, payee, txHash, settledAt };
}

/** Sets entries of the ledger against what has arrived, each with at most one of the other side. */
export function compare(booked: readonly Booked[], movements: readonly Movement[]): Comparison {
  const left = new Set(movements);
  const byKey = Map.groupBy(movements, ({ key }) => key);
  const pairs: Comparison['pairs'] = [];
  const bookedOnly: Booked[] = [];
  for (const entry of booked) {
    const movement = byKey.get(entry.key)?.find((one) => left.has(one) && isOf(one, entry));
    if (movement === undefined) {
      bookedOnly.push(entry);
      continue;
    }
    left.delete(movement);
    pairs.push({ booked: entry, movement });
  }
  return { pairs, bookedOnly, chainOnly: [...left] };
}

function isOf({ cause, txHash, asset, from, to }: Movement, { payer, payee, ...entry }: Booked): boolean {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  // A job is paid by its contract, and booked as its client's.
  const samePayer = cause.kind === 'job' || same(from, payer);
  return samePayer && same(txHash, entry.txHash) && same(asset, entry.asset) && same(to, payee);
}
