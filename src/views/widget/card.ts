import { el, type Markup, type MarkupElement } from '../markup.ts';
import { drawRangeBar, drawRangeFan, drawRecord } from './drawings.ts';
import {
  findRange,
  formatConfidence,
  formatDataNotes,
  formatDollars,
  formatRecord,
  formatShare,
  type WidgetCard,
  type WidgetRange,
} from './figures.ts';
import type { WidgetSize } from './options.ts';

/** The card that other sites show in a frame: text and drawings without scripts. */
export function renderCard(card: WidgetCard, size: WidgetSize): MarkupElement {
  return el('main', { class: size }, size === 'small' ? renderLines(card) : renderWholeCard(card, size));
}

/** What is left of a card in 64 pixels of height. */
function renderLines(card: WidgetCard): Markup {
  const { record, simulated, replayed, recordReplayed } = card;
  const range = findRange(card);
  const span = range === undefined ? formatDollars(card.btcPrice) : `80 %: ${formatSpan(range)}`;
  const right = record === null ? 'No outcome yet' : `${record.wins} of ${record.resolved} right (${formatInterval(record)})`;
  return [
    el('h1', {}, renderLink(card, `Bitcoin ${card.horizon}`), ' ', el('strong', {}, card.signal)),
    el('p', {}, `${span} USD${simulated ? ', simulated' : ''}`),
    el('p', { class: 'dim' }, `${right}${replayed || recordReplayed ? ', replayed' : ''}`),
  ];
}

function formatInterval({ low, high }: { low: number; high: number }): string {
  return `${(100 * low).toFixed(0)} to ${formatShare(high)}`;
}

function renderWholeCard(card: WidgetCard, size: WidgetSize): Markup {
  const notes = formatDataNotes(card);
  return [
    el('h1', {}, `Bitcoin signal, ${card.horizon}, ${card.date}`),
    el('p', { class: 'signal' }, card.signal, ' ', el('span', {}, formatConfidence(card))),
    size === 'large' ? renderFan(card) : renderBar(card),
    renderRecord(card),
    el('p', { class: 'dim' }, size === 'large' ? `Regime ${card.regime}. ` : '', `${notes} `, renderLink(card, 'Full record')),
  ];
}

function renderLink({ link }: WidgetCard, text: string): Markup {
  return el('a', { href: link, target: '_blank', rel: 'noopener noreferrer' }, text);
}

function renderBar(card: WidgetCard): Markup {
  const range = findRange(card);
  if (range === undefined) return null;
  const { low, high } = range;
  return [
    el('p', { class: 'dim' }, '80 % range at the end, without direction, USD'),
    drawRangeBar(range, card.btcPrice),
    el(
      'p',
      { class: 'ends' },
      [low, card.btcPrice, high].map((price) => el('span', {}, formatDollars(price))),
    ),
  ];
}

function renderFan(card: WidgetCard): Markup {
  const { ranges80, btcPrice, horizon } = card;
  if (ranges80.length === 0) return null;
  const cells = (tag: string, format: (range: WidgetRange) => string) =>
    ranges80.map((range) => el(tag, { scope: tag === 'th' && 'col', class: `${range.days}d` === horizon && 'chosen' }, format(range)));
  return [
    el('p', { class: 'dim' }, `80 % range by days, without direction, around ${formatDollars(btcPrice)} USD`),
    drawRangeFan(ranges80, btcPrice, Number.parseInt(horizon, 10)),
    el('table', {}, [
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, 'Days'),
        cells('th', ({ days }) => String(days)),
      ),
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, 'High'),
        cells('td', ({ high }) => formatDollars(high)),
      ),
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, 'Low'),
        cells('td', ({ low }) => formatDollars(low)),
      ),
    ]),
  ];
}

function formatSpan({ low, high }: WidgetRange): string {
  return `${formatDollars(low)} to ${formatDollars(high)}`;
}

function renderRecord({ record }: WidgetCard): Markup {
  if (record === null) return el('p', { class: 'dim' }, 'No forecast of this horizon is scored yet: no claim is made.');
  const { alwaysUp } = record;
  return [
    drawRecord(record),
    el('p', { class: 'dim' }, formatRecord(record), alwaysUp === null ? '' : `; always UP ${formatShare(alwaysUp)} (dashed)`),
  ];
}
