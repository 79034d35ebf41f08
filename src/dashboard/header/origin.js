import { byId, h, replace } from '../lib/dom.js';
import { utcTime } from '../lib/format.js';
import { dayWords } from '../lib/words.js';

/** @import { Page } from '../parts/main.js' */

/**
 * What the reader looks at.
 * @typedef {{ kind: 'live' | 'csv' | 'simulated', source: string, replayedThrough: string | null, staleSince: string | null }} Origin
 */

/**
 * Says where everything on the page comes from, all the time: made up, recorded, or live; and what of it was replayed, or is old. The kind
 * stands on the body too, so that each figure carries it.
 * @param {Page} page
 */
export function mountOrigin({ store }) {
  const place = byId('origin');
  let shown = '';
  const draw = () => {
    const origin = originOf(store);
    if (origin === null || JSON.stringify(origin) === shown) return;
    shown = JSON.stringify(origin);
    document.body.dataset.kind = origin.kind;
    const [mark, ...sentences] = wordsOf(origin);
    const more = sentences.length === 0 ? null : h('p', { class: 'origin-more' }, sentences.join(' '));
    replace(place, h('p', { class: 'origin-mark' }, h('strong', {}, mark)), more);
  };
  for (const name of /** @type {const} */ (['info', 'price', 'scorecard'])) store.watch(name, draw);
}

/**
 * @param {Page['store']} store
 * @returns {Origin | null} null before anything is known
 */
function originOf(store) {
  const { answer: info } = store.get('info');
  const { answer: price } = store.get('price');
  if (info === null) return null;
  const { kind, source } = info.data;
  // The newest replayed day: rows come newest first.
  const replayed = store.get('scorecard').answer?.predictions.find((row) => row.replayed);
  return { kind, source, replayedThrough: replayed?.date ?? null, staleSince: price?.stale ? price.observedAt : null };
}

/** @param {Origin} origin the first one is a title */
function wordsOf({ kind, source, replayedThrough, staleSince }) {
  const [mark, ...sentences] = KINDS[kind](source);
  return [mark, ...sentences, ...replayWords(kind, replayedThrough), ...staleWords(kind, staleSince), ...worthWords(kind)];
}

/** @type {Record<Origin['kind'], (source: string) => string[]>} */
const KINDS = {
  simulated: (source) => ['Simulated market', `Prices and quotes here are made up by ${seedOf(source)}.`],
  csv: (source) => ['Recorded history', `Prices come from recorded files (${source}), not from the market as it is now.`],
  live: () => ['Live market data'],
};

/** `seed 2` of `simulated (seed 2)`. @param {string} source */
function seedOf(source) {
  return /seed \S+?(?=\))/.exec(source)?.[0] ?? 'a program';
}

/** @param {Origin['kind']} kind @param {string | null} through */
function replayWords(kind, through) {
  if (through === null) return [];
  const words = `Days up to ${dayWords(through)} were replayed when this demo first started`;
  return [kind === 'simulated' ? `${words}.` : `${words}: their forecasts were not made at those dates.`];
}

/** @param {Origin['kind']} kind */
function worthWords(kind) {
  return kind === 'simulated' ? ['Nothing here says how the oracle does on the real market.'] : [];
}

/** @param {Origin['kind']} kind @param {string | null} since */
function staleWords(kind, since) {
  if (since === null) return [];
  return [kind === 'csv' ? `These files end: the newest price is of ${utcTime(since)}.` : `The newest price is old: of ${utcTime(since)}.`];
}
