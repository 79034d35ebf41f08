import { computeCorrelation, shareOf } from '../math/mean.ts';
import { formatHorizonName, HORIZONS, type HorizonDays, type HorizonName } from '../model.ts';
import { type Signal, toDirection } from '../signal.ts';
import { type BacktestHistory, computeOutOfSampleFolds, type OutOfSampleDay } from './out-of-sample.ts';

/** How well a shorter horizon's out-of-sample forecast predicts that of the longest on the same day. Shares 0 to 1. */
export interface HorizonAgreement {
  horizon: HorizonName;
  longest: HorizonName;
  n: number;
  sameDirection: number;
  sameSignal: number;
  /** Share of the longest horizon's most frequent direction and signal: the hit rate of a guess without the shorter forecast. */
  mostFrequentDirection: number;
  mostFrequentSignal: number;
  /** Of both P(up), -1 to 1; null where one is constant. */
  correlation: number | null;
}

/**
 * The shorter horizons against the longest; empty for a history without a complete fold.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function compareHorizons(history: BacktestHistory): HorizonAgreement[] {
  const days = HORIZONS.map((horizonDays) => ({
    horizonDays,
    forecasts: computeOutOfSampleFolds(history, horizonDays).flatMap((fold) => fold.days),
  }));
  const longest = days[days.length - 1];
  return days.slice(0, -1).flatMap(({ horizonDays, forecasts }) => {
    const byDay = new Map(longest.forecasts.map((one) => [one.day, one]));
    const pairs = forecasts.flatMap((one): Pair[] => (byDay.has(one.day) ? [[one, byDay.get(one.day)!]] : []));
    return pairs.length === 0 ? [] : [computeAgreement(pairs, [horizonDays, longest.horizonDays])];
  });
}

type Pair = readonly [shorter: OutOfSampleDay, longest: OutOfSampleDay];

function computeAgreement(pairs: readonly Pair[], [shorter, longest]: readonly [HorizonDays, HorizonDays]): HorizonAgreement {
  return {
    horizon: formatHorizonName(shorter),
    longest: formatHorizonName(longest),
    n: pairs.length,
    sameDirection: shareOf(pairs, ([a, b]) => toDirection(a.pUp) === toDirection(b.pUp)),
    sameSignal: shareOf(pairs, ([a, b]) => a.signal === b.signal),
    mostFrequentDirection: computeModalShare(pairs, ([, { pUp }]) => toDirection(pUp)),
    mostFrequentSignal: computeModalShare(pairs, ([, { signal }]): Signal => signal),
    correlation: computeCorrelation(pairs.map(([a, b]) => [a.pUp, b.pUp])),
  };
}

function computeModalShare(pairs: readonly Pair[], of: (pair: Pair) => string): number {
  const counts = [...Map.groupBy(pairs, of).values()].map(({ length }) => length);
  return Math.max(...counts) / pairs.length;
}
