import { isOracleError, OracleError } from '../errors.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import type { Regime } from '../forecast/regime.ts';
import { getSignalTimeMs } from '../market/feed.ts';
import type { CommittedValues, ForecastDoc } from './forecast-doc.ts';
import type { RecordProjection } from './projection.ts';
import { mayRead, type ViewOptions } from './visibility.ts';

export type MadeForecast = ForecastDoc & { values: CommittedValues; regime: Regime; modelVersion: string };

export function isMadeForecast(doc: ForecastDoc): doc is MadeForecast {
  return doc.values !== null && doc.regime !== null && doc.modelVersion !== null;
}

/** @param newest forecast that was not missed; null before the first, @throws OracleError STEP_WAITING */
export function requireMade(newest: ForecastDoc | null): MadeForecast {
  if (newest === null || !isMadeForecast(newest)) throw notYetMadeError('forecast');
  return newest;
}

export function notYetMadeError(what: 'forecast' | 'regime'): OracleError {
  const suggestedAction = 'Retry after 21:35 UTC; GET /ready shows what is missing.';
  return new OracleError('STEP_WAITING', `There is no ${what} yet`, { suggestedAction });
}

/** Defence in depth behind the tier check of each transport. @throws OracleError TIER_REQUIRED */
export function requireReadable(doc: ForecastDoc, options: ViewOptions): void {
  if (mayRead(doc, options)) return;
  const requirement = 'Unresolved forecasts are available to the Basic and Premium tiers and to payers';
  throw new OracleError('TIER_REQUIRED', requirement, { field: 'Authorization' });
}

export interface MissingPart {
  part: string;
  reason: string;
}

/** The loaded value, or null with the reason noted: one unavailable part must not fail the whole response. */
export async function loadOrNoteMissing<Value>(missing: MissingPart[], part: string, load: () => Promise<Value>): Promise<Value | null> {
  try {
    return await load();
  } catch (error) {
    if (!isOracleError(error) || error.code === 'INTERNAL') throw error;
    missing.push({ part, reason: error.message });
    return null;
  }
}

/** From then on a missing forecast counts as late. */
const OVERDUE_AFTER_MS = 3 * 60_000;

/** Stale as well while the process may lack changes of the record. */
export function computeFreshness(
  { day, signalAt }: { day: Day; signalAt: Date },
  { known, lastCovered }: { known: Pick<RecordProjection, 'listDays' | 'isStale'>; lastCovered: Day | null },
  now: Date,
) {
  const lastDay = known.listDays().at(-1)?.day ?? day;
  return {
    ageSeconds: Math.max(0, Math.round((now.getTime() - signalAt.getTime()) / 1000)),
    stale: known.isStale || now.getTime() >= getSignalTimeMs(day + 1) + OVERDUE_AFTER_MS,
    missedSince: lastDay > day ? formatDay(day + 1) : null,
    nextSignalAt: computeNextSignalAt(now, { lastDay, lastCovered })?.toISOString() ?? null,
  };
}

/** The first day from today on without a forecast: one made manually before its time is final. Null beyond `lastCovered`. */
export function computeNextSignalAt(now: Date, { lastDay, lastCovered }: { lastDay: Day | null; lastCovered: Day | null }): Date | null {
  const today = toDay(now.getTime());
  const due = getSignalTimeMs(today) > now.getTime() ? today : today + 1;
  const day = lastDay === null ? due : Math.max(due, lastDay + 1);
  return lastCovered !== null && day > lastCovered ? null : new Date(getSignalTimeMs(day));
}
