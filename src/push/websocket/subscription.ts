import { type HorizonName, horizonName } from '../../forecast/model.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import type { AnyEvent } from '../events/event.ts';

/** What a connection is sent. */
export interface Subscription {
  events: readonly PushedName[];
  /** Null: all. Events without a horizon pass in any case. */
  horizons: readonly HorizonName[] | null;
}

/** Each name once, in the order of the list of names; what is left out is not filtered by. */
export function subscriptionOf({ events, horizons }: { events?: readonly PushedName[]; horizons?: readonly HorizonName[] }): Subscription {
  return {
    events: PUSHED_NAMES.filter((name) => events?.includes(name) ?? true),
    horizons: horizons === undefined ? null : [...new Set(horizons)].sort(),
  };
}

/** Whether an event belongs to what a wallet has asked for. What is one wallet's own business goes to that one only. */
export function isWanted({ type, horizonDays, wallet }: AnyEvent, { events, horizons }: Subscription, owner: string): boolean {
  if (wallet !== null && wallet !== owner) return false;
  if (!events.includes(type)) return false;
  return horizons === null || horizonDays === null || horizons.includes(horizonName(horizonDays));
}
