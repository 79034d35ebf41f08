import type { FeatureTable } from './feature-table.ts';
import { combineScores, squash } from './rolling.ts';

const FAST_DAYS = 50;
const SLOW_DAYS = 200;

/** `gap50`, `gap200`, `cross`, `z50`, `z200`, `zc` and `trend`; reads `v99`. */
export function fillTrend(close: Float64Array, table: FeatureTable, from: number): void {
  for (let row = from; row < table.length; row++) {
    const fast = averageAt(close, row, FAST_DAYS);
    const slow = averageAt(close, row, SLOW_DAYS);
    const daily = Math.sqrt(table.v99[row]);
    table.gap50[row] = Math.log(close[row] / fast);
    table.gap200[row] = Math.log(close[row] / slow);
    table.cross[row] = Math.log(fast / slow);
    table.z50[row] = table.gap50[row] / (daily * Math.sqrt(FAST_DAYS / 3));
    table.z200[row] = table.gap200[row] / (daily * Math.sqrt(SLOW_DAYS / 3));
    table.zc[row] = table.cross[row] / (daily * Math.sqrt(37.5));
    table.trend[row] = combineScores(squash(table.z50[row]), squash(table.z200[row]), squash(table.zc[row]));
  }
}

function averageAt(close: Float64Array, row: number, days: number): number {
  if (row < days - 1) return Number.NaN;
  let sum = 0;
  for (let index = row - days + 1; index <= row; index++) sum += close[index];
  return sum / days;
}
