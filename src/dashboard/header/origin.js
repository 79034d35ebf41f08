import { byId, h, replaceChildren } from '../lib/dom.js';
import { formatUtcTime } from '../lib/format.js';
import { formatDate } from '../lib/format-text.js';

/** @import { Page } from '../parts/main.js' */

/**
 * @typedef {{ kind: 'live' | 'csv' | 'simulated', source: string, replayedThrough: string | null, staleSince: string | null }} DataOrigin
 */

/**
 * Banner with the origin of the data: simulated, recorded or live, replayed or stale. Sets `data-kind` on the body for the style sheet.
 * @param {Page} page
 */
export function mountOrigin({ store }) {
  const place = byId('origin');
  let shown = '';
  const draw = () => {
    const origin = getDataOrigin(store);
    if (origin === null || JSON.stringify(origin) === shown) return;
    shown = JSON.stringify(origin);
    document.body.dataset.kind = origin.kind;
    const [mark, ...sentences] = formatDataOrigin(origin);
    const more = sentences.length === 0 ? null : h('p', { class: 'origin-more' }, sentences.join(' '));
    replaceChildren(place, h('p', { class: 'origin-mark' }, h('strong', {}, mark)), more);
  };
  for (const name of /** @type {const} */ (['info', 'price', 'scorecard'])) store.watch(name, draw);
}

/** @param {Page['store']} store @returns {DataOrigin | null} null before `info` is loaded */
function getDataOrigin(store) {
  const { answer: info } = store.get('info');
  const { answer: price } = store.get('price');
  if (info === null) return null;
  const { kind, source } = info.data;
  // Rows are sorted newest first.
  const replayed = store.get('scorecard').answer?.predictions.find((row) => row.replayed);
  return { kind, source, replayedThrough: replayed?.date ?? null, staleSince: price?.stale ? price.observedAt : null };
}

/** @param {DataOrigin} origin */
function formatDataOrigin({ kind, source, replayedThrough, staleSince }) {
  const [mark, ...sentences] = KIND_SENTENCES[kind](source);
  return [mark, ...sentences, ...formatReplay(kind, replayedThrough), ...formatStaleness(kind, staleSince), ...formatWorth(kind)];
}

/** @type {Record<DataOrigin['kind'], (source: string) => string[]>} */
const KIND_SENTENCES = {
  simulated: (source) => ['Simulated market', `Prices and quotes are generated from ${parseSeed(source)}.`],
  csv: (source) => ['Recorded history', `Prices come from recorded files (${source}), not from the current market.`],
  live: () => ['Live market data'],
};

/** `seed 2` from `simulated (seed 2)`. @param {string} source */
function parseSeed(source) {
  return /seed \S+?(?=\))/.exec(source)?.[0] ?? 'a seed';
}

/** @param {DataOrigin['kind']} kind @param {string | null} through */
function formatReplay(kind, through) {
  if (through === null) return [];
  const sentence = `Days up to ${formatDate(through)} were replayed at the first start of this demo`;
  return [kind === 'simulated' ? `${sentence}.` : `${sentence}: their forecasts were not made on those dates.`];
}

/** @param {DataOrigin['kind']} kind */
function formatWorth(kind) {
  return kind === 'simulated' ? ['It shows nothing about performance on the real market.'] : [];
}

/** @param {DataOrigin['kind']} kind @param {string | null} since */
function formatStaleness(kind, since) {
  if (since === null) return [];
  return [kind === 'csv' ? `The files end at ${formatUtcTime(since)}.` : `The newest price is stale: ${formatUtcTime(since)}.`];
}
