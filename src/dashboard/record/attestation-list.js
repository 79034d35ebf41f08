import { createCheckToolbar } from '../check/check-toolbar.js';
import { buildRowKey } from '../check/row-checker.js';
import { h, replaceChildren } from '../lib/dom.js';
import { renderNotYet } from '../lib/section.js';
import { renderAttestationTable } from './attestation-table.js';
import { createRowView } from './row-view.js';

/** @import { ScorecardRow } from '../state/responses.ts' */
/** @import { ShownRecord } from './neighbours.js' */
/** @import { RowChecker } from '../check/row-checker.js' */
/** @import { RunCheck, RowView } from './row-view.js' */

const PAGE_SIZE = 25;

/** Shown rows; findings, number of rows and a running check survive a new answer of the service. @param {RowChecker} checker */
export function createAttestationList(checker) {
  /** @type {ShownRecord} newest row first */
  let record = { horizon: 0, known: [] };
  let most = PAGE_SIZE;
  /** @type {Map<string, RowView>} */
  let views = new Map();
  const content = h('div', {});
  const rowsNow = () => record.known.slice(0, most);
  const check = createShownRowsCheck(checker, { shownNow: () => record, viewAt: (key) => views.get(key) });
  const toolbar = createCheckToolbar({ rowsNow, check });
  const viewOf = (/** @type {ScorecardRow} */ row) => /** @type {RowView} */ (views.get(buildRowKey(row, record)));

  function drawRows() {
    const [rows, shown] = [rowsNow(), record];
    views = new Map(
      rows.map((row) => [buildRowKey(row, shown), createRowView(row, { foundNow: () => checker.foundOf(row, shown), check })]),
    );
    toolbar.name();
    replaceChildren(
      content,
      renderAttestationTable({ rows, horizon: shown.horizon, view: viewOf }),
      createMoreButton(shown.known.length - rows.length, showMore),
    );
  }
  function showMore() {
    const first = most;
    most += PAGE_SIZE;
    drawRows();
    // Redrawing replaces the focused button, so the focus moves to the first new row.
    viewOf(record.known[first]).button.focus();
  }
  return {
    restart() {
      most = PAGE_SIZE;
    },
    /** @param {ShownRecord} shown */
    draw(shown) {
      record = shown;
      if (shown.known.length === 0) return renderNothingYet();
      drawRows();
      return [toolbar.element, content];
    },
  };
}

/**
 * Checks rows and updates their views.
 * @param {RowChecker} checker @param {{ shownNow: () => ShownRecord, viewAt: (key: string) => RowView | undefined }} list
 * @returns {RunCheck}
 */
function createShownRowsCheck(checker, { shownNow, viewAt }) {
  return (rows, { signal, onFound }) => {
    const shown = shownNow();
    return checker.check(rows, {
      shown,
      signal,
      onFound: (row, finding) => {
        viewAt(buildRowKey(row, shown))?.showFinding();
        onFound?.(row, finding);
      },
    });
  };
}

/** @param {number} more @param {() => void} onclick */
function createMoreButton(more, onclick) {
  return more <= 0 ? null : h('button', { type: 'button', class: 'more', onclick }, `Show ${Math.min(more, PAGE_SIZE)} more of ${more}`);
}

function renderNothingYet() {
  const text = 'No forecast has been made yet. The first is made at 21:35 UTC and committed three minutes later.';
  return renderNotYet(text);
}
