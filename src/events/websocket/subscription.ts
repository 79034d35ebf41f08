import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { DEFAULT_HORIZONS, type HorizonFields, parseHorizonChoice } from '../horizon-choice.ts';
import type { AnyEvent } from '../log/event.ts';

/** What a connection is sent. */
export interface ConnectionSubscription {
  events: readonly PushedName[];
  /** Null: all. Events without a horizon pass in any case. */
  horizons: readonly HorizonName[] | null;
}

/** Each name once, in the order of the list of names. Without `events` all are sent, without a horizon those of the default. */
export function buildSubscription({ events, ...choice }: { events?: readonly PushedName[] } & HorizonFields): ConnectionSubscription {
  const horizons = parseHorizonChoice(choice);
  return {
    events: PUSHED_NAMES.filter((name) => events?.includes(name) ?? true),
    horizons: horizons === undefined ? DEFAULT_HORIZONS : horizons,
  };
}

/** Whether an event belongs to what a wallet has asked for. What is one wallet's own business goes to that one only. */
export function matchesSubscription(
  { type, horizonDays, wallet }: AnyEvent,
  { events, horizons }: ConnectionSubscription,
  owner: string,
): boolean {
  if (wallet !== null && wallet !== owner) return false;
  if (!events.includes(type)) return false;
  return horizons === null || horizonDays === null || horizons.includes(formatHorizonName(horizonDays));
}
