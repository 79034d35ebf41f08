import type { FeatureTable } from './feature-table.ts';
import { combineScores, squash } from './rolling.ts';

const HIGH_DAYS = 365;

/** `m7`, `m28`, `m91`, `momentum`, `ret7`, `ret30`, `ret90` and `drawdown`; reads `v99`. */
export function fillMomentum(logClose: Float64Array, table: FeatureTable, from: number): void {
  for (let row = from; row < table.length; row++) {
    const daily = Math.sqrt(table.v99[row]);
    table.m7[row] = changeAt(logClose, row, 7) / (daily * Math.sqrt(7));
    table.m28[row] = changeAt(logClose, row, 28) / (daily * Math.sqrt(28));
    table.m91[row] = changeAt(logClose, row, 91) / (daily * Math.sqrt(91));
    table.momentum[row] = combineScores(squash(table.m7[row]), squash(table.m28[row]), squash(table.m91[row]));
    table.ret7[row] = changeAt(logClose, row, 7);
    table.ret30[row] = changeAt(logClose, row, 30);
    table.ret90[row] = changeAt(logClose, row, 90);
    table.drawdown[row] = logClose[row] - highAt(logClose, row);
  }
}

function changeAt(logClose: Float64Array, row: number, days: number): number {
  return row < days ? Number.NaN : logClose[row] - logClose[row - days];
}

function highAt(logClose: Float64Array, row: number): number {
  let high = logClose[row];
  for (let index = Math.max(0, row - HIGH_DAYS + 1); index < row; index++) {
    if (logClose[index] > high) high = logClose[index];
  }
  return high;
}
