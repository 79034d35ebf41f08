import type { ScorecardRow } from './responses.ts';

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
