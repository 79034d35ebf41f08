import { formatUtc } from '../../forecast/day.ts';
import { type Attributes, EMPTY_VALUE, el, formatRelativeTime, type Markup } from '../markup.ts';

const SVG = 'http://www.w3.org/2000/svg';

type Child = Markup | Node | readonly Child[];

/** An element for the scripts that do without the view library. */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, attributes?: Attributes, ...children: Child[]) {
  const [element] = toNodes(el(tag, attributes)) as [HTMLElementTagNameMap[Tag]];
  replaceChildren(element, ...children);
  return element;
}

export function replaceChildren(element: Element, ...children: Child[]) {
  element.replaceChildren(...toNodes(children));
}

function toNodes(markup: Child, isSvg = false): (Node | string)[] {
  if (markup === null || markup === undefined || markup === false) return [];
  if (typeof markup !== 'object') return [String(markup)];
  if (markup instanceof Node) return [markup];
  if (!('tag' in markup)) return markup.flatMap((one) => toNodes(one, isSvg));
  const inSvg = isSvg || markup.tag === 'svg';
  const element = inSvg ? document.createElementNS(SVG, markup.tag) : document.createElement(markup.tag);
  for (const [name, value] of Object.entries(markup.attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as (event: Event) => void);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...toNodes(markup.children, inSvg));
  return [element];
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

/** A `dl.facts` list of terms and values. */
export function renderFacts(facts: readonly (readonly [term: string, value: Markup])[]) {
  const entries = facts.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value)));
  return el('dl', { class: 'facts' }, entries);
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
export function createTime(time: string | null | undefined, form: 'full' | 'clock' = 'full'): Markup {
  if (!time) return EMPTY_VALUE;
  const text = form === 'full' ? formatLocalTime(time) : formatLocalClock(time);
  return el('time', { class: 'local', datetime: time, title: formatUtc(time) }, text);
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

const UPDATE_MS = 10_000;

/** A relative time such as `3 hours ago` that is kept current, with the exact time as its title. @param time ISO 8601 */
export function createRelativeTime(time: string) {
  return el('time', { class: 'ago', datetime: time, title: formatUtcTime(time) }, formatRelativeTime(time, Date.now()));
}

export function startTimeUpdates() {
  setInterval(() => {
    for (const element of document.querySelectorAll('time.ago')) {
      const text = formatRelativeTime((element as HTMLTimeElement).dateTime, Date.now());
      // The node is that of the view library.
      if (element.textContent !== text) (element.firstChild as Text).data = text;
    }
  }, UPDATE_MS);
}

/** Number formats; a dash stands for a missing value. */

const usdCentsFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

export function formatUsdCents(value: number | null | undefined) {
  return value === null || value === undefined ? EMPTY_VALUE : usdCentsFormat.format(value);
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
  return el('svg', { width: 20, height: 20, viewBox: '0 0 20 20', 'aria-hidden': 'true' }, [
    el('circle', { cx: 10, cy: 10, r: 7, fill: 'none', stroke: 'currentColor', 'stroke-width': 2 }),
    fill !== '' && el('path', { d: fill, fill: 'currentColor' }),
  ]);
}
