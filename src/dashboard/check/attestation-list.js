import { h, replace } from '../lib/dom.js';
import { notYet } from '../lib/section.js';
import { attestationRows } from './attestation-rows.js';
import { checkToolbar } from './check-toolbar.js';
import { keyOf } from './row-checker.js';
import { rowView } from './row-view.js';

/** @import { ScorecardRow } from '../state/answers.ts' */
/** @import { Shown } from './neighbours.js' */
/** @import { RowChecker } from './row-checker.js' */
/** @import { Check, RowView } from './row-view.js' */

const ROWS_A_TIME = 25;

/**
 * The rows that are shown; what was found, how many there are and a check that is going on outlast a new answer of the service.
 * @param {RowChecker} checker
 */
export function createAttestationList(checker) {
  /** @type {Shown} the newest row first */
  let record = { horizon: 0, known: [] };
  let most = ROWS_A_TIME;
  /** @type {Map<string, RowView>} */
  let views = new Map();
  const content = h('div', {});
  const rowsNow = () => record.known.slice(0, most);
  const check = checkerOf(checker, { shownNow: () => record, viewAt: (key) => views.get(key) });
  const toolbar = checkToolbar({ rowsNow, check });
  const viewOf = (/** @type {ScorecardRow} */ row) => /** @type {RowView} */ (views.get(keyOf(row, record)));

  function drawRows() {
    const [rows, shown] = [rowsNow(), record];
    views = new Map(rows.map((row) => [keyOf(row, shown), rowView(row, { foundNow: () => checker.foundOf(row, shown), check })]));
    toolbar.name();
    replace(
      content,
      attestationRows({ rows, horizon: shown.horizon, view: viewOf }),
      moreButton(shown.known.length - rows.length, showMore),
    );
  }
  function showMore() {
    const first = most;
    most += ROWS_A_TIME;
    drawRows();
    // The button that had the focus is another one now: the reader goes on with the first row that is new.
    viewOf(record.known[first]).button.focus();
  }
  return {
    restart() {
      most = ROWS_A_TIME;
    },
    /** @param {Shown} shown */
    draw(shown) {
      record = shown;
      if (shown.known.length === 0) return nothingYet();
      drawRows();
      return [toolbar.element, content];
    },
  };
}

/**
 * Checks rows as they are shown when it is asked to.
 * @param {RowChecker} checker
 * @param {{ shownNow: () => Shown, viewAt: (key: string) => RowView | undefined }} list
 * @returns {Check}
 */
function checkerOf(checker, { shownNow, viewAt }) {
  return (rows, { signal, onFound }) => {
    const shown = shownNow();
    return checker.check(rows, {
      ...{ shown, signal },
      onFound: (row, finding) => {
        viewAt(keyOf(row, shown))?.tell();
        onFound?.(row, finding);
      },
    });
  };
}

/** @param {number} more @param {() => void} onclick */
function moreButton(more, onclick) {
  return more <= 0 ? null : h('button', { type: 'button', class: 'more', onclick }, `Show ${Math.min(more, ROWS_A_TIME)} more of ${more}`);
}

function nothingYet() {
  const words = 'Nothing has been forecast yet. The first forecast appears here at 21:35 UTC, and is on chain three minutes later.';
  return notYet(words);
}
