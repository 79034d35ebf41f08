import { el, type Markup } from '../markup.ts';
import { listPricePoints, renderForecastChart } from './forecast-chart.ts';
import type { ForecastFacts } from './forecast-facts.ts';
import { formatBrier } from './forecast-state.ts';
import { formatDate, formatRegimeName, formatReturn, formatShare, formatUsd } from './format.ts';

/** Values as far as they are public, and the chart with its figures as a table. */
export function renderValues(facts: ForecastFacts): Markup {
  return el('div', { class: 'forecast-values' }, [renderFigure(facts), renderFacts(facts)]);
}

function renderFacts(facts: ForecastFacts): Markup {
  const { values, price, band, brier, regime, modelVersion, state } = facts;
  const hidden = state === 'missed' ? 'none' : 'hidden';
  const entries: [term: string, value: Markup][] = [
    ['Call', values === null ? hidden : `${values.signal}, ${values.direction}`],
    ['P(up)', values === null ? hidden : formatShare(values.pUp)],
    ['Price at opening', formatUsd(price.atOpening)],
    [
      'Price at the end',
      price.atEnd === null ? '–' : [formatUsd(price.atEnd), el('span', { class: 'quiet' }, ` ${formatReturn(price.returnBps)}`)],
    ],
    ['80 % range', band === null ? '–' : [`${formatUsd(band.low)} to ${formatUsd(band.high)}`, renderBandNote(band)]],
    ['Brier score', formatBrier(brier)],
    ['Regime', formatRegimeName(regime)],
    ['Model', modelVersion ?? '–'],
  ];
  return el(
    'dl',
    { class: 'facts' },
    entries.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value))),
  );
}

function renderBandNote({ isCommitted }: NonNullable<ForecastFacts['band']>): Markup {
  return isCommitted ? null : el('span', { class: 'quiet' }, ' without direction');
}

function renderFigure(facts: ForecastFacts): Markup {
  const chart = renderForecastChart(facts);
  if (chart === null) return null;
  return el('figure', { class: 'forecast-figure' }, [
    chart,
    el('figcaption', {}, 'BTC/USD at daily closes, and the 80 % range at the end. Dotted: the window opens.'),
    el('details', { class: 'table-of' }, el('summary', {}, 'As a table'), el('div', {}, renderTable(facts))),
  ]);
}

function renderTable(facts: ForecastFacts): Markup {
  const prices = listPricePoints(facts).map(({ at, what, price }) => [`${what}, ${formatDate(at)}`, price] as const);
  const quantiles = facts.quantiles.map(({ percent, price }) => [`Quantile ${percent} %`, price] as const);
  const band = facts.band === null || quantiles.length > 0 ? [] : toBandRows(facts.band);
  return el('table', {}, [
    el('caption', {}, 'Prices, USD'),
    el(
      'tbody',
      {},
      [...prices, ...band, ...quantiles].map(([label, price]) =>
        el('tr', {}, el('th', { scope: 'row' }, label), el('td', { class: 'numeric' }, formatUsd(price))),
      ),
    ),
  ]);
}

function toBandRows({ low, high }: NonNullable<ForecastFacts['band']>): (readonly [string, number])[] {
  return [
    ['80 % range, low', low],
    ['80 % range, high', high],
  ];
}
