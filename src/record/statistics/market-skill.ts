import type { Day } from '../../forecast/day.ts';
import { blockBootstrap } from '../../forecast/statistics/block-bootstrap.ts';
import type { Difference } from '../../forecast/statistics/call-statistics.ts';
import type { CrowdPin } from '../crowd/pins.ts';
import { toldScore } from '../crowd/told-score.ts';
import { weeklyComparison } from '../crowd/weekly-comparison.ts';

/** Brier skill of the oracle over a prediction market, a pair a week, on the strike closest to the money. */
export interface MarketSkill extends Difference {
  /** Settled weeks; none shares its expiry with another. */
  weeks: number;
  oracleBrier: number;
  marketBrier: number;
}

/**
 * Skill of the oracle over the market on the weeks whose forecasts everybody may know; null before the first that is settled. The
 * interval resamples weeks, which do not overlap, and needs five of them.
 */
export function marketSkillOf(pins: readonly CrowdPin[], through: Day): MarketSkill | null {
  const { weeks } = weeklyComparison(pins, through);
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [{ market, oracle }])).toReversed();
  const columns = [pairs.map(({ oracle }) => oracle.brier), pairs.map(({ market }) => market.brier)];
  const [oracleSum, marketSum] = columns.map((column) => column.reduce((sum, score) => sum + score, 0));
  if (marketSum === 0) return null;
  const interval = blockBootstrap({ columns, blockDays: 1, statistic: ([oracle, market]) => 1 - oracle / market });
  return {
    weeks: pairs.length,
    oracleBrier: toldScore(oracleSum / pairs.length),
    marketBrier: toldScore(marketSum / pairs.length),
    value: toldScore(1 - oracleSum / marketSum),
    low: interval === null ? null : toldScore(interval.low),
    high: interval === null ? null : toldScore(interval.high),
  };
}
