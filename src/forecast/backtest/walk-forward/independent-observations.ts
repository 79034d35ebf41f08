import { computeEffectiveCount } from '../../math/effective-count.ts';
import type { Interval } from '../../scoring.ts';
import { toDirection } from '../../signal.ts';
import type { OutOfSampleDay } from '../out-of-sample.ts';

/** How much evidence a year of daily calls of one horizon is. */
export interface IndependentObservations {
  /**
   * Independent observations a year, from how much the share of days right varies between runs of three windows on end: an estimate,
   * and no more than there are days. Null where it cannot be told.
   */
  independentPerYear: number | null;
  /** 95 % interval of it, as that variation is itself estimated, from so many runs. */
  independentPerYear95: Interval | null;
  /** The same as the overlap of the windows alone would have it. */
  independentPerYearByOverlap: number;
  /** How long an advantage would have to last to be proven. */
  proof: YearsToProve[];
}

export interface YearsToProve {
  /** Percentage points above what is known without the model. */
  points: number;
  /** Null where `independentPerYear` is. */
  years: number | null;
}

const DAYS_PER_YEAR = 365.25;

/** Windows of a run: the least that holds nearly all that overlapping windows share. */
const RUN_WINDOWS = 3;

/** Fewer runs say nothing about how they vary. */
const MIN_RUNS = 30;

const ADVANTAGES = [3, 10];

/** Quantiles of the normal distribution: a two-sided test at 5 %, and a power of 80 %. */
const Z_TEST = 1.959963984540054;
const Z_POWER = 0.8416212335729143;

/** What the out-of-sample days of one horizon say about how much calling its direction every day is worth. */
export function estimateIndependentObservations(days: readonly OutOfSampleDay[], horizonDays: number): IndependentObservations {
  const right = days.map(({ pUp, rose }) => (toDirection(pUp) === 'UP') === rose);
  const runDays = RUN_WINDOWS * horizonDays;
  const estimate = estimateObservationsPerYear(right, runDays);
  const independentPerYear = estimate === null ? null : capAtDaily(estimate);
  const alone = computeEffectiveCount(
    days.map(({ day }) => day),
    horizonDays,
  );
  return {
    independentPerYear,
    independentPerYear95: estimate === null ? null : computeYearlyInterval(estimate, days.length / runDays),
    independentPerYearByOverlap: (alone / days.length) * DAYS_PER_YEAR,
    proof: ADVANTAGES.map((points) => ({
      points,
      years: independentPerYear === null ? null : computeObservationsToProve(points / 100) / independentPerYear,
    })),
  };
}

/** Independent observations of a share near one half that prove it is by so much above a known one: (z_test + z_power)^2 / 4 / advantage^2. */
export function computeObservationsToProve(advantage: number): number {
  return ((Z_TEST + Z_POWER) ** 2 * 0.25) / advantage ** 2;
}

function capAtDaily(observations: number): number {
  return Math.min(DAYS_PER_YEAR, observations);
}

/**
 * What the true number may be: means of overlapping runs have a variance with 3/2 degrees of freedom for each run that fits in
 * (Meketon and Schmeiser, 1984), the logarithm of which has a standard deviation of about sqrt(2 / degrees).
 */
function computeYearlyInterval(estimate: number, runs: number): Interval {
  const factor = Math.exp(Z_TEST * Math.sqrt(2 / (1.5 * runs)));
  return { low: capAtDaily(estimate / factor), high: capAtDaily(estimate * factor) };
}

/**
 * Days a year over how many times the mean of runs of days varies more than that of as many independent ones: the variance of the
 * circular block bootstrap, in closed form. Null for few runs, and where these do not vary.
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
