import type { Day } from '../forecast/day.ts';
import { shareReads } from '../platform/concurrency/shared-reads.ts';
import type { DayDoc } from './day-doc.ts';
import type { ForecastDoc } from './forecast-doc.ts';

export type DayFigures = Readonly<Pick<DayDoc, 'price' | 'context' | 'variance' | 'halfWidths'>>;

/** The newest forecast of a horizon that was not missed, with its day's public figures. Shared between callers, hence readonly. */
export interface NewestForecast {
  readonly forecast: Readonly<ForecastDoc>;
  readonly figures: DayFigures;
}

/** Null before the first. Concurrent callers share one read that starts after their call; a day's figures never change and are cached. */
export function createNewestForecastReader(record: {
  findLatest(horizonDays: number): Promise<ForecastDoc | null>;
  findDay(day: Day): Promise<DayDoc | null>;
}): (horizonDays: number) => Promise<NewestForecast | null> {
  let cached: (DayFigures & Pick<DayDoc, 'day' | 'inputsDigest'>) | null = null;

  async function readFigures({ day, inputsDigest }: ForecastDoc): Promise<DayFigures | null> {
    if (cached?.day === day && cached.inputsDigest === inputsDigest) return cached;
    const doc = await record.findDay(day);
    if (doc === null) return null;
    const { price, context, variance, halfWidths } = doc;
    cached = { day, inputsDigest: doc.inputsDigest, price, context, variance, halfWidths };
    return cached;
  }

  return shareReads(async (horizonDays: number) => {
    const forecast = await record.findLatest(horizonDays);
    const figures = forecast === null ? null : await readFigures(forecast);
    return forecast === null || figures === null ? null : { forecast, figures };
  });
}
