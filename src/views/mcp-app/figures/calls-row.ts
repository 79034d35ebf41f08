import { formatShare } from '../../widget/figures.ts';
import type { Interval } from '../fields.ts';
import type { DrawnRow } from './drawn-row.ts';

const SHARES: Interval = { low: 0, high: 1 };

export interface CallFigures {
  accuracy: number | null;
  interval: Interval | null;
  alwaysUp: number | null;
}

/** The share of right calls with its interval, against always saying UP; empty before the first outcome. */
export function listCallRows({ accuracy, interval, alwaysUp }: CallFigures): DrawnRow[] {
  if (accuracy === null) return [];
  const against = alwaysUp === null ? '' : `; always UP ${formatShare(alwaysUp)}, dashed`;
  const text = `${formatShare(accuracy)}${formatInterval(interval)}${against}`;
  return [{ label: 'Right calls', text, domain: SHARES, interval, value: accuracy, reference: alwaysUp }];
}

function formatInterval(interval: Interval | null): string {
  return interval === null ? '' : `, 95 % interval ${formatShare(interval.low)} to ${formatShare(interval.high)}`;
}
