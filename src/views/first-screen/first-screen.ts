import { el, type Markup } from '../markup.ts';
import { judgeCall } from './call-verdict.ts';
import { renderFan } from './fan/fan.ts';
import type { FirstScreenData } from './first-screen-data.ts';
import { formatShortDate, formatWholePercent, formatWholeUsd } from './format-figures.ts';
import { renderHorizonChoice } from './horizon-choice.ts';
import { formatRecordLine } from './record-line.ts';
import { formatNote, formatStateLine } from './state-line.ts';

/** Share of the range that is printed as the number of the page. */
const NUMBER_SHARE = 0.8;

/** Parts that are redrawn alone, each in an element of fixed height. The choice of the horizon is none: it is drawn once. */
export const FIRST_SCREEN_PARTS = {
  number: renderNumber,
  call: renderCall,
  record: renderRecord,
  actions: renderActions,
  note: formatNote,
  fan: renderFan,
} as const satisfies Record<string, (data: FirstScreenData) => Markup>;

export type FirstScreenPart = keyof typeof FIRST_SCREEN_PARTS;

/** The answer of the page: what is expected, whether it is any good, and how to check it. */
export function renderFirstScreen(data: FirstScreenData): Markup {
  const part = (name: FirstScreenPart) => el('div', { class: `first-${name}`, 'data-part': name }, FIRST_SCREEN_PARTS[name](data));
  return el('div', { class: 'first' }, [
    el('div', { class: 'first-answer' }, [part('number'), part('call'), part('record'), part('actions'), part('note')]),
    el('div', { class: 'first-chart' }, [part('fan'), renderHorizonChoice(data.horizonDays)]),
  ]);
}

/** The range of the forecast itself where the reader may see it, else that around the price. */
function renderNumber({ range, horizonDays, access }: FirstScreenData): Markup {
  const found = range?.horizons?.find(({ horizon }) => horizon === `${horizonDays}d`);
  const central = found?.ranges.find(({ share }) => share === NUMBER_SHARE);
  if (found === undefined || central === undefined) return el('strong', {}, '$–');
  const { low, high } = access.own ?? central;
  return [
    el('strong', {}, `${formatWholeUsd(low)}–${formatWholeUsd(high)}`),
    ' ',
    el('span', { class: 'quiet' }, `${formatWholePercent(NUMBER_SHARE)} likely on ${formatShortDate(found.resolvesAt)}`),
  ];
}

function renderCall(data: FirstScreenData): Markup {
  const verdict = data.call === null ? null : judgeCall(data.call, data.horizonDays, data.access.usual);
  const state = formatStateLine(data);
  if (verdict === null) return el('p', { title: 'Times are UTC' }, el('span', { class: 'seal', 'aria-hidden': 'true' }), state);
  const { claim, comparison, tone } = verdict;
  return [
    el('p', {}, [el('strong', { class: tone === 'plain' ? null : tone }, claim), comparison === null ? null : ` – ${comparison}`]),
    el('p', { class: 'quiet', title: 'Times are UTC' }, state),
  ];
}

function renderRecord({ record, waiting }: FirstScreenData): Markup {
  if (record !== null) return formatRecordLine(record);
  return waiting === 'none' ? 'No outcome yet' : null;
}

function renderActions({ access: { tier, hasEnded } }: FirstScreenData): Markup {
  return [
    el('a', { class: 'first-check', href: '#attestations', 'data-do': 'check' }, 'Check everything'),
    tier === null
      ? [
          el('button', { type: 'button', 'data-do': 'unlock', 'aria-haspopup': 'dialog' }, hasEnded ? 'Unlock again' : 'Unlock'),
          el('a', { href: 'docs#/signal/buySignal', 'data-do': 'buy', 'aria-haspopup': 'dialog' }, 'Buy'),
        ]
      : null,
  ];
}
