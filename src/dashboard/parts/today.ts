import { byId, type Children, getSectionBody, h, renderFacts, replaceChildren } from '../lib/dom.ts';
import { formatUsdCents } from '../lib/format.ts';
import { formatDate, formatRegime, formatSignedPercent } from '../lib/format-text.ts';
import { createRelativeTime } from '../lib/relative-time.ts';
import { drawSafely, mountResource } from '../lib/section.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses, ScorecardRow } from '../state/responses.ts';
import type { ResourceState } from '../state/store.ts';
import { renderCall } from '../today/call.ts';
import { renderCallRange } from '../today/call-range.ts';
import { renderCallWindow } from '../today/call-window.ts';
import { findNewestRevealed, renderLastRevealed } from '../today/last-revealed.ts';
import { computeChangePercent, formatCallTitle, getNextCallTime } from '../today/newest-call.ts';

type Signal = ApiResponses['signal'];

const PANEL_NAMES = ['trouble', 'call', 'range', 'last', 'now', 'life', 'facts', 'next'];

/** The newest call as far as the reader may see it, beside the current price. */
export function mountToday({ store, session }: Page) {
  const [trouble, call, range, last, now, life, facts, next] = PANEL_NAMES.map((name) => h('div', { class: `today-${name}` }));
  const [left, right] = [h('div', {}, trouble, range, last), h('div', {}, now, life, facts, next)];
  replaceChildren(getSectionBody('today'), h('div', { class: 'today' }, left, right));
  const title = byId('today-title');
  mountResource({ store, name: 'signal', body: trouble, draw: () => call });
  // Parts with focusable elements are redrawn only on change.
  const [redrawCall, redrawLast, redrawFacts] = [call, last, facts].map(createChangeGuard);
  const draw = () => {
    const known = collectKnown(store, session);
    const { signal, row, rows, price, info, tier } = known;
    const { hasEnded } = session;
    const opened = findNewestRevealed(rows);
    const needed = info?.tiers.find((one) => one.tier === 'basic')?.requirement ?? 'gate tokens';
    redrawCall([signal, needed, tier, hasEnded], () => (signal === null ? null : renderCall(signal, { needed, tier, hasEnded })));
    redrawLast([opened], () => (opened === null ? null : renderLastRevealed(opened)));
    // Balances the columns: the range is the tallest part.
    const column = row?.band80 ? right : left;
    if (last.parentElement !== column) column.append(last);
    redrawFacts([signal], () => (signal === null ? null : renderSignalFacts(signal)));
    drawInto(range, () => [renderMissedDay(rows[0]), renderCallRange(known)]);
    drawInto(now, () => renderPriceNow(price, signal));
    drawInto(life, () => (signal === null ? null : renderCallWindow(signal)));
    drawInto(next, () => renderNextCall(info, signal));
    title.textContent = formatCallTitle(signal);
  };
  for (const name of ['signal', 'scorecard', 'price', 'info'] as const) store.watch(name, draw);
  session.onChange(draw);
}

/** `row`: the record row of the call. */
function collectKnown(store: Page['store'], session: Page['session']) {
  const signal = store.get('signal').answer;
  const rows = store.get('scorecard').answer?.predictions ?? [];
  const row = rows.find(({ predictionId }) => predictionId === signal?.predictionId) ?? null;
  const tier = getAnswerTier(store.get('signal'), session);
  return { signal, row, rows, tier, price: store.get('price').answer, info: store.get('info').answer };
}

/** The tier of the reader, if the answer was requested in the current session. */
function getAnswerTier({ requestedBy }: ResourceState<Signal>, { current }: Page['session']) {
  return current !== null && requestedBy?.wallet.toLowerCase() === current.wallet.toLowerCase() ? current.tier : null;
}

function drawInto(element: HTMLElement, make: () => Children) {
  replaceChildren(element, drawSafely(make));
}

function createChangeGuard(element: HTMLElement) {
  let drawn = '';
  return (of: readonly unknown[], make: () => Children) => {
    const next = JSON.stringify(of);
    if (next !== drawn) drawInto(element, make);
    drawn = next;
  };
}

function renderPriceNow(price: ApiResponses['price'] | null, signal: Signal | null) {
  if (price === null || price.price === null) return h('p', { class: 'empty' }, 'No current price.');
  const { change24h, observedAt, stale } = price;
  const since = computeChangePercent(signal, price);
  return [
    h('p', { class: 'price-now' }, h('span', { class: 'quiet' }, 'Bitcoin now'), h('strong', {}, formatUsdCents(price.price))),
    h('p', { class: 'price-moves' }, [
      change24h === null ? null : renderMove(change24h, 'in 24 hours'),
      since === null ? null : renderMove(since, 'since the call'),
      observedAt === null
        ? null
        : h('span', { class: stale ? 'bad' : 'quiet' }, stale ? 'stale, seen ' : 'seen ', createRelativeTime(observedAt)),
    ]),
  ];
}

function renderMove(changePercent: number, of: string) {
  return h('span', {}, h('span', { class: changePercent < 0 ? 'bad' : 'good' }, formatSignedPercent(changePercent)), ` ${of}`);
}

function renderSignalFacts({ regime, fearGreed, fearGreedLabel, etfFlows7d, btcPrice, modelVersion, attestationUid }: Signal) {
  const uid = attestationUid && h('a', { href: '#attestations', title: attestationUid }, `${attestationUid.slice(0, 10)}…`);
  return renderFacts([
    ['Price at signal', formatUsdCents(btcPrice)],
    ['Market regime', formatRegime(regime)],
    ['Fear & Greed', fearGreed === null ? '–' : `${fearGreed}: ${fearGreedLabel}`],
    ['ETF flows, 7 days', etfFlows7d === null ? '–' : formatMillions(etfFlows7d)],
    ['Committed on chain', uid ?? 'about 21:38 UTC'],
    ['Model', modelVersion],
  ]);
}

function formatMillions(usd: number) {
  return `${usd < 0 ? '−' : '+'}$${Math.round(Math.abs(usd) / 1e6).toLocaleString('en-US')} M`;
}

function renderMissedDay(newest: ScorecardRow | undefined) {
  if (!newest?.missed) return null;
  return h('p', { class: 'notice' }, `No forecast was made on ${formatDate(newest.date)}. The day is void in the record and never counts.`);
}

/** The next forecast is made at the same time every day. */
function renderNextCall(info: ApiResponses['info'] | null, signal: Signal | null) {
  const time = info?.schedule.find(({ step }) => step === 'signal')?.times[0];
  if (time === undefined) return null;
  return h('p', { class: 'quiet' }, 'Next call ', createRelativeTime(getNextCallTime(time, signal).toISOString()), `, at ${time} UTC.`);
}
