import type { InputFrame } from '../input-frame.ts';
import type { FeatureTable } from './feature-table.ts';
import { combineScores, computeLogRatios, meanAt, squash, zScoreAt } from './rolling.ts';

/** `mvz`, `fg7`, `gz` and `value`. */
export function fillValue(frame: InputFrame, table: FeatureTable, from: number): void {
  const realized = computeLogRatios(frame.close, frame.realizedPrice, from);
  const gold = computeLogRatios(frame.close, frame.gold, from);
  for (let row = from; row < table.length; row++) {
    table.mvz[row] = zScoreAt(realized, row, 1460, 365);
    table.fg7[row] = meanAt(frame.fearGreed, row, 7, 4);
    table.gz[row] = zScoreAt(gold, row, 365, 180);
    table.value[row] = combineScores(-squash(table.mvz[row]), -(table.fg7[row] - 50) / 50, -squash(table.gz[row]));
  }
}
