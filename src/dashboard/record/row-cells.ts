import { h } from '../lib/dom.ts';
import { formatUsd } from '../lib/format.ts';
import { formatSignedPercent } from '../lib/format-text.ts';
import type { ScorecardRow } from '../state/responses.ts';

const STATUS_LABELS = { WIN: 'Right', LOSS: 'Wrong', HOLD: 'Hold', PENDING: 'Committed', VOID: 'Void' };

export const ROW_ID_PREFIX = 'row-';

/** Fragment id of the row in the list. */
export function getRowElementId({ date }: Pick<ScorecardRow, 'date'>) {
  return `${ROW_ID_PREFIX}${date}`;
}

export function renderStatus({ status }: Pick<ScorecardRow, 'status'>) {
  return h('span', { class: `status status-${status.toLowerCase()}` }, STATUS_LABELS[status] ?? status);
}

/** @param row of a revealed call */
export function formatCall({ signal, direction }: Pick<ScorecardRow, 'signal' | 'direction'>) {
  return `${signal === 'HOLD' ? 'HOLD, leaning' : signal} ${direction}`;
}

export function renderPrices({ btcAtSignal, provisional, btcAtResolution, returnBps }: ScorecardRow) {
  if (btcAtSignal === null) return h('span', { class: 'quiet' }, 'window not open yet');
  if (provisional) return [formatUsd(btcAtSignal), h('span', { class: 'quiet' }, ' provisional: window not open yet')];
  const end = btcAtResolution === null ? h('span', { class: 'quiet' }, 'not resolved') : formatUsd(btcAtResolution);
  const change = returnBps === null ? null : h('span', { class: 'quiet' }, ` (${formatSignedPercent(returnBps / 100)})`);
  return [formatUsd(btcAtSignal), ' → ', end, change];
}
