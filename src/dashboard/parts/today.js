import { ago } from '../lib/ago.js';
import { bodyOf, byId, h, replace } from '../lib/dom.js';
import { usdCents } from '../lib/format.js';
import { drawnOr, show } from '../lib/section.js';
import { dayWords, regimeWords, signedPercent } from '../lib/words.js';
import { callOf } from '../today/call.js';
import { rangeOf } from '../today/call-range.js';
import { windowOf } from '../today/call-window.js';
import { lastOpenedOf, newestOpened } from '../today/last-opened.js';
import { callTitle, changeSince, nextCallAt } from '../today/newest-call.js';

/** @import { Answers, ScorecardRow } from '../state/answers.ts' */
/** @import { Child } from '../lib/dom.js' */
/** @import { Known } from '../state/store.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['signal']} Signal */

const NAMES = ['trouble', 'call', 'range', 'last', 'now', 'life', 'facts', 'next'];

/**
 * The newest forecast as the reader may see it, beside the market as it is now.
 * @param {Page} page
 */
export function mountToday({ store, session }) {
  const [trouble, call, range, last, now, life, facts, next] = NAMES.map((name) => h('div', { class: `today-${name}` }));
  const [left, right] = [h('div', {}, trouble, range, last), h('div', {}, now, life, facts, next)];
  replace(bodyOf('today'), h('div', { class: 'today' }, left, right));
  const title = byId('today-title');
  show({ store, name: 'signal', body: trouble, draw: () => call });
  // What can be focused is drawn again only when it has changed.
  const [redrawCall, redrawLast, redrawFacts] = [call, last, facts].map(whenChanged);
  const draw = () => {
    const known = knownOf(store, session);
    const { signal, row, rows, price, info, tier } = known;
    const { hasEnded } = session;
    const opened = newestOpened(rows);
    const needed = info?.tiers.find((one) => one.tier === 'basic')?.requirement ?? 'gate tokens';
    redrawCall([signal, needed, tier, hasEnded], () => (signal === null ? null : callOf(signal, { needed, tier, hasEnded })));
    redrawLast([opened], () => (opened === null ? null : lastOpenedOf(opened)));
    // Where there is room: the range is the tallest part.
    const column = row?.band80 ? right : left;
    if (last.parentElement !== column) column.append(last);
    redrawFacts([signal], () => (signal === null ? null : factsOf(signal)));
    put(range, () => [missedOf(rows[0]), rangeOf(known)]);
    put(now, () => nowOf(price, signal));
    put(life, () => (signal === null ? null : windowOf(signal)));
    put(next, () => nextCallOf(info, signal));
    title.textContent = callTitle(signal);
  };
  for (const name of /** @type {const} */ (['signal', 'scorecard', 'price', 'info'])) store.watch(name, draw);
  session.onChange(draw);
}

/**
 * What is known of the call; `row` is its own in the record, whose newest comes first.
 * @param {Page['store']} store
 * @param {Page['session']} session
 */
function knownOf(store, session) {
  const signal = store.get('signal').answer;
  const rows = store.get('scorecard').answer?.predictions ?? [];
  const row = rows.find(({ predictionId }) => predictionId === signal?.predictionId) ?? null;
  const tier = tierOf(store.get('signal'), session);
  return { signal, row, rows, tier, price: store.get('price').answer, info: store.get('info').answer };
}

/**
 * The tier that what is known was told to: what a wallet gets is said only of an answer that it has asked for.
 * @param {Known<Signal>} known
 * @param {Page['session']} session
 */
function tierOf({ asker }, { current }) {
  return current !== null && asker?.wallet.toLowerCase() === current.wallet.toLowerCase() ? current.tier : null;
}

/** @param {HTMLElement} element @param {() => Child | readonly Child[]} make */
function put(element, make) {
  replace(element, drawnOr(make));
}

/** @param {HTMLElement} element */
function whenChanged(element) {
  let drawn = '';
  return (/** @type {readonly unknown[]} */ of, /** @type {() => Child | readonly Child[]} */ make) => {
    const next = JSON.stringify(of);
    if (next !== drawn) put(element, make);
    drawn = next;
  };
}

/**
 * @param {Answers['price'] | null} price
 * @param {Signal | null} signal
 */
function nowOf(price, signal) {
  if (price === null || price.price === null) return h('p', { class: 'empty' }, 'No price of now.');
  const { change24h, observedAt, stale } = price;
  const since = changeSince(signal, price);
  return [
    h('p', { class: 'price-now' }, h('span', { class: 'quiet' }, 'Bitcoin now'), h('strong', {}, usdCents(price.price))),
    h(
      'p',
      { class: 'price-moves' },
      change24h === null ? null : move(change24h, 'in 24 hours'),
      since === null ? null : move(since, 'since the call'),
      observedAt === null ? null : h('span', { class: stale ? 'bad' : 'quiet' }, stale ? 'old, seen ' : 'seen ', ago(observedAt)),
    ),
  ];
}

/** @param {number} changePercent @param {string} of */
function move(changePercent, of) {
  return h('span', {}, h('span', { class: changePercent < 0 ? 'bad' : 'good' }, signedPercent(changePercent)), ` ${of}`);
}

/** @param {Signal} signal */
function factsOf({ regime, fearGreed, fearGreedLabel, etfFlows7d, btcPrice, modelVersion, attestationUid }) {
  const uid = attestationUid && h('a', { href: '#attestations', title: attestationUid }, `${attestationUid.slice(0, 10)}…`);
  return h(
    'dl',
    { class: 'facts' },
    fact('Price at signal', usdCents(btcPrice)),
    fact('Market regime', regimeWords(regime)),
    fact('Fear & Greed', fearGreed === null ? '–' : `${fearGreed}: ${fearGreedLabel}`),
    fact('ETF flows, 7 days', etfFlows7d === null ? '–' : millions(etfFlows7d)),
    fact('Committed on chain', uid ?? 'about 21:38 UTC'),
    fact('Model', modelVersion),
  );
}

/** @param {string} term @param {Child} value */
function fact(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}

/** @param {number} usd */
function millions(usd) {
  return `${usd < 0 ? '−' : '+'}$${Math.round(Math.abs(usd) / 1e6).toLocaleString('en-US')} M`;
}

/** @param {ScorecardRow | undefined} newest */
function missedOf(newest) {
  if (!newest?.missed) return null;
  return h(
    'p',
    { class: 'notice' },
    `Nothing was forecast on ${dayWords(newest.date)}. The day stands in the record as void, and never counts.`,
  );
}

/**
 * When the next forecast is due: a time of every day.
 * @param {Answers['info'] | null} info
 * @param {Signal | null} signal
 */
function nextCallOf(info, signal) {
  const time = info?.schedule.find(({ step }) => step === 'signal')?.times[0];
  if (time === undefined) return null;
  return h('p', { class: 'quiet' }, 'Next call ', ago(nextCallAt(time, signal).toISOString()), `, at ${time} UTC.`);
}
