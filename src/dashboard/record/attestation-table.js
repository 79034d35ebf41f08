import { h, replaceChildren } from '../lib/dom.js';
import { formatPercent, shortenHex } from '../lib/format.js';
import { formatCall, getRowElementId, renderPrices, renderStatus } from './row-cells.js';

/** @import { ScorecardRow } from '../state/responses.ts' */
/** @import { Child } from '../lib/dom.js' */

const HEADINGS = ['Day', 'Outcome', 'Call', 'P(up)', 'BTC, window open → end', 'Attestation', 'Check'];

/**
 * One row per forecast; on narrow screens CSS turns rows into cards, and the ARIA roles keep the table semantics.
 * @param {{ rows: readonly ScorecardRow[], horizon: number, view: (row: ScorecardRow) => { button: HTMLElement, below: HTMLElement } }}
 * options
 */
export function renderAttestationTable({ rows, horizon, view }) {
  return h(
    'table',
    { class: 'attested', role: 'table' },
    h('caption', {}, `${horizon}-day forecasts and their attestations, newest first`),
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        HEADINGS.map((heading) => h('th', { role: 'columnheader', scope: 'col' }, heading)),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      rows.flatMap((row) => {
        const { button, below } = view(row);
        return [renderForecastRow(row, button), renderRowBelow(below)];
      }),
    ),
  );
}

/** @param {ScorecardRow} row @param {Child} action */
function renderForecastRow(row, action) {
  const { date, sequence } = row;
  return h(
    'tr',
    { role: 'row', id: getRowElementId(row) },
    h(
      'th',
      { role: 'rowheader', scope: 'row', class: 'day' },
      h('time', { datetime: date }, date),
      h('span', { class: 'quiet' }, ` #${sequence}`),
    ),
    renderCell('outcome', renderStatus(row)),
    renderCell('call', renderCallCell(row)),
    renderCell('p-up', h('span', { class: 'narrow quiet', 'aria-hidden': 'true' }, 'P(up) '), formatPercent(row.pUp)),
    renderCell('prices', renderPrices(row)),
    renderCell('uid', renderUid(row)),
    renderCell('check', action),
  );
}

/** @param {HTMLElement} content */
function renderRowBelow(content) {
  return h('tr', { role: 'row', class: 'below' }, h('td', { role: 'cell', colspan: HEADINGS.length }, content));
}

/** @param {string} name @param {...(Child | readonly Child[])} content */
function renderCell(name, ...content) {
  return h('td', { role: 'cell', class: name }, ...content);
}

/** @param {ScorecardRow} row */
function renderCallCell(row) {
  if (row.missed) return h('span', { class: 'quiet' }, 'none made');
  return row.direction === null ? h('span', { class: 'quiet' }, 'hidden') : formatCall(row);
}

/** @param {ScorecardRow} row */
function renderUid({ attestationUid, date }) {
  if (attestationUid === null) return h('span', { class: 'quiet' }, 'not on chain yet');
  return [
    h('code', { title: attestationUid }, shortenHex(attestationUid)),
    createCopyButton(attestationUid, `Copy the uid of ${date}`),
    h(
      'a',
      { href: `api/svc/onchain-oracle/verify/${attestationUid}` },
      'JSON',
      h('span', { class: 'visually-hidden' }, ` of the attestation of ${date}`),
    ),
  ];
}

/** The clipboard API needs a secure context. @param {string} text @param {string} label */
function createCopyButton(text, label) {
  if (navigator.clipboard === undefined) return null;
  const button = h('button', { type: 'button', class: 'small', 'aria-label': label, onclick: () => void copy() }, 'Copy');
  async function copy() {
    await navigator.clipboard.writeText(text);
    replaceChildren(button, 'Copied');
    setTimeout(() => replaceChildren(button, 'Copy'), 1_500);
  }
  return button;
}
