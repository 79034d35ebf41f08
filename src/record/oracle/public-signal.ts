import type { Caller } from '../../auth/caller.ts';
import type { Market } from '../../market/market.ts';
import { fromCents } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { type ViewOptions, viewForecast } from '../forecast-visibility.ts';
import type { DayFigures } from '../newest-forecast.ts';
import type { PublicSignal } from '../schemas/signal.ts';
import { notYetMadeError } from './made-forecast.ts';

export interface PublicSignalDeps {
  record: ForecastRecord;
  market: Pick<Market, 'source'>;
  viewFor(caller: Caller): ViewOptions;
}

/** The newest forecast of a horizon cut to the caller, with its day's market context. @throws OracleError STEP_WAITING */
export async function getPublicSignal({ record, market, viewFor }: PublicSignalDeps, horizonDays: number, caller: Caller) {
  const newest = await record.findNewest(horizonDays);
  if (newest === null) throw notYetMadeError('forecast');
  const { forecast, figures } = newest;
  if (figures.price === null) throw notYetMadeError('forecast');
  const { signal, regime, modelVersion, ...view } = viewForecast(forecast, viewFor(caller));
  if (signal === null || regime === null || modelVersion === null) throw notYetMadeError('forecast');
  return {
    success: true as const,
    signal,
    direction: view.direction,
    confidence: view.confidence,
    btcPrice: fromCents(figures.price.cents),
    ...toContextFields(figures),
    regime,
    modelVersion,
    model_version: modelVersion,
    timestamp: view.timestamp,
    horizon: view.horizon,
    predictionId: view.predictionId,
    status: view.status,
    windowOpensAt: view.windowOpensAt,
    resolvesAt: view.resolvesAt,
    attestationUid: forecast.attestation?.uid ?? null,
    replayed: view.replayed,
    source: market.source,
  };
}

function toContextFields({ context }: DayFigures): Pick<PublicSignal, 'fearGreed' | 'fearGreedLabel' | 'etfFlows7d'> {
  return {
    fearGreed: context?.fearGreed ?? null,
    fearGreedLabel: context?.fearGreedLabel ?? null,
    etfFlows7d: context?.etfFlows7dUsd ?? null,
  };
}
