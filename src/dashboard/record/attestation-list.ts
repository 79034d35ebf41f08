import { createCheckToolbar, type RunCheck } from '../check/check-toolbar.ts';
import { buildRowKey, type RowChecker } from '../check/row-checker.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import { onReveal } from '../lib/fragment-links.ts';
import { renderNotYet } from '../lib/section.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { renderAttestationTable } from './attestation-table.ts';
import type { ShownRecord } from './neighbours.ts';
import { getRowElementId } from './row-cells.ts';
import { createRowView, type RowView } from './row-view.ts';

const FIRST_ROWS = 10;
const PAGE_SIZE = 25;

/** Shown rows; findings, number of rows and a running check survive a new answer of the service. */
export function createAttestationList(checker: RowChecker) {
  /** Newest row first. */
  let record: ShownRecord = { horizon: 0, known: [] };
  let most = FIRST_ROWS;
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
      h('p', { class: 'more' }, [
        createMoreButton(shown.known.length - rows.length, showMore),
        h('a', { href: `f?horizon=${shown.horizon}d` }, 'All forecasts'),
      ]),
    );
  }
  onReveal((id) => {
    const index = record.known.findIndex((row) => getRowElementId(row) === id);
    if (index < most) return;
    most = index + 1;
    drawRows();
  });
  function showMore() {
    const first = most;
    most += PAGE_SIZE;
    drawRows();
    // Redrawing replaces the focused button, so the focus moves to the first new row.
    viewOf(record.known[first]).button.focus();
  }
  return {
    restart() {
      most = FIRST_ROWS;
    },
    draw(shown: ShownRecord) {
      record = shown;
      if (shown.known.length === 0) return renderNothingYet();
      drawRows();
      return [content, toolbar.element];
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
  return more <= 0 ? null : h('button', { type: 'button', onclick }, `Show ${Math.min(more, PAGE_SIZE)} more of ${more}`);
}

function renderNothingYet() {
  const text = 'No forecast has been made yet. The first is made at 21:35 UTC and committed three minutes later.';
  return renderNotYet(text);
}
