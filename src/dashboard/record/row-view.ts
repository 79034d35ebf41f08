import type { RunCheck } from '../check/check-toolbar.ts';
import { renderFinding } from '../check/finding-view.ts';
import type { StoredFinding } from '../check/row-checker.ts';
import { h, replaceChildren } from '../lib/dom.ts';
import type { ScorecardRow } from '../state/responses.ts';

export type RowView = ReturnType<typeof createRowView>;

/** The check button of a row, and its finding. */
export function createRowView(row: ScorecardRow, { foundNow, check }: { foundNow: () => StoredFinding | undefined; check: RunCheck }) {
  const below = h('div', {});
  const button = h('button', { type: 'button', onclick: () => void run() }, [
    'Check',
    h('span', { class: 'visually-hidden' }, ` ${row.date}`),
  ]);
  function showFinding() {
    const found = foundNow();
    if (found === undefined) return;
    replaceChildren(
      below,
      renderFinding(found, (open) => Object.assign(found, { open })),
    );
  }
  async function run() {
    // A single check is announced to screen readers; for many, the tally is.
    below.setAttribute('role', 'status');
    replaceChildren(below, h('p', { class: 'finding quiet' }, 'Reading the chain…'));
    try {
      await check([row], { signal: new AbortController().signal });
    } finally {
      if (foundNow() === undefined) replaceChildren(below);
    }
  }
  showFinding();
  return { below, button, showFinding };
}
