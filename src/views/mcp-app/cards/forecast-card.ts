import { listSteps, renderSteps } from '../../forecast/forecast-timeline.ts';
import { formatDate, formatUsd } from '../../forecast/format.ts';
import { el, type Markup } from '../../markup.ts';
import { formatHorizon, renderCallButton, renderHorizonButtons } from '../call-button.ts';
import { type Fields, type Interval, readFields, readInterval, readList, readNumber, readText, readTime } from '../fields.ts';
import { renderCallFigures } from '../figures/call-figures.ts';
import { type DrawnRow, renderRows } from '../figures/drawn-row.ts';
import { deriveForecastState, isOpen, renderState } from '../figures/forecast-state.ts';
import { listPriceRanges } from '../figures/price-ranges.ts';
import { toSentence } from '../sentence.ts';
import { renderNotes } from './notes.ts';

const HORIZONS = ['2d', '3d', '7d'];

/** The newest forecast of a horizon, with as much of it as the answer has. @param now ISO 8601 */
export function renderForecastCard(answer: Fields, now: string): Markup {
  const horizon = readText(answer.horizon);
  return [
    renderTitle(answer, now),
    renderCall(answer),
    renderRows(listProbabilityRows(answer)),
    renderRanges(answer),
    renderTimes(answer, now),
    renderWays(readList(answer.ways)),
    renderRecord(answer),
    renderNotes(answer),
    el('p', { class: 'actions' }, [
      renderCheckButton(answer),
      renderHorizonButtons('forecast', HORIZONS, horizon),
      renderCallButton('record', 'Track record', { horizon }),
    ]),
  ];
}

function renderTitle(answer: Fields, now: string): Markup {
  const date = readText(answer.date);
  const state = deriveForecastState(answer, now);
  return [
    el('h1', { tabindex: -1 }, `Bitcoin, ${formatHorizon(readText(answer.horizon))}`),
    el('p', { class: 'quiet' }, [
      state === null ? null : [renderState(state), ' '],
      /^\d{4}-\d{2}-\d{2}$/.test(date) ? `Forecast of ${formatDate(date)}` : null,
    ]),
  ];
}

/** The direction is drawn from the answer alone: an answer without it shows none. */
function renderCall({ signal, direction, confidence }: Fields): Markup {
  const word = readText(signal);
  const share = readNumber(confidence);
  const known = [readText(direction), share === null ? '' : `${(100 * share).toFixed(1)} % confident`].filter((part) => part !== '');
  if (word === '' || word === 'GATED') return el('p', { class: 'lead' }, 'The direction is hidden until its outcome.');
  return el('p', { class: 'lead' }, [el('strong', {}, word), known.length === 0 ? null : ` ${known.join(', ')}`]);
}

function listProbabilityRows({ pUp }: Fields): DrawnRow[] {
  const value = readNumber(pUp);
  if (value === null) return [];
  return [{ label: 'P(up)', text: `${(100 * value).toFixed(1)} %; dashed: 50 %`, domain: { low: 0, high: 1 }, value, reference: 0.5 }];
}

function renderRanges(answer: Fields): Markup {
  const price = readNumber(answer.btcPrice);
  const ranges = listPriceRanges(answer);
  if (ranges.length === 0) return price === null ? null : el('p', {}, `Price at the forecast: ${formatUsd(price)}`);
  const domain = spanRanges(ranges, price);
  const rows = ranges.map(({ share, low, high }) => ({
    label: `${Math.round(100 * share)} % range`,
    text: `${formatUsd(low)} to ${formatUsd(high)}`,
    domain,
    interval: { low, high },
    reference: price,
    isRange: true,
  }));
  return [
    el('h2', {}, 'Expected price at the end'),
    renderRows(rows),
    price === null ? null : el('p', { class: 'quiet' }, `Dashed: ${formatUsd(price)}, the price at the forecast`),
  ];
}

/** All ranges and the price, with a margin. */
function spanRanges(ranges: readonly Interval[], price: number | null): Interval {
  const prices = price === null ? [] : [price];
  const low = Math.min(...ranges.map((range) => range.low), ...prices);
  const high = Math.max(...ranges.map((range) => range.high), ...prices);
  const margin = 0.1 * (high - low);
  return { low: low - margin, high: high + margin };
}

/** The steps whose time the answer has. */
function renderTimes(answer: Fields, now: string): Markup {
  const [windowOpensAt, endsAt] = [readTime(answer.windowOpensAt), readTime(answer.resolvesAt)];
  const state = deriveForecastState(answer, now);
  if (state === null || windowOpensAt === '' || endsAt === '') return null;
  const [madeAt, committed, revealed] = [readTime(answer.timestamp), toStep(answer.attestedAt), toStep(answer.resolvedAt)];
  const steps = listSteps({ state: state === 'pending' ? 'committed' : state, madeAt, committed, windowOpensAt, endsAt, revealed, now });
  return [
    renderSteps(steps.filter(({ at }) => at !== null && at !== '')),
    isOpen(state) ? el('p', { class: 'quiet' }, 'Revealed to everyone once its outcome is on chain, after the window ends.') : null,
  ];
}

function toStep(time: unknown) {
  const at = readTime(time);
  return at === '' ? null : { at, explorerUrl: null };
}

function renderRecord({ skill, horizon }: Fields): Markup {
  const { verdict, accuracy, interval95, alwaysUpAccuracy, scored } = readFields(skill);
  const figures = { accuracy: readNumber(accuracy), interval: readInterval(interval95), alwaysUp: readNumber(alwaysUpAccuracy) };
  const text = toSentence(readText(verdict));
  if (text === '' && figures.accuracy === null) return null;
  const count = readNumber(scored);
  const of = count === null ? '' : `, ${count} ${count === 1 ? 'call' : 'calls'}`;
  return [
    el('h2', {}, `Record over ${formatHorizon(readText(horizon))}${of}`),
    renderCallFigures(figures),
    text === '' ? null : el('p', { class: 'quiet' }, text),
  ];
}

/** How to see what is hidden. */
function renderWays(ways: readonly Fields[]): Markup {
  const texts = ways.map(({ how }) => readText(how)).filter((text) => text !== '');
  if (texts.length === 0) return null;
  const items = texts.map((text) => el('li', {}, text));
  return el('details', {}, [el('summary', {}, 'How to see the direction'), el('ul', { class: 'plain' }, items)]);
}

function renderCheckButton(answer: Fields): Markup {
  const predictionId = readText(answer.predictionId);
  return predictionId === '' ? null : renderCallButton('verification', 'Check it on chain', { predictionId });
}
