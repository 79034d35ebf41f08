import { attestationRows } from '../lib/attestation-rows.js';
import { checkToolbar } from '../lib/check-toolbar.js';
import { bodyOf, h, replace } from '../lib/dom.js';
import { endpointForm } from '../lib/endpoint-form.js';
import { findingView } from '../lib/finding-view.js';
import { createRowChecker, keyOf } from '../lib/row-checker.js';
import { show } from '../lib/section.js';

/** @import { ScorecardRow } from '../lib/answers.ts' */
/** @import { RowChecker } from '../lib/row-checker.js' */
/** @import { Page } from './main.js' */

const ROWS_A_TIME = 25;

/**
 * Forecasts, and a button that checks them against the chain in this browser.
 * @param {Page} page
 */
export function mountAttestations({ store, session, horizon }) {
  const intro = h('div', {});
  const list = h('div', {});
  replace(bodyOf('attestations'), intro, list);
  /** @type {ReturnType<typeof endpointForm> | null} */
  let endpoint = null;
  show({
    store,
    name: 'info',
    body: intro,
    draw: ({ chain }) => {
      endpoint = endpointForm(chain);
      return [introduction(), endpoint.form];
    },
  });
  /** A reader may be faster than the service. */
  async function getInfo() {
    if (store.get('info').answer === null) await store.refresh('info');
    return store.get('info').answer;
  }
  const checker = createRowChecker({ session, getInfo, endpointNow: () => endpoint?.current ?? null });
  const rows = createList(checker);
  horizon.onChange(rows.restart);
  show({ store, name: 'scorecard', body: list, draw: ({ predictions }) => rows.draw(predictions, horizon.value) });
}

function introduction() {
  return h(
    'p',
    {},
    'Each forecast is committed to the chain before its outcome window opens. Checking one asks nobody for an opinion: both attestations ',
    'are read from the chain, the commitment is computed anew in this browser, and every value of the row is compared. ',
    h('a', { href: 'methodology.md' }, 'The method'),
    ' and ',
    h('a', { href: 'docs' }, 'the reference'),
    ' say what there is to do the same by hand.',
  );
}

/**
 * The rows that are shown; what was found, how many there are and a check that is going on outlast a new answer of the service.
 * @param {RowChecker} checker
 */
function createList(checker) {
  /** @type {readonly ScorecardRow[]} newest first */
  let known = [];
  let shown = ROWS_A_TIME;
  let horizon = 0;
  /** @type {Map<string, ReturnType<typeof rowView>>} */
  let views = new Map();
  const content = h('div', {});
  const rowsNow = () => known.slice(0, shown);
  /** @type {(rows: readonly ScorecardRow[], options: { signal: AbortSignal, onFound?: (row: ScorecardRow) => void }) => Promise<void>} */
  const check = (rows, { signal, onFound }) => {
    const told = (/** @type {ScorecardRow} */ row) => {
      views.get(keyOf(row))?.tell();
      onFound?.(row);
    };
    return checker.check(rows, { known, signal, onFound: told });
  };
  const toolbar = checkToolbar({ rowsNow, check, findingOf: (row) => checker.foundOf(row)?.finding });

  function drawRows() {
    const rows = rowsNow();
    views = new Map(rows.map((row) => [keyOf(row), rowView(row, { checker, check })]));
    const more = known.length - rows.length;
    toolbar.name();
    replace(
      content,
      attestationRows({ rows, horizon, view: (row) => /** @type {ReturnType<typeof rowView>} */ (views.get(keyOf(row))) }),
      more === 0
        ? null
        : h('button', { type: 'button', class: 'more', onclick: showMore }, `Show ${Math.min(more, ROWS_A_TIME)} more of ${more}`),
    );
  }
  function showMore() {
    const first = shown;
    shown += ROWS_A_TIME;
    drawRows();
    // The button that had the focus is another one now: the reader goes on with the first row that is new.
    views.get(keyOf(known[first]))?.button.focus();
  }
  return {
    restart() {
      shown = ROWS_A_TIME;
    },
    /** @param {readonly ScorecardRow[]} predictions @param {number} days */
    draw(predictions, days) {
      known = predictions;
      horizon = days;
      if (known.length === 0)
        return h(
          'p',
          { class: 'empty' },
          'Nothing has been forecast yet. The first forecast appears here at 21:35 UTC, and is on chain three minutes later.',
        );
      drawRows();
      return [toolbar.element, content];
    },
  };
}

/**
 * What is drawn of a row's check: its button, and below the row what was found.
 * @param {ScorecardRow} row
 * @param {{ checker: RowChecker, check: (rows: readonly ScorecardRow[], options: { signal: AbortSignal }) => Promise<void> }} options
 */
function rowView(row, { checker, check }) {
  const below = h('div', {});
  const button = h(
    'button',
    { type: 'button', onclick: () => void run() },
    'Check',
    h('span', { class: 'visually-hidden' }, ` ${row.date}`),
  );
  function tell() {
    const found = checker.foundOf(row);
    if (found === undefined) return;
    replace(below, findingView(found.finding, { ...found, onToggle: (open) => Object.assign(found, { open }) }));
  }
  async function run() {
    // One that is asked for by itself is said; of many at once the tally is.
    below.setAttribute('role', 'status');
    replace(below, h('p', { class: 'finding quiet' }, 'Reading the chain…'));
    await check([row], { signal: new AbortController().signal });
  }
  tell();
  return { below, button, tell };
}
