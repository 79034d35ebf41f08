import { getSectionBody, h, replaceChildren } from '../dom.ts';
import type { ApiResponses } from '../responses.ts';
import { createAsOfLine, mountResource, renderTable } from '../section.ts';
import type { Page } from '../state.ts';

/** Age and providers of each series of market data. */
export function mountFeeds({ store }: Page) {
  const body = h('div', {});
  replaceChildren(getSectionBody('feeds'), body, createAsOfLine(store, 'feeds'));
  let titles = new Map<string, string>();
  mountResource({ store, name: 'feeds', body, draw: (answer) => renderFeeds(answer, titles) });
  // Titles come with `info`, which may be loaded later.
  store.watch('info', ({ answer }) => {
    titles = new Map(answer?.data.series.map(({ series, title }) => [series, title]));
    for (const name of body.querySelectorAll('[data-series]'))
      name.textContent = titles.get(name.getAttribute('data-series') ?? '') ?? name.getAttribute('data-series');
  });
}

function renderFeeds({ source, feeds }: ApiResponses['feeds'], titles: ReadonlyMap<string, string>) {
  const stale = feeds.filter(({ stale }) => stale).length;
  const failing = feeds.filter(({ providers }) => providers.some(({ circuit }) => circuit !== 'closed')).length;
  const fresh = `${feeds.length - stale} of ${feeds.length} series are fresh`;
  const rest = failing === 0 ? '.' : `; ${failing} with a failing provider, replaced by the next.`;
  const mark = h('span', { class: stale === 0 ? 'is-fresh' : 'is-stale', 'aria-hidden': 'true' }, stale === 0 ? '✓ ' : '! ');
  return [
    h('p', { class: 'sum-up' }, mark, fresh, rest),
    h('p', { class: 'quiet' }, `Source: ${source}. Forecasts omit stale series and list them.`),
    renderTable({
      caption: 'Series of market data',
      columns: [
        { heading: 'Series', cell: ({ series }) => h('span', { 'data-series': series }, titles.get(series) ?? series) },
        { heading: 'State', cell: ({ stale }) => h('span', { class: stale ? 'is-stale' : 'is-fresh' }, stale ? '! stale' : '✓ fresh') },
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
