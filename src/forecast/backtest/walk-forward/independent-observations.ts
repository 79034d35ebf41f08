import { countEffective } from '../../math/effective-count.ts';
import { Z_95 } from '../../math/normal.ts';
import type { Interval } from '../../scoring.ts';
import { isDirectionRight, type OutOfSampleDay } from '../out-of-sample.ts';

/** Evidence in a year of daily calls of one horizon. */
export interface IndependentObservations {
  /** Estimated from the variance of the hit rate between runs, at most one a day; null with too few runs. */
  independentPerYear: number | null;
  independentPerYear95: Interval | null;
  /** Independent observations a year by the overlap of the windows alone. */
  independentPerYearByOverlap: number;
  /** Time needed to prove an advantage in percentage points; null where `independentPerYear` is. */
  proof: { points: number; years: number | null }[];
}

const DAYS_PER_YEAR = 365.25;
/** Windows of a run: the minimum that captures nearly all of the overlap's correlation. */
const RUN_WINDOWS = 3;
/** With fewer runs their variance cannot be estimated. */
const MIN_RUNS = 30;
const ADVANTAGES = [3, 10];
/** Normal quantile of a power of 80 %. */
const Z_POWER = 0.8416212335729143;

/** Estimates from the out-of-sample days of one horizon, each with its likelier direction as a call. */
export function estimateIndependentObservations(days: readonly OutOfSampleDay[], horizonDays: number): IndependentObservations {
  const right = days.map(isDirectionRight);
  const runDays = RUN_WINDOWS * horizonDays;
  const estimate = estimateObservationsPerYear(right, runDays);
  const independentPerYear = estimate === null ? null : capAtDaily(estimate);
  return {
    independentPerYear,
    independentPerYear95: estimate === null ? null : computeYearlyInterval(estimate, days.length / runDays),
    independentPerYearByOverlap: (countEffective(days, horizonDays) / days.length) * DAYS_PER_YEAR,
    proof: ADVANTAGES.map((points) => ({
      points,
      years: independentPerYear === null ? null : computeObservationsToProve(points / 100) / independentPerYear,
    })),
  };
}

/** Observations that prove, at 5 % two-sided, a share near one half to exceed a known one: (z_test + z_power)^2 / 4 / advantage^2. */
export function computeObservationsToProve(advantage: number): number {
  return ((Z_95 + Z_POWER) ** 2 * 0.25) / advantage ** 2;
}

function capAtDaily(observations: number): number {
  return Math.min(DAYS_PER_YEAR, observations);
}

/**
 * The variance of overlapping-run means has 3/2 degrees of freedom for each run that fits in (Meketon and Schmeiser, 1984); its logarithm
 * has a standard deviation of about sqrt(2 / degrees).
 */
function computeYearlyInterval(estimate: number, runs: number): Interval {
  const factor = Math.exp(Z_95 * Math.sqrt(2 / (1.5 * runs)));
  return { low: capAtDaily(estimate / factor), high: capAtDaily(estimate * factor) };
}

/**
 * Days a year divided by the variance inflation of run means over independent days, which is the variance of the circular block bootstrap
 * in closed form. Null for few or constant runs.
 */
function estimateObservationsPerYear(right: readonly boolean[], runDays: number): number | null {
  const n = right.length;
  if (n < MIN_RUNS * runDays) return null;
  const share = right.filter(Boolean).length / n;
  let squares = 0;
  let run = right.slice(0, runDays).filter(Boolean).length;
  for (let first = 0; first < n; first++) {
    squares += (run - runDays * share) ** 2;
    run += Number(right[(first + runDays) % n]) - Number(right[first]);
  }
  const inflation = squares / n / runDays / (share * (1 - share));
  return inflation > 0 && Number.isFinite(inflation) ? DAYS_PER_YEAR / inflation : null;
}
