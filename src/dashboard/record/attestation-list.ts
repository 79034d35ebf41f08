import { createCheckToolbar, type RunCheck } from '../check/check-toolbar.ts';
import { buildRowKey, type RowChecker } from '../check/row-checker.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import { onReveal } from '../lib/fragment-links.ts';
import { renderNotYet } from '../lib/section.ts';
import type { ScorecardRow } from '../state/responses.ts';
import { renderAttestationTable } from './attestation-table.ts';
import type { ShownRecord } from './neighbours.ts';
import { getRowElementId, ROW_ID_PREFIX } from './row-cells.ts';
import { createRowView, type RowView } from './row-view.ts';

const FIRST_ROWS = 10;
const PAGE_SIZE = 25;

/** Known may be the newest rows only; `total` counts all. */
type ListedRecord = ShownRecord & { total: number };

/**
 * Shown rows; findings, number of rows and a running check survive a new answer of the service.
 * @param needWholeRecord has the rows beyond the known ones requested
 */
export function createAttestationList(checker: RowChecker, needWholeRecord: () => void) {
  /** Newest row first. */
  let record: ListedRecord = { horizon: 0, known: [], total: 0 };
  let most = FIRST_ROWS;
  let focusedRow: number | null = null;
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
        createMoreButton(shown.total - rows.length, showMore),
        h('a', { href: `f?horizon=${shown.horizon}d` }, 'All forecasts'),
      ]),
    );
  }
  onReveal((id) => {
    const index = record.known.findIndex((row) => getRowElementId(row) === id);
    if (index < 0 && id.startsWith(ROW_ID_PREFIX)) needWholeRecord();
    if (index < most) return;
    most = index + 1;
    drawRows();
  });
  function showMore() {
    focusedRow = most;
    most += PAGE_SIZE;
    needWholeRecord();
    drawRows();
    focusFirstNew();
  }
  /** Redrawing replaces the focused button, so the focus moves to the first new row, once that is known. */
  function focusFirstNew() {
    if (focusedRow === null || focusedRow >= record.known.length) return;
    viewOf(record.known[focusedRow]).button.focus();
    focusedRow = null;
  }
  return {
    restart() {
      most = FIRST_ROWS;
    },
    draw(shown: ListedRecord) {
      record = shown;
      if (shown.known.length === 0) return renderNothingYet();
      drawRows();
      queueMicrotask(focusFirstNew);
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
