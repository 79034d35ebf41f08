import { formatDayAndMonth } from '../../forecast/format.ts';
import { el, type Markup } from '../../markup.ts';
import { renderCallButton } from '../call-button.ts';
import { type Fields, readList, readText, readTime } from '../fields.ts';
import { deriveForecastState, renderState } from '../figures/forecast-state.ts';

const MAX_LISTED = 6;

/** The newest forecasts of the answer by their state; nothing of their values. */
export function renderOutcomes({ entries, asOf }: Fields): Markup {
  const now = readTime(asOf);
  const marks = readList(entries)
    .slice(0, MAX_LISTED)
    .flatMap((entry) => renderEntry(entry, now) ?? []);
  if (marks.length === 0) return null;
  return [el('h2', {}, 'Newest forecasts'), el('ol', { class: 'outcomes' }, marks)];
}

function renderEntry(entry: Fields, now: string) {
  const state = deriveForecastState(entry, now);
  const [date, predictionId] = [readText(entry.date), readText(entry.predictionId)];
  if (state === null || !/^\d{4}-\d{2}-\d{2}$/.test(date)) return null;
  return el('li', {}, [
    el('span', {}, formatDayAndMonth(date)),
    renderState(state),
    predictionId === ''
      ? null
      : renderCallButton('verification', ['Check', el('span', { class: 'visually-hidden' }, ` ${date}`)], { predictionId }),
  ]);
}
