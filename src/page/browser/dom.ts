import { formatUtc } from '../../forecast/day.ts';
import { EMPTY_VALUE, el, formatRelativeTime, isMarkupElement, listAttributes, type Markup, type MarkupElement } from '../markup.ts';

/** DOM construction without HTML parsing: external text can only become text nodes. */

const SVG = 'http://www.w3.org/2000/svg';

export type Child = Node | string | number | null | undefined | false;
export type Children = Child | readonly Children[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Creates an HTML element. Omits attributes that are false, null or undefined; `onclick` and the like take functions. */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes: Attributes = {}, ...children: Children[]) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...toDomNodes(children));
  return element;
}

export function replaceChildren(element: Element, ...children: Children[]) {
  element.replaceChildren(...toDomNodes(children));
}

/** An element that the server has written. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element;
}

/** Writes what has happened into a status line. @returns a function that replaces it; a problem is red */
export function createSay(status: HTMLElement) {
  return (message: string, isProblem = false) => {
    status.textContent = message;
    status.classList.toggle('bad', isProblem);
  };
}

/** @returns whether the clipboard has taken the text */
export async function copyText(text: string): Promise<boolean> {
  const write = async () => navigator.clipboard.writeText(text);
  return write().then(
    () => true,
    () => false,
  );
}

/** The element below the heading of a section. */
export function getSectionBody(id: string): HTMLElement {
  return byId(id).querySelector('.body') as HTMLElement;
}

function toDomNodes(children: Children): (Node | string)[] {
  if (children === null || children === undefined || children === false) return [];
  if (typeof children !== 'object') return [String(children)];
  return children instanceof Node ? [children] : children.flatMap(toDomNodes);
}

/** A `dl.facts` list of terms and values. */
export function renderFacts(facts: readonly (readonly [term: string, value: Child])[]) {
  const entries = facts.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, entries);
}

/** Text of wire values and ISO dates. */

/** `7-day` for `7d`. */
export function formatHorizon(horizon: string) {
  return `${horizon.replace(/d$/, '')}-day`;
}

/** `+1.50 %`. */
export function formatSignedPercent(percent: number) {
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(2)}\u00a0%`;
}

/** Capitalizes and ends a sentence of the service; keeps minus and percent signs with their numbers. */
export function toSentence(text: string) {
  const figures = text.replace(/(\d) %/g, '$1\u00a0%').replace(/(^|[ (])-(?=\d)/g, '$1−');
  return `${figures.charAt(0).toUpperCase()}${figures.slice(1)}${figures.endsWith('.') ? '' : '.'}`;
}

/** Limits the length of external text. */
export function truncate(text: unknown, most = 140) {
  const whole = String(text ?? '');
  return whole.length > most ? `${whole.slice(0, most - 1)}…` : whole;
}

/** `Basic` for `basic`. */
export function formatTier(tier: string) {
  return `${tier.slice(0, 1).toUpperCase()}${tier.slice(1)}`;
}

/** Times are shown in the zone of the reader, with UTC as their title; dates of forecasts stay UTC dates. */

/** `2026-11-22 22:35 CET` for an ISO 8601 time. @param timeZone default: of the reader */
export function formatLocalTime(time: string, timeZone?: string): string {
  const { date, clock } = readClock(time, timeZone);
  return `${date} ${clock}`;
}

/** `22:35 CET`. */
export function formatLocalClock(time: string, timeZone?: string): string {
  return readClock(time, timeZone).clock;
}

/** A `time` element; a dash without a time. @param time ISO 8601 @param form with or without the date */
export function createTime(time: string | null | undefined, form: 'full' | 'clock' = 'full'): Child {
  if (!time) return '–';
  const [element] = toNodes(renderTime(time)) as [HTMLElement];
  element.textContent = form === 'full' ? formatLocalTime(time) : formatLocalClock(time);
  return element;
}

/** A time in UTC, which the script replaces by the same time in the zone of the reader. @param time ISO 8601 */
function renderTime(time: string): MarkupElement {
  return el('time', { class: 'local', datetime: time, title: formatUtc(time) }, formatUtc(time));
}

/** Times that the server has written in UTC. */
export function localizeTimes(root: ParentNode = document) {
  for (const element of root.querySelectorAll<HTMLTimeElement>('time.local')) element.textContent = formatLocalTime(element.dateTime);
}

function readClock(time: string, timeZone: string | undefined) {
  const two = '2-digit';
  const form = new Intl.DateTimeFormat('en-GB', {
    ...{ year: 'numeric', month: two, day: two, hour: two, minute: two, timeZoneName: 'short', timeZone },
  });
  const parts = form.formatToParts(new Date(time)).map(({ type, value }) => [type, value]);
  const { year, month, day, hour, minute, timeZoneName } = Object.fromEntries(parts);
  return { date: `${year}-${month}-${day}`, clock: `${hour}:${minute} ${timeZoneName}` };
}

/** The elements of a tree that the server could have written as HTML. */
export function toNodes(markup: Markup, isSvg = false): (Node | string)[] {
  if (markup === null || markup === undefined || markup === false) return [];
  if (typeof markup !== 'object') return [String(markup)];
  if (!isMarkupElement(markup)) return markup.flatMap((one) => toNodes(one, isSvg));
  const inSvg = isSvg || markup.tag === 'svg';
  const element = inSvg ? document.createElementNS(SVG, markup.tag) : document.createElement(markup.tag);
  for (const [name, value] of listAttributes(markup)) element.setAttribute(name, value);
  element.append(...markup.children.flatMap((one) => toNodes(one, inSvg)));
  return [element];
}

const UPDATE_MS = 10_000;

/** A relative time such as `3 hours ago` that is kept current, with the exact time as its title. @param time ISO 8601 */
export function createRelativeTime(time: string) {
  return h('time', { class: 'ago', datetime: time, title: formatUtcTime(time) }, formatRelativeTime(time, Date.now()));
}

export function startTimeUpdates() {
  setInterval(() => {
    for (const element of document.querySelectorAll('time.ago')) {
      const text = formatRelativeTime((element as HTMLTimeElement).dateTime, Date.now());
      if (element.textContent !== text) element.textContent = text;
    }
  }, UPDATE_MS);
}

/** Number formats; a dash stands for a missing value. */

const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const countFormat = new Intl.NumberFormat('en-US');

export function formatUsdCents(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : usdCentsFormat.format(value);
}

export function formatCount(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : countFormat.format(value);
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

/** `2026-11-22 21:35 UTC` for an ISO 8601 time. */
export function formatUtcTime(time: string | null | undefined) {
  return time ? formatUtc(time) : EMPTY_VALUE;
}

/** `0x1234…abcd`. */
export function shortenHex(hex: string | null | undefined) {
  return hex ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : EMPTY_VALUE;
}

/** Also read by the inline script of each page, before the first paint. */
const THEME_STORAGE_KEY = 'oracle-theme';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Button that switches between the theme of the system, light and dark. */
export function mountTheme() {
  const place = document.getElementById('theme');
  if (place === null) return;
  const stored = document.documentElement.dataset.theme;
  let theme: Theme = stored === 'light' || stored === 'dark' ? stored : 'auto';
  const next = () => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const button = h('button', { type: 'button', class: 'theme', onclick: () => choose(next()) });
  function draw() {
    const label = `Theme: ${theme}`;
    button.setAttribute('aria-label', label);
    button.title = label;
    replaceChildren(button, renderIcon(theme));
  }
  function choose(chosen: Theme) {
    theme = chosen;
    const { dataset } = document.documentElement;
    if (theme === 'auto') delete dataset.theme;
    else dataset.theme = theme;
    storeTheme(theme);
    draw();
  }
  draw();
  replaceChildren(place, button);
}

/** Without storage the choice lasts as long as the page. */
function storeTheme(theme: Theme) {
  try {
    if (theme === 'auto') localStorage.removeItem(THEME_STORAGE_KEY);
    else localStorage.setItem(THEME_STORAGE_KEY, theme);
  } catch {}
}

/** A disc that is half, not, or wholly filled. */
function renderIcon(theme: Theme) {
  const fill = { auto: 'M10 3a7 7 0 0 1 0 14z', light: '', dark: 'M10 3a7 7 0 0 1 0 14a7 7 0 0 1 0-14z' }[theme];
  const icon = el('svg', { width: 20, height: 20, viewBox: '0 0 20 20', 'aria-hidden': 'true' }, [
    el('circle', { cx: 10, cy: 10, r: 7, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 }),
    fill !== '' && el('path', { d: fill, fill: 'currentColor' }),
  ]);
  return toNodes(icon);
}
