import { z } from 'zod';
import { type Day, formatDay, parseDay } from '../../../../forecast/day.ts';
import { parseHorizonDays, recordHorizonInput } from '../../../../forecast/horizon-input.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { formatForecastId } from '../../../../record/forecast-doc.ts';
import type { ForecastFacts } from '../../../../views/forecast/forecast-facts.ts';
import { dateInput } from '../../server/parsing/parameters.ts';
import { type ForecastFactsDeps, toForecastFacts } from './to-forecast-facts.ts';

export const FORECAST_PARAMS = z.object({ date: dateInput, horizon: recordHorizonInput });

export type ForecastParams = z.output<typeof FORECAST_PARAMS>;

/** A forecast as every reader may see it, with one read of at most 12 documents by their ids. @throws OracleError NOT_FOUND naming the field */
export async function readForecast(deps: ForecastFactsDeps, { date, horizon }: ForecastParams): Promise<ForecastFacts> {
  const [day, horizonDays] = [parseDay(date), parseHorizonDays(horizon)];
  const [docs, dayDoc] = await Promise.all([deps.record.listByIds(listIds(day, horizonDays)), deps.record.findDay(day)]);
  const doc = docs.find(({ _id }) => _id === formatForecastId(day, horizonDays));
  if (doc === undefined) throw await buildMissingError(deps, formatDay(day));
  return toForecastFacts(deps, { doc, neighbours: docs.filter((one) => one !== doc), day: dayDoc });
}

/** The days before, within and after its window of the same horizon, and all horizons of the day. */
function listIds(day: Day, horizonDays: number): string[] {
  const days = Array.from({ length: horizonDays + 2 }, (_, index) => formatForecastId(day - 1 + index, horizonDays));
  return [...new Set([...days, ...HORIZONS.map((other) => formatForecastId(day, other))])];
}

async function buildMissingError({ record }: ForecastFactsDeps, date: string): Promise<OracleError> {
  const [first, last] = await Promise.all([record.findGenesisDay(), record.findLastDay()]);
  const range = first === null || last === null ? 'has no day yet' : `runs from ${formatDay(first)} to ${formatDay(last)}`;
  return new OracleError('NOT_FOUND', `There is no forecast of ${date}`, { field: 'date', suggestedAction: `The record ${range}.` });
}
