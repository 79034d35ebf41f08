import type { Day } from '../../day.ts';
import { brierScore, type Interval } from '../../scoring.ts';
import { isHit } from '../call-statistics.ts';
import type { ScoredForecast } from '../scored-forecast.ts';
import { estimateRatio, type RatioEstimate, type RatioPart, type RatioSums, sumRatioParts } from './ratio-sums.ts';

/** Days of the rolling window. */
export const ROLLING_DAYS = 90;

/** A resolved forecast with what the series need of its distribution; null for a day without. */
export interface SeriesForecast extends ScoredForecast {
  central: { crps: number; climatologyCrps: number | null; in80: boolean } | null;
}

const SHARE: Interval = { low: 0, high: 1 };
const RATIO: Interval = { low: 0, high: Number.POSITIVE_INFINITY };
const DIFFERENCE: Interval = { low: -1, high: 1 };

type Part = Omit<RatioPart, 'day'> | null;

interface SeriesMeasure {
  /** Of a day; null where it does not count. */
  part(forecast: SeriesForecast): Part;
  range: Interval;
  /** Whether the value is one minus the ratio. */
  isSkill?: true;
}

const ofCalls = (value: (forecast: SeriesForecast) => number) => (forecast: SeriesForecast) =>
  forecast.call === null ? null : { numerator: value(forecast), denominator: 1 };
const toNumber = (isTrue: boolean) => (isTrue ? 1 : 0);

/** What the series show; higher is better but for `alwaysUp`, the reference, and `coverage80`, which should be .8. */
export const SERIES_MEASURES = {
  hitRate: { part: ofCalls((one) => toNumber(isHit(one))), range: SHARE },
  alwaysUp: { part: ofCalls(({ rose }) => toNumber(rose)), range: SHARE },
  hitAdvantage: { part: ofCalls((one) => toNumber(isHit(one)) - toNumber(one.rose)), range: DIFFERENCE },
  brierSkill: {
    part: ({ pUp, climatology, rose }) =>
      climatology === null ? null : { numerator: brierScore(pUp, rose), denominator: brierScore(climatology, rose) },
    range: RATIO,
    isSkill: true,
  },
  crpsSkill: {
    part: ({ central }) =>
      central === null || central.climatologyCrps === null ? null : { numerator: central.crps, denominator: central.climatologyCrps },
    range: RATIO,
    isSkill: true,
  },
  coverage80: { part: ({ central }) => central && { numerator: toNumber(central.in80), denominator: 1 }, range: SHARE },
} as const satisfies Record<string, SeriesMeasure>;

export type SeriesMeasureName = keyof typeof SERIES_MEASURES;
export const SERIES_MEASURE_NAMES = Object.keys(SERIES_MEASURES) as SeriesMeasureName[];

export type SeriesValues = Record<SeriesMeasureName, RatioEstimate>;

export interface SeriesPoint {
  day: Day;
  /** Resolved forecasts up to this day. */
  n: number;
  cumulative: SeriesValues;
  /** Over the last `ROLLING_DAYS` days. */
  rolling: SeriesValues;
}

/** One point a resolved day. @param forecasts of one horizon by ascending day */
export function computeScoreSeries(forecasts: readonly SeriesForecast[]): SeriesPoint[] {
  const sums = Object.fromEntries(SERIES_MEASURE_NAMES.map((name) => [name, sumMeasure(forecasts, name)])) as MeasureSums;
  const firstDay = forecasts[0]?.day ?? 0;
  return forecasts.map(({ day }, index) => ({
    day,
    n: index + 1,
    cumulative: estimateAll(sums, { from: firstDay, through: day }),
    rolling: estimateAll(sums, { from: day - ROLLING_DAYS + 1, through: day }),
  }));
}

type MeasureSums = Record<SeriesMeasureName, RatioSums>;

function sumMeasure(forecasts: readonly SeriesForecast[], name: SeriesMeasureName): RatioSums {
  const measure: SeriesMeasure = SERIES_MEASURES[name];
  const parts = forecasts.flatMap((forecast): RatioPart[] => {
    const part = measure.part(forecast);
    return part === null ? [] : [{ day: forecast.day, ...part }];
  });
  return sumRatioParts(parts);
}

function estimateAll(sums: MeasureSums, days: { from: Day; through: Day }): SeriesValues {
  const entries = SERIES_MEASURE_NAMES.map((name) => {
    const { range, isSkill }: SeriesMeasure = SERIES_MEASURES[name];
    const estimate = estimateRatio(sums[name], days, range);
    return [name, isSkill ? toSkill(estimate) : estimate];
  });
  return Object.fromEntries(entries) as SeriesValues;
}

function toSkill({ value, low, high }: RatioEstimate): RatioEstimate {
  const skill = (ratio: number | null) => (ratio === null ? null : 1 - ratio);
  return { value: skill(value), low: skill(high), high: skill(low) };
}
