import { getSectionBody, h, replaceChildren } from '../lib/dom.js';
import { createAsOfLine, mountResource } from '../lib/section.js';
import { renderTable } from '../lib/table.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { Column } from '../lib/table.js' */
/** @import { Page } from './main.js' */

/** @typedef {ApiResponses['feeds']['feeds'][number]} Feed */

/** Age and providers of each series of market data. @param {Page} page */
export function mountFeeds({ store }) {
  const body = h('div', {});
  replaceChildren(getSectionBody('feeds'), body, createAsOfLine(store, 'feeds'));
  /** @type {Map<string, string>} */
  let titles = new Map();
  mountResource({ store, name: 'feeds', body, draw: (answer) => renderFeeds(answer, titles) });
  // Titles come with `info`, which may be loaded later.
  store.watch('info', ({ answer }) => {
    titles = new Map(answer?.data.series.map(({ series, title }) => [series, title]));
    for (const name of body.querySelectorAll('[data-series]'))
      name.textContent = getSeriesTitle(name.getAttribute('data-series') ?? '', titles);
  });
}

/** @param {string} series @param {ReadonlyMap<string, string>} titles */
function getSeriesTitle(series, titles) {
  return titles.get(series) ?? series;
}

/** @param {ApiResponses['feeds']} answer @param {ReadonlyMap<string, string>} titles */
function renderFeeds({ source, feeds }, titles) {
  const stale = feeds.filter(({ stale }) => stale).length;
  const failing = feeds.filter(({ providers }) => providers.some(({ circuit }) => circuit !== 'closed')).length;
  const fresh = `${feeds.length - stale} of ${feeds.length} series are fresh`;
  const rest = failing === 0 ? '.' : `; ${failing} with a failing provider, replaced by the next.`;
  return [
    h(
      'p',
      { class: 'sum-up' },
      h('span', { class: stale === 0 ? 'is-fresh' : 'is-stale', 'aria-hidden': 'true' }, stale === 0 ? '✓ ' : '! '),
      fresh,
      rest,
    ),
    h('p', { class: 'quiet' }, `Source: ${source}. Forecasts omit stale series and list them.`),
    renderTable({
      caption: 'Series of market data',
      columns: buildFeedColumns(titles),
      rows: feeds.toSorted((a, b) => Number(b.stale) - Number(a.stale)),
    }),
  ];
}

/** @param {ReadonlyMap<string, string>} titles @returns {Column<Feed>[]} */
function buildFeedColumns(titles) {
  return [
    { heading: 'Series', cell: ({ series }) => h('span', { 'data-series': series }, getSeriesTitle(series, titles)) },
    { heading: 'State', cell: ({ stale }) => h('span', { class: stale ? 'is-stale' : 'is-fresh' }, stale ? '! stale' : '✓ fresh') },
    { heading: 'Age', cell: ({ ageDays }) => formatAge(ageDays), numeric: true },
    { heading: 'Last observed', cell: ({ lastObserved }) => lastObserved ?? 'never' },
    { heading: 'Source', cell: ({ source }) => source },
    { heading: 'Providers', cell: ({ providers }) => (providers.length === 0 ? '–' : providers.map(formatProvider).join(', ')) },
  ];
}

/** @param {number | null} days */
function formatAge(days) {
  if (days === null) return '–';
  return days === 0 ? 'today' : `${days} day${days === 1 ? '' : 's'}`;
}

const CIRCUIT_LABELS = { closed: 'ok', open: 'failing, paused', 'half-open': 'failing, retrying' };

/** @param {Feed['providers'][number]} provider */
function formatProvider({ provider, circuit }) {
  return `${provider} (${CIRCUIT_LABELS[circuit]})`;
}
