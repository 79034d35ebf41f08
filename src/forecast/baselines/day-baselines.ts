import { orElse } from '../../platform/errors.ts';
import type { Day } from '../day.ts';
import { computeVariance } from '../features/volatility.ts';
import type { DailyCloses } from '../fit/base-rates.ts';
import { getOrInsert } from '../get-or-insert.ts';
import { getBlockIndex, type HorizonDays } from '../model.ts';
import type { BaselineForecast, BaselineHistory } from './baseline.ts';
import { BASELINES, type BaselineName } from './baselines.ts';

/** 199 quantiles of the h-day log return by baseline; null where the history is too short for it. */
export type BaselineGrids = Record<BaselineName, Float64Array | null>;

type FittedBlock = (history: BaselineHistory) => BaselineForecast;

/** @param closes of every day from the first on, at least to the day before @param priceUsd at the forecast */
export type DayBaselines = (closes: DailyCloses, day: Day, priceUsd: number, horizonDays: HorizonDays) => BaselineGrids;

/** Forecasts of the baselines from the closes before a day and the price at its forecast; each block is fitted once. */
export function createDayBaselines(): DayBaselines {
  const fits = new Map<string, FittedBlock | null>();
  return (closes, day, priceUsd, horizonDays) => {
    const row = day - closes.firstDay;
    const history = toHistory({ ...closes, closes: appendPrice(closes.closes.subarray(0, row), priceUsd) });
    const block = getBlockIndex(day);
    const entries = BASELINES.map((baseline) => {
      const fitted = getOrInsert(fits, `${baseline.name} ${block} ${horizonDays}`, () =>
        tryFit(() => baseline.fitBlock(history, block, horizonDays)),
      );
      return [baseline.name, fitted?.(history)(row) ?? null];
    });
    return Object.fromEntries(entries) as BaselineGrids;
  };
}

function toHistory({ firstDay, closes }: DailyCloses): BaselineHistory {
  return { closes, features: { firstDay, v94: computeVariance(closes, 0.94) } };
}

function tryFit(compute: () => FittedBlock): FittedBlock | null {
  try {
    return compute();
  } catch (error) {
    return orElse<FittedBlock | null>('INPUT_INVALID', null)(error);
  }
}

function appendPrice(closes: Float64Array, priceUsd: number): Float64Array {
  const appended = new Float64Array(closes.length + 1);
  appended.set(closes);
  appended[closes.length] = priceUsd;
  return appended;
}
