import type { Day } from '../../forecast/day.ts';
import { computeMeanInterval } from '../../forecast/math/mean-interval.ts';
import { type CrowdPin, roundScore } from './crowd-pins.ts';
import { compareWeekly } from './weekly-comparison.ts';

/** Null before the first settled week, and while the market's score is 0. The interval is the weekly comparison's, so that both agree. */
export function computeMarketSkill(pins: readonly CrowdPin[], through: Day | null) {
  const { weeks } = compareWeekly(pins, through);
  const pairs = weeks.flatMap(({ market, oracle }) => (market === null || oracle === null ? [] : [[oracle.brier, market.brier]]));
  const market = computeMeanInterval(pairs.map(([, theirs]) => theirs));
  const difference = computeMeanInterval(pairs.map(([ours, theirs]) => ours - theirs));
  if (market === null || market.mean === 0 || difference === null) return null;
  const skillAt = (distance: number) => roundScore(1 - (market.mean + distance) / market.mean);
  return {
    weeks: pairs.length,
    oracleBrier: roundScore(market.mean + difference.mean),
    marketBrier: roundScore(market.mean),
    value: skillAt(difference.mean),
    low: difference.high === null ? null : skillAt(difference.high),
    // A Brier score is at least 0, so that a skill is at most 1.
    high: difference.low === null ? null : Math.min(1, skillAt(difference.low)),
  };
}
