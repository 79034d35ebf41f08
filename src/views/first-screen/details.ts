import { el, type Markup } from '../markup.ts';

/** What is behind the first screen; the script fills it. */
export function renderDetails(): Markup {
  return el('details', { class: 'first-details' }, el('summary', {}, 'Details'), el('div', { id: 'today-details' }));
}
