import { h } from '../lib/dom.js';
import { formatUsd } from '../lib/format.js';
import { formatSignedPercent } from '../lib/format-text.js';

/** @import { ScorecardRow } from '../state/responses.ts' */

const STATUS_LABELS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'Hold', PENDING: 'Committed', VOID: 'Void' };

/** Fragment id of the row in the list. @param {Pick<ScorecardRow, 'date'>} row */
export function getRowElementId({ date }) {
  return `row-${date}`;
}

/** @param {Pick<ScorecardRow, 'status'>} row */
export function renderStatus({ status }) {
  return h('span', { class: `status status-${status.toLowerCase()}` }, STATUS_LABELS[status] ?? status);
}

/** @param {Pick<ScorecardRow, 'signal' | 'direction'>} row of a revealed call */
export function formatCall({ signal, direction }) {
  return `${signal === 'HOLD' ? 'HOLD, leaning' : signal} ${direction}`;
}

/** @param {ScorecardRow} row */
export function renderPrices({ btcAtSignal, provisional, btcAtResolution, returnBps }) {
  if (btcAtSignal === null) return h('span', { class: 'quiet' }, 'window not open yet');
  if (provisional) return [formatUsd(btcAtSignal), h('span', { class: 'quiet' }, ' provisional: window not open yet')];
  const end = btcAtResolution === null ? h('span', { class: 'quiet' }, 'not resolved') : formatUsd(btcAtResolution);
  const change = returnBps === null ? null : h('span', { class: 'quiet' }, ` (${formatSignedPercent(returnBps / 100)})`);
  return [formatUsd(btcAtSignal), ' → ', end, change];
}
