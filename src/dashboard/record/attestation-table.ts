import { type Child, type Children, h } from '../lib/dom.ts';
import { formatPercent, shortenHex } from '../lib/format.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { markReplayed } from './record-rows.ts';
import { formatCall, getRowElementId, renderPrices, renderStatus } from './row-cells.ts';

const HEADINGS = ['Day', 'Outcome', 'Call', 'P(up)', 'BTC, window open → end', 'Attestation', 'Check'];

interface AttestationTableOptions {
  rows: readonly ScorecardRow[];
  horizon: number;
  view: (row: ScorecardRow) => { button: HTMLElement; below: HTMLElement };
}

/** One row per forecast; on narrow screens CSS turns rows into cards, and the ARIA roles keep the table semantics. */
export function renderAttestationTable({ rows, horizon, view }: AttestationTableOptions) {
  const headings = HEADINGS.map((heading) => h('th', { role: 'columnheader', scope: 'col' }, heading));
  const marked = markReplayed(rows);
  const lines = rows.map((row, index) => {
    const { button, below } = view(row);
    return [renderForecastRow(marked[index], { action: button, horizon }), renderRowBelow(below)];
  });
  return h('table', { class: 'attested', role: 'table' }, [
    h('caption', {}, `${horizon}-day forecasts and their attestations, newest first`),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, headings)),
    h('tbody', { role: 'rowgroup' }, lines),
  ]);
}

interface ForecastRowOptions {
  action: Child;
  horizon: number;
}

function renderForecastRow(row: ScorecardRow, { action, horizon }: ForecastRowOptions) {
  const { date, sequence, replayed } = row;
  return h('tr', { role: 'row', id: getRowElementId(row) }, [
    h('th', { role: 'rowheader', scope: 'row', class: 'day' }, [
      h('a', { href: `f/${date}/${horizon}d` }, h('time', { datetime: date }, date)),
      h('span', { class: 'quiet' }, ` #${sequence}${replayed ? ' replayed' : ''}`),
    ]),
    renderCell('outcome', renderStatus(row)),
    renderCell('call', renderCallCell(row)),
    renderCell('p-up', h('span', { class: 'narrow quiet', 'aria-hidden': 'true' }, 'P(up) '), formatPercent(row.pUp)),
    renderCell('prices', renderPrices(row)),
    renderCell('uid', renderUid(row)),
    renderCell('check', action),
  ]);
}

function renderRowBelow(content: HTMLElement) {
  return h('tr', { role: 'row', class: 'below' }, h('td', { role: 'cell', colspan: HEADINGS.length }, content));
}

function renderCell(name: string, ...content: Children[]) {
  return h('td', { role: 'cell', class: name }, content);
}

function renderCallCell(row: ScorecardRow) {
  if (row.missed) return h('span', { class: 'quiet' }, 'none made');
  return row.direction === null ? h('span', { class: 'quiet' }, 'hidden') : formatCall(row);
}

function renderUid({ attestationUid, date }: ScorecardRow) {
  if (attestationUid === null) return h('span', { class: 'quiet' }, 'not on chain yet');
  return h('a', { href: `api/svc/onchain-oracle/verify/${attestationUid}`, title: attestationUid }, [
    h('code', {}, shortenHex(attestationUid)),
    h('span', { class: 'visually-hidden' }, `: attestation of ${date} as JSON`),
  ]);
}
