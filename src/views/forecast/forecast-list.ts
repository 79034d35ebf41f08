import { el, type Markup } from '../markup.ts';
import { type ForecastFacts, formatForecastPath } from './forecast-facts.ts';
import { STATE_LABELS, STATE_MARKS } from './forecast-state.ts';
import { formatRegimeName, formatReturn, formatShare, formatUsd } from './format.ts';
import { type ListFilter, renderListFilter } from './list-filter.ts';

export type ListRow = Pick<ForecastFacts, 'date' | 'horizonDays' | 'state' | 'values' | 'price' | 'regime'>;

export interface ForecastList {
  rows: readonly ListRow[];
  filter: ListFilter;
  regimes: readonly string[];
  /** Paths relative to the base; null: there is no such page. */
  newestPath: string | null;
  earlierPath: string | null;
  csvPath: string;
  jsonPath: string;
  isSimulated: boolean;
}

const HEADINGS = ['Day', 'Horizon', 'State', 'Call', 'P(up)', 'Opening price', 'Closing price', 'Change', 'Regime'];

/** All forecasts of a filter, a page at a time; works without script. */
export function renderForecastList(list: ForecastList): Markup {
  const { rows, filter, regimes, isSimulated, csvPath, jsonPath } = list;
  return el('main', { id: 'main', class: 'forecasts', tabindex: -1 }, [
    el('h1', {}, 'All forecasts'),
    isSimulated && el('p', { class: 'notice' }, 'The market data are simulated.'),
    renderListFilter(filter, regimes),
    el('section', { 'aria-label': 'List' }, [
      el('p', { class: 'list-line' }, [
        el('span', {}, `${rows.length} shown, newest first`),
        el('a', { href: csvPath }, 'CSV'),
        el('a', { href: jsonPath }, 'JSON'),
      ]),
      rows.length === 0 ? el('p', { class: 'empty' }, 'No forecast of these days matches.') : renderTable(rows),
    ]),
    renderPaging(list),
  ]);
}

function renderTable(rows: readonly ListRow[]): Markup {
  const headings = HEADINGS.map((heading, index) => el('th', { scope: 'col', class: index >= 4 && index < 8 && 'numeric' }, heading));
  return el('div', { class: 'scroll forecast-rows', tabindex: 0, role: 'region', 'aria-label': 'Forecasts' }, [
    el('table', {}, el('thead', {}, el('tr', {}, headings)), el('tbody', {}, rows.map(renderRow))),
  ]);
}

function renderRow({ date, horizonDays, state, values, price, regime }: ListRow): Markup {
  const numeric = (value: string) => el('td', { class: 'numeric' }, value);
  const call =
    values === null ? el('span', { class: 'quiet' }, state === 'missed' ? 'none' : 'hidden') : `${values.signal}, ${values.direction}`;
  return el('tr', {}, [
    el('th', { scope: 'row' }, el('a', { href: formatForecastPath(date, horizonDays) }, `${date}`)),
    el('td', {}, `${horizonDays}d`),
    el('td', {}, el('span', { class: `status ${STATE_MARKS[state]}` }, STATE_LABELS[state])),
    el('td', {}, call),
    numeric(formatShare(values?.pUp ?? null)),
    numeric(formatUsd(price.atOpening)),
    numeric(formatUsd(price.atEnd)),
    numeric(formatReturn(price.returnBps)),
    el('td', {}, formatRegimeName(regime)),
  ]);
}

function renderPaging({ newestPath, earlierPath }: ForecastList): Markup {
  if (newestPath === null && earlierPath === null) return null;
  return el('nav', { class: 'neighbours', 'aria-label': 'Pages of the list' }, [
    newestPath !== null && el('a', { href: newestPath }, '← Newest'),
    earlierPath !== null && el('a', { href: earlierPath, rel: 'next' }, 'Earlier →'),
  ]);
}
