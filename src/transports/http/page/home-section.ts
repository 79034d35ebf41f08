import { renderDetails } from '../../../views/first-screen/details.ts';
import { renderFirstScreen } from '../../../views/first-screen/first-screen.ts';
import type { InitialData } from '../../../views/first-screen/first-screen-data.ts';
import { DEFAULT_HORIZON_DAYS } from '../../../views/first-screen/horizon-choice.ts';
import { toInitialScreen } from '../../../views/first-screen/initial-screen.ts';
import { formatCallTitle } from '../../../views/first-screen/today-title.ts';
import { el, type Markup } from '../../../views/markup.ts';

const PLACEHOLDER = '{{initial}}';

/** Where the script reads what the page was drawn from. */
export const INITIAL_DATA_BLOCK = el('script', { type: 'application/json', id: 'initial' }, PLACEHOLDER);

/** Puts the data into its block, which `renderMarkup` would escape as text: no `<` can end it. */
export function fillInitialData(document: string, initial: InitialData): string {
  return document.replace(PLACEHOLDER, () => JSON.stringify(initial).replaceAll('<', '\\u003c'));
}

/** The first screen. @param home null while the service starts */
export function renderTodaySection({ id }: { id: string }, home: { initial: InitialData; nowMs: number } | null): Markup {
  const data = toInitialScreen(home?.initial ?? null, DEFAULT_HORIZON_DAYS);
  return el('section', { id, 'aria-labelledby': `${id}-title`, tabindex: -1 }, [
    el('h2', { id: `${id}-title` }, formatCallTitle(data.call, home?.nowMs ?? 0)),
    el('div', { class: 'body' }, [renderFirstScreen(data), renderDetails()]),
  ]);
}
