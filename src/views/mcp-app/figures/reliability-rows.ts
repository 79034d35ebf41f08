import { formatShare } from '../../widget/figures.ts';
import { type Fields, readFields, readInterval, readList, readNumber } from '../fields.ts';
import { formatBounds } from './call-figures.ts';
import type { DrawnRow } from './drawn-row.ts';

const SHARES = { low: 0, high: 1 };

/** How often the price rose, by the probability said; empty where the answer has no bins. */
export function listReliabilityRows({ probabilities }: Fields): DrawnRow[] {
  return readList(readFields(probabilities).reliability).flatMap((bin) => {
    const [from, to] = [readNumber(bin.from), readNumber(bin.to)];
    if (from === null || to === null) return [];
    return toShareRow(`${Math.round(100 * from)}–${formatShare(to)}`, { ...bin, value: bin.observedShare, reference: bin.meanProbability });
  });
}

/** How many outcomes the ranges contained; empty where the answer has none. */
export function listCoverageRows({ distribution }: Fields): DrawnRow[] {
  return readList(readFields(distribution).coverage).flatMap((range) => {
    const nominal = readNumber(range.nominal);
    return nominal === null ? [] : toShareRow(formatShare(nominal), { ...range, value: range.observed, reference: nominal });
  });
}

function toShareRow(label: string, fields: Fields): DrawnRow[] {
  const [value, reference, n] = [readNumber(fields.value), readNumber(fields.reference), readNumber(fields.n)];
  if (value === null) return [];
  const interval = readInterval(fields.interval95);
  const span = interval === null ? '' : ` (${formatBounds(interval)})`;
  return [{ label, text: `${formatShare(value)}${n === null ? '' : ` of ${n}`}${span}`, domain: SHARES, interval, value, reference }];
}
