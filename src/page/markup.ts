/** What the server writes as HTML and the page turns into elements: text is only ever text. */
export type Markup = MarkupElement | string | number | null | undefined | false | readonly Markup[];

export interface MarkupElement {
  tag: string;
  attributes: Attributes;
  children: readonly Markup[];
}

/** False, null and undefined leave the attribute out; true writes it without a value. Listeners are for the browser alone. */
type AttributeValue = string | number | boolean | null | undefined | ((event: never) => void);

export type Attributes = Readonly<Record<string, AttributeValue>>;

const VOID_TAGS = new Set(['base', 'br', 'hr', 'img', 'input', 'link', 'meta']);

export function el(tag: string, attributes: Attributes = {}, ...children: Markup[]): MarkupElement {
  return { tag, attributes, children };
}

export function isMarkupElement(markup: Markup): markup is MarkupElement {
  return typeof markup === 'object' && markup !== null && 'tag' in markup;
}

/** HTML of a tree; SVG included. */
export function renderMarkup(markup: Markup): string {
  if (markup === null || markup === undefined || markup === false) return '';
  if (typeof markup !== 'object') return escapeHtml(String(markup));
  if (!isMarkupElement(markup)) return markup.map(renderMarkup).join('');
  const attributes = Object.entries(markup.attributes).map(([name, value]) => {
    if (value === null || value === undefined || value === false) return '';
    return value === true || value === '' ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`;
  });
  const start = `<${markup.tag}${attributes.join('')}>`;
  return VOID_TAGS.has(markup.tag) ? start : `${start}${renderMarkup(markup.children)}</${markup.tag}>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]);
}

/** `3 hours ago`, `in 2 days` or, of what comes within 36 hours, `in 7 h 5 min`. @param time ISO 8601 */
export function formatRelativeTime(time: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(time) - nowMs) / 1_000);
  const [amount, unit] = toTimeUnit(Math.abs(seconds));
  const minutes = Math.ceil(seconds / 60);
  if (seconds >= 0 && unit === 'hour') return `in ${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const text = `${amount} ${unit}${amount === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${text}` : `${text} ago`;
}

function toTimeUnit(seconds: number): [number, string] {
  if (seconds < 90) return [seconds, 'second'];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), 'minute'];
  if (seconds < 36 * 3_600) return [Math.round(seconds / 3_600), 'hour'];
  return [Math.round(seconds / 86_400), 'day'];
}

/** Text of dates, prices and wire values; a dash stands for a missing value. */

export const EMPTY_VALUE = '–';
const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const shortDates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 });

/** `22 Nov 2026`, or `Invalid Date`, for an ISO 8601 date or time. */
export function formatDate(time: string): string {
  return formatDay(dates, time);
}

/** `22 Nov` for an ISO 8601 date or time. */
export function formatDayAndMonth(time: string): string {
  return formatDay(shortDates, time);
}

/** A malformed date costs its own text, not what stands around it. */
function formatDay(format: Intl.DateTimeFormat, time: string): string {
  const day = new Date(time.slice(0, 10));
  return Number.isNaN(day.getTime()) ? String(day) : format.format(day);
}

/** Whole dollars. */
export function formatUsd(value: number | null | undefined): string {
  return value === null || value === undefined ? EMPTY_VALUE : dollars.format(value);
}

const counts = new Intl.NumberFormat('en-US');

export function formatCount(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : counts.format(value);
}

/** `58.4 %` for 0.584, with a no-break space. */
export function formatPercent(value: number | null | undefined, digits = 1) {
  return value === null || value === undefined ? EMPTY_VALUE : `${withMinusSign((100 * value).toFixed(digits))}\u00a0%`;
}

export function withMinusSign(figure: string) {
  return figure.replace('-', '−');
}

export function formatDecimal(value: number | null | undefined, digits = 3) {
  return value === null || value === undefined ? EMPTY_VALUE : withMinusSign(value.toFixed(digits));
}

/** Interval of shares, in percent. */
export function formatPercentInterval(interval: { low: number; high: number } | null | undefined, digits = 1) {
  return interval ? `${formatPercent(interval.low, digits)} to ${formatPercent(interval.high, digits)}` : EMPTY_VALUE;
}

/** Capitalizes and ends a sentence of the service; keeps minus and percent signs with their numbers. */
export function toSentence(text: string) {
  const figures = text.replace(/(\d) %/g, '$1\u00a0%').replace(/(^|[ (])-(?=\d)/g, '$1−');
  return `${figures.charAt(0).toUpperCase()}${figures.slice(1)}${figures.endsWith('.') ? '' : '.'}`;
}

/** `Bear trend` for `BEAR_TREND`. */
export function formatRegime(regime: string | null): string {
  if (regime === null) return EMPTY_VALUE;
  const text = regime.toLowerCase().replaceAll('_', ' ');
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Kinds of pages, which the body names in `data-page`: the script mounts the parts of that kind. */
const PAGE_KINDS = ['access', 'consent', 'dashboard', 'document', 'forecast', 'forecasts', 'reference'] as const;

export type PageKind = (typeof PAGE_KINDS)[number];
