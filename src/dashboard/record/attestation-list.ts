import { createCheckToolbar, type RunCheck } from '../check/check-toolbar.ts';
import { buildRowKey, type RowChecker } from '../check/row-checker.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import { renderNotYet } from '../lib/section.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { renderAttestationTable } from './attestation-table.ts';
import type { ShownRecord } from './neighbours.ts';
import { createRowView, type RowView } from './row-view.ts';

const PAGE_SIZE = 25;

/** Shown rows; findings, number of rows and a running check survive a new answer of the service. */
export function createAttestationList(checker: RowChecker) {
  /** Newest row first. */
  let record: ShownRecord = { horizon: 0, known: [] };
  let most = PAGE_SIZE;
  let views = new Map<string, RowView>();
  const content = h('div', {});
  const rowsNow = () => record.known.slice(0, most);
  const check = createShownRowsCheck(checker, { shownNow: () => record, viewAt: (key) => views.get(key) });
  const toolbar = createCheckToolbar({ rowsNow, check });
  const viewOf = (row: ScorecardRow) => views.get(buildRowKey(row, record)) as RowView;

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
    draw(shown: ShownRecord) {
      record = shown;
      if (shown.known.length === 0) return renderNothingYet();
      drawRows();
      return [toolbar.element, content];
    },
  };
}

/** Checks rows and updates their views. */
function createShownRowsCheck(
  checker: RowChecker,
  { shownNow, viewAt }: { shownNow: () => ShownRecord; viewAt: (key: string) => RowView | undefined },
): RunCheck {
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

function createMoreButton(more: number, onclick: () => void) {
  return more <= 0 ? null : h('button', { type: 'button', class: 'more', onclick }, `Show ${Math.min(more, PAGE_SIZE)} more of ${more}`);
}

function renderNothingYet() {
  const text = 'No forecast has been made yet. The first is made at 21:35 UTC and committed three minutes later.';
  return renderNotYet(text);
}
