import { el, type Markup } from '../../markup.ts';
import { type AppView, VIEW_TITLES } from '../app-views.ts';
import { renderCallButton } from '../call-button.ts';
import { type Fields, readFields, readList, readText } from '../fields.ts';
import { toSentence } from '../sentence.ts';

/** The member of a result's `_meta` with the error as data. */
const ERROR_KEY = 'bitcoin-signal-oracle/error';

/** What a rejected call said, and what can be asked without it. @param result tool result with `isError` */
export function renderErrorCard(view: AppView, result: Fields): Markup {
  const error = readFields(readFields(result._meta)[ERROR_KEY]);
  const message = readText(error.message) || findLastText(result) || 'The call failed';
  return [
    el('h1', { tabindex: -1 }, VIEW_TITLES[view]),
    el('p', { class: 'lead' }, toSentence(message)),
    el('p', { class: 'quiet' }, toSentence(readText(error.suggestedAction))),
    el('p', { class: 'actions' }, view === 'record' ? null : renderCallButton('record', 'Track record', {})),
  ];
}

/** A first text may be data for a payment. */
function findLastText({ content }: Fields): string {
  return readText(readList(content).findLast(({ type }) => type === 'text')?.text);
}
