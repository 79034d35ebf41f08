import { h, renderLegend, s } from '../lib/dom.ts';
import { formatUsd } from '../lib/format.ts';
import { formatDate } from '../lib/format-text.ts';
import type { ApiResponses, ScorecardRow } from '../state/responses.ts';

/** Margin beside the outermost mark, as a share of the width. */
const MARGIN_SHARE = 0.12;

interface CallRangeOptions {
  row: ScorecardRow | null;
  signal: ApiResponses['signal'] | null;
  price: ApiResponses['price'] | null;
  tier: string | null;
}

/** The 80 % range of the price at resolution: visible to Premium, and to everyone once revealed. */
export function renderCallRange({ row, signal, price, tier }: CallRangeOptions) {
  if (signal === null || row === null) return null;
  if (row.band80 === null)
    return tier === 'basic' ? h('p', { class: 'quiet' }, 'Premium also shows the 80 % price range at the end of the window.') : null;
  const { low, median, high } = row.band80;
  const marks = [{ label: 'at signal', value: signal.btcPrice, kind: 'then' }, ...buildNowMark(price)];
  return h('div', { class: 'range' }, [
    h('p', {}, [
      `With a probability of 80 %, Bitcoin is between `,
      h('strong', {}, formatUsd(low)),
      ' and ',
      h('strong', {}, formatUsd(high)),
      ` when the window ends on ${formatDate(signal.resolvesAt)}; the median is ${formatUsd(median)}.`,
    ]),
    renderRangeLine(row.band80, marks),
    renderLegend(marks.map(({ label, value, kind }) => ({ label: `${formatUsd(value)} ${label}`, mark: `range-${kind}` }))),
  ]);
}

function buildNowMark(price: ApiResponses['price'] | null) {
  return price === null || price.price === null ? [] : [{ label: 'now', value: price.price, kind: 'now' }];
}

/** Positions are percentages, so that the width need not be measured. */
function renderRangeLine({ low, median, high }: NonNullable<ScorecardRow['band80']>, marks: { value: number; kind: string }[]) {
  const values = [low, high, ...marks.map(({ value }) => value)];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = (most - least || 1) * MARGIN_SHARE;
  const at = (value: number) => `${((100 * (value - least + room)) / (most - least + 2 * room)).toFixed(2)}%`;
  const width = `${(Number.parseFloat(at(high)) - Number.parseFloat(at(low))).toFixed(2)}%`;
  return s('svg', { class: 'range-line', height: 34, width: '100%', 'aria-hidden': 'true' }, [
    s('line', { class: 'range-axis', x1: '0%', x2: '100%', y1: 17, y2: 17 }),
    s('rect', { class: 'range-band', x: at(low), width, y: 9, height: 16, rx: 3 }),
    s('line', { class: 'range-median', x1: at(median), x2: at(median), y1: 9, y2: 25 }),
    marks.map(({ value, kind }) =>
      kind === 'now'
        ? s('circle', { class: 'range-now', cx: at(value), cy: 17, r: 6 })
        : s('line', { class: 'range-then', x1: at(value), x2: at(value), y1: 3, y2: 31 }),
    ),
  ]);
}
