import { formatHorizonName, type HorizonName } from '../../forecast/model.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import { DEFAULT_HORIZONS, type HorizonFields, parseHorizonChoice } from '../horizon-choice.ts';
import type { AnyEvent } from '../log/event.ts';

export interface ConnectionSubscription {
  events: readonly PushedName[];
  /** Null: all. Events without a horizon always match. */
  horizons: readonly HorizonName[] | null;
}

/** Defaults: all events, and the default horizon. */
export function buildSubscription({ events, ...choice }: { events?: readonly PushedName[] } & HorizonFields): ConnectionSubscription {
  const horizons = parseHorizonChoice(choice);
  return {
    events: PUSHED_NAMES.filter((name) => events?.includes(name) ?? true),
    horizons: horizons === undefined ? DEFAULT_HORIZONS : horizons,
  };
}

export function matchesSubscription(event: AnyEvent, { events, horizons }: ConnectionSubscription, owner: string): boolean {
  const { type, horizonDays, wallet } = event;
  if (wallet !== null && wallet !== owner) return false;
  if (!events.includes(type)) return false;
  return horizons === null || horizonDays === null || horizons.includes(formatHorizonName(horizonDays));
}
