import { type Children, createTime, h, replaceChildren } from './dom.ts';
import type { ApiResponses, ScorecardRow } from './responses.ts';
import { isPartial, type ResourceState, type Store } from './state.ts';

interface ResourceOptions<Name extends keyof ApiResponses> {
  store: Store;
  name: Name;
  body: HTMLElement;
  draw: (answer: ApiResponses[Name]) => Children;
  /** Whether an answer can be drawn; one that cannot is as good as none. */
  isReady?: (answer: ApiResponses[Name]) => boolean;
}

/**
 * Binds a resource to an element: loading state, answer and problem. Redraws only when the answer changes, so that open and focused
 * elements are kept.
 */
export function mountResource<Name extends keyof ApiResponses>({ store, name, body, draw, isReady }: ResourceOptions<Name>) {
  const content = h('div', {});
  const trouble = h('div', { 'aria-live': 'polite' });
  replaceChildren(body, trouble, content);
  let drawn = '';
  store.watch(name, (known) => {
    replaceChildren(trouble, renderProblem(known));
    const answer = known.answer === null || isReady?.(known.answer) === false ? null : known.answer;
    const next = answer === null ? '' : JSON.stringify(answer);
    if (answer === null) replaceChildren(content, known.problem === null ? renderLoading() : null);
    else if (next !== drawn) redrawKeepingFocus(content, () => draw(answer));
    drawn = next;
  });
}

/** Binds the whole record of the chosen horizon to an element, and has it requested. */
export function mountWholeRecord({ store, ...options }: Omit<ResourceOptions<'scorecard'>, 'name' | 'isReady'>) {
  mountResource({ store, ...options, name: 'scorecard', isReady: (scorecard) => !isPartial(scorecard) });
  store.needWhole();
}

/** Time of the last answer, for sections whose figures do not show their age. */
export function createAsOfLine(store: Store, name: keyof ApiResponses) {
  const line = h('p', { class: 'quiet as-of' });
  store.watch(name, ({ at }) => replaceChildren(line, at === null ? null : ['As of ', createTime(at.toISOString()), '.']));
  return line;
}

/** Says after some seconds that the service is slow, or that it does not answer while the page is offline. */
function renderLoading() {
  return h('p', { class: 'loading' }, [
    h('span', { class: 'while-online' }, 'Loading… ', h('span', { class: 'late' }, 'The service is slow.')),
    h('span', { class: 'while-offline' }, 'The service does not answer. This part is loaded when it does.'),
  ]);
}

export const BROKEN_TEXT = 'This part cannot be shown: the response of the service is invalid.';

/** A part that throws is replaced by a message, so that the others still work. */
export function runSafely<Result>(run: () => Result, replace: () => Result): Result {
  try {
    return run();
  } catch (error) {
    reportError(error);
    return replace();
  }
}

export function drawSafely(draw: () => Children) {
  return runSafely(draw, () => h('p', { class: 'trouble' }, BROKEN_TEXT));
}

/** Restores the focus after a redraw to the element at the same position. */
function redrawKeepingFocus(content: HTMLElement, draw: () => Children) {
  const focused = document.activeElement;
  const path = focused !== null && content.contains(focused) ? getChildPath(content, focused) : null;
  replaceChildren(content, drawSafely(draw));
  if (path === null || focused === null) return;
  const there = path.reduce((at: Element | undefined, index) => at?.children[index], content);
  if (there instanceof HTMLElement && there.tagName === focused.tagName) there.focus({ preventScroll: true });
}

/** Child indexes from `from` down to `element`. */
function getChildPath(from: Element, element: Element): number[] {
  const parent = element.parentElement;
  if (element === from || parent === null) return [];
  return [...getChildPath(from, parent), [...parent.children].indexOf(element)];
}

/** Placeholder of an empty section; adds a note while history is replayed. */
export function renderNotYet(text: string) {
  const meanwhile = h('span', { class: 'meanwhile' }, 'History is being replayed; this section fills automatically.');
  return h('p', { class: 'empty' }, h('span', {}, text), meanwhile);
}

function renderProblem({ answer, problem, at }: ResourceState<unknown>) {
  if (problem === null) return null;
  if (problem.code === 'STEP_WAITING') return renderNotYet(`${problem.message}.`);
  const since = answer === null || at === null ? null : [' Showing data of ', createTime(at.toISOString(), 'clock'), '.'];
  return h('p', { class: 'trouble' }, `${problem.message}.`, since);
}

export interface Column<Row> {
  heading: string;
  cell: (row: Row) => Children;
  numeric?: boolean;
}

/** Wider tables are cards on narrow screens; roles keep their semantics there. */
const MAX_NARROW_COLUMNS = 4;

/** A table that scrolls horizontally on narrow screens, by keyboard as well. The first column is the row header. */
export function renderTable<Row>(table: { caption: string; columns: readonly Column<Row>[]; rows: readonly Row[] }) {
  const { caption, columns, rows } = table;
  if (rows.length === 0) return h('p', { class: 'empty' }, 'Nothing yet.');
  const isWide = columns.length > MAX_NARROW_COLUMNS;
  const role = (name: string) => ({ role: isWide && name });
  const headings = columns.map(({ heading, numeric }) =>
    h('th', { scope: 'col', class: numeric && 'numeric', ...role('columnheader') }, heading),
  );
  const lines = rows.map((row) => {
    const cells = columns.map(({ heading, cell, numeric }, index) => {
      const attributes = { class: numeric && 'numeric', 'data-heading': isWide && heading };
      return index === 0
        ? h('th', { scope: 'row', ...attributes, ...role('rowheader') }, cell(row))
        : h('td', { ...attributes, ...role('cell') }, h('span', {}, cell(row)));
    });
    return h('tr', role('row'), cells);
  });
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, [
    h('table', { class: isWide && 'cards', ...role('table') }, [
      h('caption', {}, caption),
      h('thead', role('rowgroup'), h('tr', role('row'), headings)),
      h('tbody', role('rowgroup'), lines),
    ]),
  ]);
}

/** All rows of the chosen horizon. */
export interface ShownRecord {
  horizon: number;
  known: readonly ScorecardRow[];
}

/**
 * Data of other rows that a check compares: the row with the previous sequence number, the number of rows with the same number, and the
 * closes of adjacent windows in USD; null where no row has one.
 * @param known of its horizon
 */
export function findNeighbours(row: ScorecardRow, known: readonly ScorecardRow[]) {
  const others = known.filter(({ sequence }) => sequence !== row.sequence);
  return {
    before: others.find(({ sequence }) => sequence === row.sequence - 1) ?? null,
    alike: known.length - others.length,
    openingClose: others.find(({ resolvesAt }) => resolvesAt === row.windowOpensAt)?.btcAtResolution ?? null,
    endingClose: others.find(({ windowOpensAt, provisional }) => windowOpensAt === row.resolvesAt && !provisional)?.btcAtSignal ?? null,
  };
}

const reveals = new Set<(id: string) => void>();
/** Named by the address, but not on the page yet. */
let pending = '';

/** @param reveal opens or adds what holds the element with an id, as far as it knows it */
export function onReveal(reveal: (id: string) => void) {
  reveals.add(reveal);
}

/**
 * Handles addresses within this page, on load as well. Links to fragments resolve against the base URL, which differs from the page URL once
 * a horizon is chosen, so browsers would reload the page and lose its state.
 */
export function handleFragmentLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    const other = event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (other || link === null) return;
    event.preventDefault();
    const fragment = link.getAttribute('href') ?? '';
    if (fragment !== location.hash) history.pushState(history.state, '', `${location.pathname}${location.search}${fragment}`);
    goToAddress();
  });
  addEventListener('popstate', goToAddress);
  goToAddress();
}

/** Call after adding elements that an address may name. */
export function resumeNavigation() {
  if (pending !== '' && goTo(pending)) pending = '';
}

function goToAddress() {
  pending = location.hash.slice(1);
  resumeNavigation();
}

/** Moves the focus as well, for keyboard navigation. */
function goTo(id: string) {
  for (const reveal of reveals) reveal(id);
  const place = document.getElementById(id);
  if (place === null) return false;
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  place.scrollIntoView();
  stayAt(place);
  return true;
}

/** Parts above may still be loading. */
const STAY_MS = 10_000;
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
let release = () => {};

/** Keeps the place at the top while the page grows, until the reader does something. */
function stayAt(place: HTMLElement) {
  release();
  const leave = new AbortController();
  const growth = new ResizeObserver(() => place.scrollIntoView({ behavior: 'instant' }));
  growth.observe(document.body);
  const timer = setTimeout(() => release(), STAY_MS);
  release = () => {
    clearTimeout(timer);
    growth.disconnect();
    leave.abort();
  };
  for (const move of MOVES) addEventListener(move, release, { signal: leave.signal, passive: true });
}
