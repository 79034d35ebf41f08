import { el, type Markup } from '../../markup.ts';
import { formatShare } from '../../widget/figures.ts';
import type { Interval } from '../fields.ts';
import { renderRows } from './drawn-row.ts';

export interface CallFigures {
  accuracy: number | null;
  interval: Interval | null;
  alwaysUp: number | null;
}

/** The share of right calls with its interval, against always saying UP; nothing before the first outcome. */
export function renderCallFigures({ accuracy, interval, alwaysUp }: CallFigures): Markup {
  if (accuracy === null) return null;
  const text = `${formatShare(accuracy)}${interval === null ? '' : `, 95 % interval ${formatBounds(interval)}`}`;
  return [
    renderRows([{ label: 'Right calls', text, domain: { low: 0, high: 1 }, interval, value: accuracy, reference: alwaysUp }]),
    alwaysUp === null ? null : el('p', { class: 'quiet' }, `Dashed: always saying UP, ${formatShare(alwaysUp)}`),
  ];
}

/** `30 to 70 %`. */
export function formatBounds({ low, high }: Interval): string {
  return `${(100 * low).toFixed(0)} to ${formatShare(high)}`;
}
