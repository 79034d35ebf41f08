import { bodyOf, h, replace } from '../lib/dom.js';
import { asOf, show } from '../lib/section.js';
import { table } from '../lib/table.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Column } from '../lib/table.js' */
/** @import { Page } from './main.js' */

/** @typedef {Answers['feeds']['feeds'][number]} Feed */

/**
 * Every series of market data, how old it is, and how its providers do.
 * @param {Page} page
 */
export function mountFeeds({ store }) {
  const body = h('div', {});
  replace(bodyOf('feeds'), body, asOf(store, 'feeds'));
  /** @type {Map<string, string>} */
  let titles = new Map();
  show({ store, name: 'feeds', body, draw: (answer) => draw(answer, titles) });
  // What the series are called is said elsewhere, and may come later.
  store.watch('info', ({ answer }) => {
    titles = new Map(answer?.data.series.map(({ series, title }) => [series, title]));
    for (const name of body.querySelectorAll('[data-series]')) name.textContent = titleOf(name.getAttribute('data-series') ?? '', titles);
  });
}

/** @param {string} series @param {ReadonlyMap<string, string>} titles */
function titleOf(series, titles) {
  return titles.get(series) ?? series;
}

/** @param {Answers['feeds']} answer @param {ReadonlyMap<string, string>} titles */
function draw({ source, feeds }, titles) {
  const stale = feeds.filter(({ stale }) => stale).length;
  const failing = feeds.filter(({ providers }) => providers.some(({ circuit }) => circuit !== 'closed')).length;
  const fresh = `${feeds.length - stale} of ${feeds.length} series are fresh`;
  const rest = failing === 0 ? '.' : `; of ${failing} a provider fails, and the next one is asked.`;
  return [
    h(
      'p',
      { class: 'sum-up' },
      h('span', { class: stale === 0 ? 'is-fresh' : 'is-stale', 'aria-hidden': 'true' }, stale === 0 ? '✓ ' : '! '),
      fresh,
      rest,
    ),
    h(
      'p',
      { class: 'quiet' },
      `Where it all comes from: ${source}. A series that is stale is left out of the forecast, and named as left out.`,
    ),
    table({
      caption: 'Series of market data',
      columns: columnsWith(titles),
      rows: feeds.toSorted((a, b) => Number(b.stale) - Number(a.stale)),
    }),
  ];
}

/** @param {ReadonlyMap<string, string>} titles @returns {Column<Feed>[]} */
function columnsWith(titles) {
  return [
    { heading: 'Series', cell: ({ series }) => h('span', { 'data-series': series }, titleOf(series, titles)) },
    { heading: 'State', cell: ({ stale }) => h('span', { class: stale ? 'is-stale' : 'is-fresh' }, stale ? '! stale' : '✓ fresh') },
    { heading: 'Age', cell: ({ ageDays }) => ageOf(ageDays), numeric: true },
    { heading: 'Last observed', cell: ({ lastObserved }) => lastObserved ?? 'never' },
    { heading: 'Source', cell: ({ source }) => source },
    { heading: 'Providers', cell: ({ providers }) => (providers.length === 0 ? '–' : providers.map(providerOf).join(', ')) },
  ];
}

/** @param {number | null} days */
function ageOf(days) {
  if (days === null) return '–';
  return days === 0 ? 'today' : `${days} day${days === 1 ? '' : 's'}`;
}

const CIRCUIT_WORDS = { closed: 'ok', open: 'failing, left alone', 'half-open': 'failing, being tried again' };

/** @param {Feed['providers'][number]} provider */
function providerOf({ provider, circuit }) {
  return `${provider} (${CIRCUIT_WORDS[circuit]})`;
}
