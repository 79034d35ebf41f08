import { OracleError } from '../platform/errors.ts';
import type { Day } from './day.ts';
import { Z_95 } from './math/normal.ts';
import type { Direction } from './signal.ts';

export type Outcome = 'WIN' | 'LOSS';
const MIN_PROBABILITY = 1e-12;

/** UP wins if the close at resolution is strictly higher than the close at window open; DOWN wins otherwise. */
export function scoreDirection(direction: Direction, closeAtOpen: number, closeAtResolution: number): Outcome {
  return (direction === 'UP') === closeAtResolution > closeAtOpen ? 'WIN' : 'LOSS';
}

export function brierScore(pUp: number, rose: boolean): number {
  return (pUp - (rose ? 1 : 0)) ** 2;
}

/** Natural-log loss of a probability, lower is better; clipped at 1e-12 so that a wrong certainty stays finite. */
export function boundedLogLoss(p: number, happened: boolean): number {
  return -Math.log(Math.max(happened ? p : 1 - p, MIN_PROBABILITY));
}

export function computeAccuracy(outcomes: readonly Outcome[]): number | null {
  if (outcomes.length === 0) return null;
  return outcomes.filter((outcome) => outcome === 'WIN').length / outcomes.length;
}

export interface Interval {
  low: number;
  high: number;
}

/** 95 % Wilson score interval of `hits` in `n` trials; [0, 1] without trials. @throws OracleError INPUT_INVALID unless 0 <= hits <= n */
export function wilsonInterval(hits: number, n: number): Interval {
  if (!(hits >= 0 && hits <= n)) throw new OracleError('INPUT_INVALID', `${hits} hits in ${n} trials`, { field: 'hits' });
  if (n === 0) return { low: 0, high: 1 };
  const share = hits / n;
  const z = Z_95;
  const weight = 1 + z ** 2 / n;
  const centre = (share + z ** 2 / (2 * n)) / weight;
  const half = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / weight;
  // Rounding may move the bounds past a share of 0 or 1.
  return { low: hits === 0 ? 0 : Math.max(0, centre - half), high: hits === n ? 1 : Math.min(1, centre + half) };
}

/**
 * 95 % interval of a share of outcomes, the same on every interface: Wilson's on the effective number of trials, since overlapping
 * windows are correlated. Without drift its coverage is about 95 %.
 * @throws OracleError INPUT_INVALID unless `share` is 0 to 1
 */
export function computeShareInterval(share: number, effectiveN: number): Interval {
  return wilsonInterval(share * effectiveN, effectiveN);
}

/** Runs in outcomes ordered from first to last: the current run of equal ones, null without outcomes, and the longest of wins. */
export function computeStreaks(outcomes: readonly Outcome[]) {
  let count = 0;
  let longestWin = 0;
  outcomes.forEach((outcome, index) => {
    count = outcome === outcomes[index - 1] ? count + 1 : 1;
    if (outcome === 'WIN') longestWin = Math.max(longestWin, count);
  });
  const last = outcomes.at(-1);
  return { current: last === undefined ? null : { type: last, count }, longestWin };
}

/**
 * Forecasts whose windows of `horizonDays` do not overlap, chosen greedily from the first: correlated outcomes overstate the sample.
 * Expects ascending days and keeps a repeated day once.
 */
export function selectNonOverlapping<T extends { day: Day }>(forecasts: readonly T[], horizonDays: number): T[] {
  const kept: T[] = [];
  for (const forecast of forecasts) {
    const last = kept.at(-1);
    if (last === undefined || forecast.day >= last.day + horizonDays) kept.push(forecast);
  }
  return kept;
}
