import { type Fields, readFields, readInterval, readNumber } from '../fields.ts';
import type { DrawnRow } from './drawn-row.ts';

interface Difference {
  label: string;
  value: number;
  interval: { low: number; high: number } | null;
  /** Sign of a difference in favour of the model. */
  better: 1 | -1;
}

/** Differences from a reference that can be drawn around zero; empty before the first outcome. */
export function listScoreRows(statistics: Fields): DrawnRow[] {
  const { brierDifference, probabilities, distribution } = statistics;
  const found = [
    toDifference('Brier score', brierDifference, 'mean', -1) ??
      toDifference('Brier skill', readFields(probabilities).climatologySkill, 'value', 1),
    toDifference('CRPS skill', readFields(distribution).crpsSkill ?? statistics.crpsSkill, 'value', 1),
  ];
  return found.flatMap((difference) => (difference === null ? [] : toRow(difference)));
}

function toDifference(label: string, fields: unknown, name: 'mean' | 'value', better: 1 | -1): Difference | null {
  const value = readNumber(readFields(fields)[name]);
  return value === null ? null : { label, value, interval: readInterval(fields), better };
}

function toRow(difference: Difference): DrawnRow {
  const { label, value, interval } = difference;
  const reach = 1.1 * Math.max(...[value, interval?.low ?? 0, interval?.high ?? 0].map(Math.abs), Number.EPSILON);
  const span = interval === null ? '' : ` (${format(interval.low)} to ${format(interval.high)})`;
  const text = `${format(value)}${span}: ${judge(difference)}`;
  return { label, text, domain: { low: -reach, high: reach }, interval, value, reference: 0 };
}

/** A difference counts as proven only where its whole interval lies on one side of zero. */
function judge({ interval, better }: Difference): string {
  if (interval === null || (interval.low <= 0 && interval.high >= 0)) return 'not proven';
  return Math.sign(interval.low) === better ? 'better' : 'worse';
}

function format(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
