import type { Hash } from 'viem';
import { quantilesOf } from '../../record/oracle/premium.ts';
import { type HorizonRecord, horizonRecord } from '../../record/oracle/signal.ts';
import { fullStatistics } from '../../record/track-record.ts';
import { type DocumentParts, PAYER, SOLD_HORIZON_DAYS } from './parts.ts';

/** The newest forecast of a horizon as payers are told it, with the record behind it. */
export interface SoldForecast extends HorizonRecord {
  forecastId: string;
  attestationUid: Hash | null;
}

/** @throws OracleError STEP_WAITING before the first forecast */
export async function soldForecast(parts: DocumentParts, horizonDays: number = SOLD_HORIZON_DAYS): Promise<SoldForecast> {
  const found = await horizonRecord(parts, horizonDays, PAYER);
  return { ...found, forecastId: found.newest._id, attestationUid: found.newest.attestation?.uid ?? null };
}

/** What a forecast is told with wherever it is sold: its values with what opens them, and its distribution. */
export function toldForecast({ signal, newest }: Pick<SoldForecast, 'signal' | 'newest'>) {
  return { forecast: signal, quantiles: quantilesOf(newest) };
}

/** What the record of its horizon is worth. */
export function statisticsOf({ statistics }: DocumentParts, { docs, newest }: Pick<SoldForecast, 'docs' | 'newest'>) {
  return fullStatistics(statistics, docs, newest.horizonDays);
}
