import { byId, type Children, h, renderFacts, replaceChildren } from '../lib/dom.ts';
import { formatUsd, formatUsdCents } from '../lib/format.ts';
import { formatRegime, formatSignedPercent } from '../lib/format-text.ts';
import { createRelativeTime } from '../lib/relative-time.ts';
import { drawSafely } from '../lib/section.ts';
import type { Page } from '../state/page.ts';
import type { ApiResponses } from '../state/responses.ts';
import { renderCall } from './call.ts';
import { renderCallWindow } from './call-window.ts';
import { findNewestRevealed, renderLastRevealed } from './last-revealed.ts';
import { computeChangePercent, getNextCallTime } from './newest-call.ts';

type Signal = ApiResponses['signal'];

/** What is behind the call: prices, window, facts, the last revealed call and the time of the next. */
export function mountTodayDetails({ store }: Pick<Page, 'store'>) {
  const [call, ranges, now, life, facts, last, next] = ['call', 'ranges', 'now', 'life', 'facts', 'last', 'next'].map((name) =>
    h('div', { class: `today-${name}` }),
  );
  const [left, right] = [h('div', {}, call, ranges, last), h('div', {}, now, life, facts, next)];
  replaceChildren(byId('today-details'), h('div', { class: 'today' }, left, right));
  const draw = () => {
    const [signal, price, range, info] = [
      store.get('signal').answer,
      store.get('price').answer,
      store.get('range').answer,
      store.get('info').answer,
    ];
    const rows = store.get('scorecard').answer?.predictions ?? [];
    const row = rows.find(({ predictionId }) => predictionId === signal?.predictionId);
    const revealed = findNewestRevealed(rows);
    drawInto(call, () => (signal === null ? null : renderCall(signal)));
    drawInto(ranges, () => [renderOwnRange(row?.band80 ?? null), renderRanges(range)]);
    drawInto(last, () => (revealed === null ? null : renderLastRevealed(revealed)));
    drawInto(now, () => renderPriceNow(price, signal));
    drawInto(life, () => (signal === null ? null : renderCallWindow(signal)));
    drawInto(facts, () => (signal === null ? null : renderSignalFacts(signal)));
    drawInto(next, () => renderNextCall(info, signal));
  };
  for (const name of ['signal', 'range', 'scorecard', 'price', 'info'] as const) store.watch(name, draw);
}

/** Elements that are the same are kept, and with them the focus. */
function drawInto(element: HTMLElement, make: () => Children) {
  const next = h('div', {}, drawSafely(make));
  if (next.innerHTML !== element.innerHTML) replaceChildren(element, ...next.childNodes);
}

function renderPriceNow(price: ApiResponses['price'] | null, signal: Signal | null) {
  if (price === null || price.price === null) return h('p', { class: 'empty' }, 'No current price.');
  const { change24h, observedAt, stale } = price;
  const since = computeChangePercent(signal, price);
  return h('p', { class: 'price-moves' }, [
    h('span', {}, 'Bitcoin now ', h('strong', {}, formatUsdCents(price.price))),
    change24h === null ? null : renderMove(change24h, 'in 24 hours'),
    since === null ? null : renderMove(since, 'since the call'),
    observedAt === null
      ? null
      : h('span', { class: stale ? 'bad' : 'quiet' }, stale ? 'stale, seen ' : 'seen ', createRelativeTime(observedAt)),
  ]);
}

function renderMove(changePercent: number, of: string) {
  return h('span', {}, h('span', { class: changePercent < 0 ? 'bad' : 'good' }, formatSignedPercent(changePercent)), ` ${of}`);
}

/** The 80 % range of the forecast itself: for Premium, and for everyone once it is revealed. */
function renderOwnRange(band: { low: number; median: number; high: number } | null) {
  if (band === null) return null;
  return h(
    'p',
    {},
    `80\u00a0% range of this forecast: ${formatUsd(band.low)} to ${formatUsd(band.high)}, median ${formatUsd(band.median)}.`,
  );
}

/** The fan as figures. */
function renderRanges(range: ApiResponses['range'] | null) {
  if (!range?.horizons?.length) return null;
  const heads = ['Days', ...range.ranges.map(({ share }) => `${100 * share}\u00a0%`)];
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Expected range by horizon' }, [
    h('table', {}, [
      h('caption', {}, `Expected range around ${formatUsd(range.btcPrice)}, without direction`),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h(
        'tbody',
        {},
        range.horizons.map(({ horizon, ranges }) =>
          h('tr', {}, [
            h('th', { scope: 'row' }, horizon.replace('d', '')),
            ranges.map(({ low, high }) => h('td', {}, `${formatUsd(low)}–${formatUsd(high)}`)),
          ]),
        ),
      ),
    ]),
  ]);
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

/** The next forecast is made at the same time every day. */
function renderNextCall(info: ApiResponses['info'] | null, signal: Signal | null) {
  const time = info?.schedule.find(({ step }) => step === 'signal')?.times[0];
  if (time === undefined) return null;
  return h('p', { class: 'quiet' }, 'Next call ', createRelativeTime(getNextCallTime(time, signal).toISOString()), `, at ${time} UTC.`);
}
