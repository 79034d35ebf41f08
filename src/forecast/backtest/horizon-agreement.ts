import { formatHorizonName, HORIZONS, type HorizonDays, type HorizonName } from '../model.ts';
import { type Signal, toDirection } from '../signal.ts';
import { type BacktestHistory, computeOutOfSampleFolds, type OutOfSampleDay } from './out-of-sample.ts';

/** How much a forecast of a shorter horizon says of that of the longest on the same day, by models that had not seen it. Shares 0 to 1. */
export interface HorizonAgreement {
  horizon: HorizonName;
  longest: HorizonName;
  /** Days that both were forecast on. */
  n: number;
  sameDirection: number;
  sameSignal: number;
  /** Share of days that had the longest horizon's most frequent direction and signal: what is guessed without the shorter forecast. */
  mostFrequentDirection: number;
  mostFrequentSignal: number;
  /** Of both P(up), -1 to 1; null where one of them never moves. */
  correlation: number | null;
}

/**
 * The shorter horizons against the longest; empty for a history without a complete fold.
 * @throws OracleError INPUT_INVALID when closes and features differ in length or prices never move
 */
export function compareHorizons(history: BacktestHistory): HorizonAgreement[] {
  const days = HORIZONS.map((horizonDays) => ({
    horizonDays,
    said: computeOutOfSampleFolds(history, horizonDays).flatMap((fold) => fold.days),
  }));
  const longest = days[days.length - 1];
  return days.slice(0, -1).flatMap(({ horizonDays, said: forecastDays }) => {
    const byDay = new Map(longest.said.map((one) => [one.day, one]));
    const pairs = forecastDays.flatMap((one): Pair[] => (byDay.has(one.day) ? [[one, byDay.get(one.day)!]] : []));
    return pairs.length === 0 ? [] : [computeAgreement(pairs, [horizonDays, longest.horizonDays])];
  });
}

/** What the shorter and the longest horizon said of one day. */
type Pair = readonly [shorter: OutOfSampleDay, longest: OutOfSampleDay];

function computeAgreement(pairs: readonly Pair[], [shorter, longest]: readonly [HorizonDays, HorizonDays]): HorizonAgreement {
  const share = (holds: (pair: Pair) => boolean) => pairs.filter(holds).length / pairs.length;
  return {
    horizon: formatHorizonName(shorter),
    longest: formatHorizonName(longest),
    n: pairs.length,
    sameDirection: share(([a, b]) => toDirection(a.pUp) === toDirection(b.pUp)),
    sameSignal: share(([a, b]) => a.signal === b.signal),
    mostFrequentDirection: computeModalShare(pairs, ([, { pUp }]) => toDirection(pUp)),
    mostFrequentSignal: computeModalShare(pairs, ([, { signal }]): Signal => signal),
    correlation: computeCorrelation(pairs.map(([a, b]) => [a.pUp, b.pUp])),
  };
}

function computeModalShare(pairs: readonly Pair[], of: (pair: Pair) => string): number {
  const counts = [...Map.groupBy(pairs, of).values()].map(({ length }) => length);
  return Math.max(...counts) / pairs.length;
}

/** Pearson's. */
function computeCorrelation(points: readonly (readonly [number, number])[]): number | null {
  const [meanX, meanY] = [0, 1].map((side) => points.reduce((sum, point) => sum + point[side], 0) / points.length);
  const products = (of: (x: number, y: number) => number) => points.reduce((sum, [x, y]) => sum + of(x - meanX, y - meanY), 0);
  const spread = Math.sqrt(products((x) => x * x) * products((_, y) => y * y));
  return spread === 0 ? null : products((x, y) => x * y) / spread;
}
