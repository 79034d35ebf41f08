import type { Hash } from 'viem';
import { type HorizonRecord, readHorizonRecord } from '../../record/oracle/oracle-signal.ts';
import { toQuantiles } from '../../record/oracle/premium-signal.ts';
import { toFullStatistics } from '../../record/scorecard/track-record.ts';
import { type DocumentDeps, PAYER_CALLER, SOLD_HORIZON_DAYS } from './deps.ts';

/** The newest forecast of a horizon as visible to payers, with its record. */
export interface SoldForecast extends HorizonRecord {
  forecastId: string;
  attestationUid: Hash | null;
}

/** @throws OracleError STEP_WAITING before the first forecast */
export async function readSoldForecast(deps: DocumentDeps, horizonDays: number = SOLD_HORIZON_DAYS): Promise<SoldForecast> {
  const found = await readHorizonRecord(deps, horizonDays, PAYER_CALLER);
  return { ...found, forecastId: found.newest._id, attestationUid: found.newest.attestation?.uid ?? null };
}

export function toForecastSection({ signal, newest }: Pick<SoldForecast, 'signal' | 'newest'>) {
  return { forecast: signal, quantiles: toQuantiles(newest) };
}

export function toSoldStatistics({ figures }: Pick<SoldForecast, 'figures'>) {
  return toFullStatistics(figures);
}
