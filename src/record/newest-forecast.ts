import type { Day } from '../forecast/day.ts';
import { shareReads } from '../platform/concurrency/shared-reads.ts';
import type { DayDoc } from './day-doc.ts';
import type { ForecastDoc } from './forecast-doc.ts';

/** What everybody may know of what a day's forecasts were made from. */
export type DayFigures = Readonly<Pick<DayDoc, 'price' | 'context'>>;

/** The newest forecast of a horizon, missed days passed over, and the public figures of its day. It is shared: nobody may change it. */
export interface NewestForecast {
  readonly forecast: Readonly<ForecastDoc>;
  readonly figures: DayFigures;
}

/**
 * Reads the newest forecast of a horizon, one read for all who ask at once; null before the first. A forecast is read after it was asked
 * for. The figures of its day are written once and never changed: those of the last day are remembered.
 */
export function createNewestForecastReader(record: {
  findLatest(horizonDays: number): Promise<ForecastDoc | null>;
  findDay(day: Day): Promise<DayDoc | null>;
}): (horizonDays: number) => Promise<NewestForecast | null> {
  let cached: (DayFigures & Pick<DayDoc, 'day' | 'inputsDigest'>) | null = null;

  async function readFigures({ day, inputsDigest }: ForecastDoc): Promise<DayFigures | null> {
    if (cached?.day === day && cached.inputsDigest === inputsDigest) return cached;
    const doc = await record.findDay(day);
    if (doc === null) return null;
    cached = { day, inputsDigest: doc.inputsDigest, price: doc.price, context: doc.context };
    return cached;
  }

  return shareReads(async (horizonDays: number) => {
    const forecast = await record.findLatest(horizonDays);
    const figures = forecast === null ? null : await readFigures(forecast);
    return forecast === null || figures === null ? null : { forecast, figures };
  });
}
