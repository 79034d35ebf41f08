import { el } from '../../markup.ts';
import { renderTable } from '../../table.ts';
import { createTime } from '../dom.ts';
import type { ApiResponses } from '../responses.ts';
import type { Page } from '../state.ts';
import { mountResource } from '../view.ts';

/** Age and providers of each series of market data. Titles come with `info`, which may be loaded later. */
export function mountFeeds({ store }: Page, body: HTMLElement) {
  const draw = (answer: ApiResponses['feeds']) => {
    const titles = new Map(store.get('info').answer?.data.series.map(({ series, title }) => [series, title]));
    const at = store.get('feeds').at;
    return [renderFeeds(answer, titles), el('p', { class: 'quiet as-of' }, at !== null && ['As of ', createTime(at.toISOString()), '.'])];
  };
  mountResource({ store, name: 'feeds', body, draw, also: ['info'] });
}

function renderFeeds({ source, feeds }: ApiResponses['feeds'], titles: ReadonlyMap<string, string>) {
  const stale = feeds.filter(({ stale }) => stale).length;
  const failing = feeds.filter(({ providers }) => providers.some(({ circuit }) => circuit !== 'closed')).length;
  const fresh = `${feeds.length - stale} of ${feeds.length} series are fresh`;
  const rest = failing === 0 ? '.' : `; ${failing} with a failing provider, replaced by the next.`;
  const mark = el('span', { class: stale === 0 ? 'is-fresh' : 'is-stale', 'aria-hidden': 'true' }, stale === 0 ? '✓ ' : '! ');
  return [
    el('p', { class: 'sum-up' }, mark, fresh, rest),
    el('p', { class: 'quiet' }, `Source: ${source}. Forecasts omit stale series and list them.`),
    renderTable({
      caption: 'Series of market data',
      columns: [
        { heading: 'Series', cell: ({ series }) => titles.get(series) ?? series },
        { heading: 'State', cell: ({ stale }) => el('span', { class: stale ? 'is-stale' : 'is-fresh' }, stale ? '! stale' : '✓ fresh') },
        { heading: 'Age', cell: ({ ageDays }) => formatAge(ageDays), numeric: true },
        { heading: 'Last observed', cell: ({ lastObserved }) => lastObserved ?? 'never' },
        { heading: 'Source', cell: ({ source }) => source },
        {
          heading: 'Providers',
          cell: ({ providers }) => providers.map(({ provider, circuit }) => `${provider} (${CIRCUIT_LABELS[circuit]})`).join(', ') || '–',
        },
      ],
      rows: feeds.toSorted((a, b) => Number(b.stale) - Number(a.stale)),
    }),
  ];
}

function formatAge(days: number | null) {
  if (days === null) return '–';
  return days === 0 ? 'today' : `${days} day${days === 1 ? '' : 's'}`;
}

const CIRCUIT_LABELS = { closed: 'ok', open: 'failing, paused', 'half-open': 'failing, retrying' };
