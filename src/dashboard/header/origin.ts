import { type OriginKind, renderOriginMark } from '../../views/first-screen/origin-mark.ts';
import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatDate } from '../lib/format-text.ts';
import { createTime } from '../lib/local-time.ts';
import { toNodes } from '../lib/markup-dom.ts';
import type { Page } from '../state/page.ts';

interface DataOrigin {
  kind: OriginKind;
  source: string;
  replayedThrough: string | null;
  staleSince: string | null;
}

/** Line about the data: simulated, recorded or live, replayed or stale; the rest is in a disclosure. The server has written its mark. */
export function mountOrigin({ store }: Page) {
  const place = byId('origin');
  let shown = '';
  const draw = () => {
    const origin = getDataOrigin(store);
    if (origin === null || JSON.stringify(origin) === shown) return;
    shown = JSON.stringify(origin);
    place.dataset.kind = origin.kind;
    const open = place.querySelector('details')?.open;
    const mark = toNodes(renderOriginMark(origin.kind, { isStale: origin.staleSince !== null }));
    const more = [...formatSource(origin), ...formatReplay(origin), ...formatWorth(origin)];
    const stale = renderStaleness(origin);
    replaceChildren(
      place,
      more.length + stale.length === 0
        ? h('p', { class: 'origin-mark' }, mark)
        : h('details', { open }, [
            h('summary', { class: 'origin-mark' }, mark),
            h('p', { class: 'origin-more' }, more.join(' '), ' ', stale),
          ]),
    );
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
  const { answer: scorecard } = store.get('scorecard');
  const replayed = scorecard?.predictions.find((row) => row.replayed);
  // Only a demo replays days, which may be older than the newest rows.
  if (scorecard !== null && replayed === undefined && info.demo) store.needWholeRecord();
  return { kind, source, replayedThrough: replayed?.date ?? null, staleSince: price?.stale ? price.observedAt : null };
}

function formatSource({ kind, source }: DataOrigin) {
  if (kind === 'live') return [];
  return [
    kind === 'simulated'
      ? `Prices and quotes are generated from ${parseSeed(source)}.`
      : `Prices come from recorded files (${source}), not from the current market.`,
  ];
}

/** `seed 2` from `simulated (seed 2)`. */
function parseSeed(source: string) {
  return /seed \S+?(?=\))/.exec(source)?.[0] ?? 'a seed';
}

function formatReplay({ kind, replayedThrough: through }: DataOrigin) {
  if (through === null) return [];
  const sentence = `Days up to ${formatDate(through)} were replayed at the first start of this demo`;
  return [kind === 'simulated' ? `${sentence}.` : `${sentence}: their forecasts were not made on those dates.`];
}

function formatWorth({ kind }: DataOrigin) {
  return kind === 'simulated' ? ['It shows nothing about performance on the real market.'] : [];
}

function renderStaleness({ kind, staleSince: since }: DataOrigin) {
  if (since === null) return [];
  return [kind === 'csv' ? 'The files end at ' : 'The newest price is stale: ', createTime(since), '.'];
}
