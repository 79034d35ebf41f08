import type { Regime } from '../../forecast/regime/regime.ts';
import { OracleError } from '../../platform/errors.ts';
import type { CommittedValues, ForecastDoc } from '../forecast-doc.ts';
import { mayRead, type ViewOptions } from '../forecast-visibility.ts';

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
