import { type HorizonName, horizonName } from '../../forecast/model.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import type { AnyEvent } from '../events/event.ts';
import { DEFAULT_HORIZONS, type HorizonFields, readHorizonChoice } from '../horizon-choice.ts';

/** What a connection is sent. */
export interface Subscription {
  events: readonly PushedName[];
  /** Null: all. Events without a horizon pass in any case. */
  horizons: readonly HorizonName[] | null;
}

/** Each name once, in the order of the list of names. Without `events` all are sent, without a horizon those of the default. */
export function subscriptionOf({ events, ...choice }: { events?: readonly PushedName[] } & HorizonFields): Subscription {
  const horizons = readHorizonChoice(choice);
  return {
    events: PUSHED_NAMES.filter((name) => events?.includes(name) ?? true),
    horizons: horizons === undefined ? DEFAULT_HORIZONS : horizons,
  };
}

/** Whether an event belongs to what a wallet has asked for. What is one wallet's own business goes to that one only. */
export function isWanted({ type, horizonDays, wallet }: AnyEvent, { events, horizons }: Subscription, owner: string): boolean {
  if (wallet !== null && wallet !== owner) return false;
  if (!events.includes(type)) return false;
  return horizons === null || horizonDays === null || horizons.includes(horizonName(horizonDays));
}
