import { h } from '../lib/dom.js';
import { usd } from '../lib/format.js';
import { signedPercent } from '../lib/words.js';

/** @import { ScorecardRow } from '../state/answers.ts' */

const STATUS_WORDS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'Hold', PENDING: 'Open', VOID: 'Void' };

/** Of a row in the list of attestations, where it can be gone to. @param {Pick<ScorecardRow, 'date'>} row */
export function rowId({ date }) {
  return `row-${date}`;
}

/** @param {Pick<ScorecardRow, 'status'>} row */
export function statusOf({ status }) {
  return h('span', { class: `status status-${status.toLowerCase()}` }, STATUS_WORDS[status] ?? status);
}

/** @param {Pick<ScorecardRow, 'signal' | 'direction'>} row of a call that is told */
export function saidIn({ signal, direction }) {
  return `${signal === 'HOLD' ? 'HOLD, leaning' : signal} ${direction}`;
}

/** @param {ScorecardRow} row */
export function pricesOf({ btcAtSignal, provisional, btcAtResolution, returnBps }) {
  if (btcAtSignal === null) return h('span', { class: 'quiet' }, 'window not open yet');
  if (provisional) return [usd(btcAtSignal), h('span', { class: 'quiet' }, ' provisional: window not open yet')];
  const end = btcAtResolution === null ? h('span', { class: 'quiet' }, 'open') : usd(btcAtResolution);
  const change = returnBps === null ? null : h('span', { class: 'quiet' }, ` (${signedPercent(returnBps / 100)})`);
  return [usd(btcAtSignal), ' → ', end, change];
}
