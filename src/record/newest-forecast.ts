import { sharedReads } from '../shared-reads.ts';
import type { DayDoc } from './day-record.ts';
import type { ForecastDoc } from './forecast.ts';
import type { ForecastRecord } from './record.ts';

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
export function newestForecasts(record: Pick<ForecastRecord, 'latest' | 'day'>): (horizonDays: number) => Promise<NewestForecast | null> {
  let remembered: (DayFigures & Pick<DayDoc, 'day' | 'inputsDigest'>) | null = null;

  async function figuresOf({ day, inputsDigest }: ForecastDoc): Promise<DayFigures | null> {
    if (remembered?.day === day && remembered.inputsDigest === inputsDigest) return remembered;
    const doc = await record.day(day);
    if (doc === null) return null;
    remembered = { day, inputsDigest: doc.inputsDigest, price: doc.price, context: doc.context };
    return remembered;
  }

  return sharedReads(async (horizonDays: number) => {
    const forecast = await record.latest(horizonDays);
    const figures = forecast === null ? null : await figuresOf(forecast);
    return forecast === null || figures === null ? null : { forecast, figures };
  });
}
