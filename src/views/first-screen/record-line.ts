import type { RecordData } from './first-screen-data.ts';
import { formatWholePercent } from './format-figures.ts';

/** With fewer calls whose windows do not overlap, a percentage would mislead. */
const MIN_CALLS = 5;

export type RecordEdge = 'no edge' | 'better' | 'worse' | 'too few to say';

/** The record in one line: its accuracy with its interval, beside always UP on the same calls. */
export function formatRecordLine(record: RecordData): string {
  const { resolved, holds, wins, accuracy, accuracyInterval95: interval, alwaysUpAccuracy, dedupedTotal } = record;
  if (resolved === 0 || accuracy === null) return holds === 0 ? 'No outcome yet' : `No call yet: all ${holds} outcomes were HOLD`;
  if (dedupedTotal < MIN_CALLS || interval === null || alwaysUpAccuracy === null) return `${wins} of ${resolved} right: too few to say`;
  const [low, high] = [interval.low, interval.high].map((share) => Math.round(100 * share));
  const edge = judgeRecord(record);
  return `${formatWholePercent(accuracy)} right (${low}–${high}); always UP ${formatWholePercent(alwaysUpAccuracy)}: ${edge}`;
}

/** Calls that were all UP are always UP itself; else the interval of the difference decides, and without one that of the accuracy. */
export function judgeRecord({ accuracy, accuracyInterval95: interval, alwaysUpAccuracy, difference }: RecordData): RecordEdge {
  if (difference !== null && difference.low !== null && difference.high !== null) {
    if (difference.low > 0) return 'better';
    return difference.high < 0 ? 'worse' : 'no edge';
  }
  if (accuracy === null || interval === null || alwaysUpAccuracy === null) return 'too few to say';
  return interval.low <= alwaysUpAccuracy && alwaysUpAccuracy <= interval.high ? 'no edge' : 'too few to say';
}
