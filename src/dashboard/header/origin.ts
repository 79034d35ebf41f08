import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatUtcTime } from '../lib/format.ts';
import { formatDate } from '../lib/format-text.ts';
import type { Page } from '../state/page.ts';

interface DataOrigin {
  kind: 'live' | 'csv' | 'simulated';
  source: string;
  replayedThrough: string | null;
  staleSince: string | null;
}

/** Banner with the origin of the data: simulated, recorded or live, replayed or stale. Sets `data-kind` on the body for the style sheet. */
export function mountOrigin({ store }: Page) {
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
  for (const name of ['info', 'price', 'scorecard'] as const) store.watch(name, draw);
}

/** @returns null before `info` is loaded */
function getDataOrigin(store: Page['store']): DataOrigin | null {
  const { answer: info } = store.get('info');
  const { answer: price } = store.get('price');
  if (info === null) return null;
  const { kind, source } = info.data;
  // Rows are sorted newest first.
  const replayed = store.get('scorecard').answer?.predictions.find((row) => row.replayed);
  return { kind, source, replayedThrough: replayed?.date ?? null, staleSince: price?.stale ? price.observedAt : null };
}

function formatDataOrigin({ kind, source, replayedThrough, staleSince }: DataOrigin) {
  const [mark, ...sentences] = KIND_SENTENCES[kind](source);
  return [mark, ...sentences, ...formatReplay(kind, replayedThrough), ...formatStaleness(kind, staleSince), ...formatWorth(kind)];
}

const KIND_SENTENCES: Record<DataOrigin['kind'], (source: string) => string[]> = {
  simulated: (source) => ['Simulated market', `Prices and quotes are generated from ${parseSeed(source)}.`],
  csv: (source) => ['Recorded history', `Prices come from recorded files (${source}), not from the current market.`],
  live: () => ['Live market data'],
};

/** `seed 2` from `simulated (seed 2)`. */
function parseSeed(source: string) {
  return /seed \S+?(?=\))/.exec(source)?.[0] ?? 'a seed';
}

function formatReplay(kind: DataOrigin['kind'], through: string | null) {
  if (through === null) return [];
  const sentence = `Days up to ${formatDate(through)} were replayed at the first start of this demo`;
  return [kind === 'simulated' ? `${sentence}.` : `${sentence}: their forecasts were not made on those dates.`];
}

function formatWorth(kind: DataOrigin['kind']) {
  return kind === 'simulated' ? ['It shows nothing about performance on the real market.'] : [];
}

function formatStaleness(kind: DataOrigin['kind'], since: string | null) {
  if (since === null) return [];
  return [kind === 'csv' ? `The files end at ${formatUtcTime(since)}.` : `The newest price is stale: ${formatUtcTime(since)}.`];
}
