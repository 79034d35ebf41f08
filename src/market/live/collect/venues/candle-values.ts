import type { DailyCandle, DatedValue } from '../../sources/source.ts';

/** The closes of finished candles. */
export function toCloses(candles: readonly DailyCandle[]): DatedValue[] {
  return candles.flatMap(({ day, closeUsd, isFinished, providerAtMs }) => (isFinished ? [{ day, value: closeUsd, providerAtMs }] : []));
}

/** Highs and lows of the finished candles that have a valid range. */
export function toExtremes(candles: readonly DailyCandle[]): { highs: DatedValue[]; lows: DatedValue[] } {
  const ranged = candles.flatMap(({ day, range, isFinished, providerAtMs }) =>
    isFinished && range ? [{ day, ...range, providerAtMs }] : [],
  );
  return {
    highs: ranged.map(({ day, highUsd: value, providerAtMs }) => ({ day, value, providerAtMs })),
    lows: ranged.map(({ day, lowUsd: value, providerAtMs }) => ({ day, value, providerAtMs })),
  };
}
