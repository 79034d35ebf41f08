import { roundTo } from '../../../platform/round.ts';
import type { LiquidationLevel } from './liquidation-levels.ts';

/** Sums the levels of one side in steps of `stepPct` of the spot price, nearest first, up to `rangePct`. Amounts are floored to dollars. */
export function buildLiquidationBuckets(
  levels: readonly LiquidationLevel[],
  spotUsd: number,
  { stepPct, rangePct, direction }: { stepPct: number; rangePct: number; direction: 1 | -1 },
) {
  const sums = new Float64Array(Math.round(rangePct / stepPct));
  for (const { priceUsd, usd } of levels) {
    const distancePct = 100 * direction * (priceUsd / spotUsd - 1);
    const index = Math.floor(distancePct / stepPct);
    if (index >= 0 && index < sums.length) sums[index] += usd;
  }
  const priceAt = (pct: number) => roundTo(spotUsd * (1 + (direction * pct) / 100), 2);
  let cumulativeUsd = 0;
  return Array.from(sums, (sum, index) => {
    const usd = Math.floor(sum);
    cumulativeUsd += usd;
    const distancePct = (index + 1) * stepPct;
    return { fromUsd: priceAt(index * stepPct), toUsd: priceAt(distancePct), distancePct, usd, cumulativeUsd };
  });
}
