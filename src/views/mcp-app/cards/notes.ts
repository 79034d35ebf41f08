import { el, type MarkupElement } from '../../markup.ts';
import { type Fields, readList, readText } from '../fields.ts';

/** Where the figures come from, and what they are not. */
export function renderNotes(answer: Fields): MarkupElement {
  const source = readText(answer.source);
  const isReplayed = answer.replayed === true || readList(answer.entries).some(({ replayed }) => replayed === true);
  const notes = [
    source === '' ? '' : `Market data: ${source}.`,
    isReplayed ? 'Replayed: made after the fact.' : '',
    answer.stale === true ? 'A newer forecast is overdue.' : '',
    'No advice to trade.',
  ];
  return el('p', { class: 'quiet notes' }, notes.filter((note) => note !== '').join(' '));
}
