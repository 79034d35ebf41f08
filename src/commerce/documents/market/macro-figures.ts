import { btcPriceReport } from '../../../market/reports/bitcoin/btc-price.ts';
import { fearGreedReport } from '../../../market/reports/bitcoin/fear-greed.ts';
import { derivativesSummaryReport } from '../../../market/reports/derivatives/derivatives-summary.ts';
import { etfAnalyticsReport } from '../../../market/reports/etf/etf-analytics.ts';
import { economicIndicatorsReport } from '../../../market/reports/macro/economic-indicators.ts';
import { interestRatesReport } from '../../../market/reports/macro/interest-rates.ts';
import { macroCorrelationReport } from '../../../market/reports/macro/macro-correlation.ts';
import type { MarketReport } from '../../../market/reports/report.ts';
import type { SeriesId } from '../../../market/series/series.ts';

export const REVIEW_SECTIONS = ['price', 'macro', 'rates', 'flows', 'derivatives', 'sentiment'] as const;

export type ReviewSection = (typeof REVIEW_SECTIONS)[number];

/** Source of a figure: a report, paths of its fields, and the series that gives source and age; by default `id` and `id.value`. */
export interface FigureSource {
  id: string;
  title: string;
  section: ReviewSection;
  report: MarketReport;
  series: SeriesId | 'spot';
  value: string;
  unit: string;
  change?: ChangeSource;
  /** Paths of the parent of `correlation` and `pairs`, and of the window in days. */
  correlation?: { path: string; windowDays: string };
}

interface ChangeSource {
  path: string;
  unit: string;
  over: string;
  /** The path leads to the earlier value instead of the change. */
  isEarlierValue?: true;
}

type FigureInput = Pick<FigureSource, 'title' | 'unit'> & Partial<FigureSource>;

const changeOver5 = (id: string): ChangeSource => ({ path: `${id}.change5d`, unit: '%', over: 'five observations' });
const changeOver30Days = (id: string): ChangeSource => ({ path: `${id}.change30d`, unit: 'percentage points', over: '30 days' });
const changeSincePrevious = (id: string, unit: string): ChangeSource => ({ path: `${id}.change`, unit, over: 'the observation before' });
const defineFigures = (section: ReviewSection, report: MarketReport, figures: Record<string, FigureInput>): FigureSource[] =>
  Object.entries(figures).map(([id, figure]) => ({ id, section, report, series: id as SeriesId, value: `${id}.value`, ...figure }));
const correlationAt = (id: string) => ({ path: id, windowDays: `${id}.windowDays` });

export const FIGURES: readonly FigureSource[] = [
  ...defineFigures('price', btcPriceReport, {
    btcPrice: { title: 'Bitcoin', series: 'spot', value: 'price', unit: 'USD', change: { path: 'change24h', unit: '%', over: '24 hours' } },
  }),
  ...defineFigures('macro', macroCorrelationReport, {
    dxy: { title: 'US dollar index', unit: 'points', change: changeOver5('dxy'), correlation: correlationAt('dxy') },
    sp500: { title: 'S&P 500', unit: 'points', change: changeOver5('sp500'), correlation: correlationAt('sp500') },
    goldBtcRatio: { title: 'An ounce of gold', series: 'gold', unit: 'BTC', correlation: correlationAt('goldBtcRatio') },
    ismPmi: { title: 'ISM manufacturing PMI', series: 'pmi', unit: 'points', correlation: correlationAt('ismPmi') },
  }),
  ...defineFigures('macro', economicIndicatorsReport, {
    gold: { title: 'Gold', unit: 'USD per ounce', change: changeSincePrevious('gold', 'USD per ounce') },
    vix: { title: 'VIX', unit: '% a year', change: changeSincePrevious('vix', 'points') },
  }),
  ...defineFigures('rates', interestRatesReport, {
    policyRate: { title: 'Federal funds target, upper limit', unit: '% a year', change: changeOver30Days('policyRate') },
    fedFunds: { title: 'Effective federal funds rate', unit: '% a year', change: changeOver30Days('fedFunds') },
    us2y: { title: 'US 2-year yield', unit: '% a year', change: changeOver30Days('us2y') },
    us10y: { title: 'US 10-year yield', unit: '% a year', change: changeOver30Days('us10y') },
    slope10y2y: { title: '10-year less 2-year yield', series: 'us10y', value: 'slope10y2y', unit: 'basis points' },
  }),
  ...defineFigures('flows', etfAnalyticsReport, {
    etfFlowLastDay: {
      title: 'Net flow into US spot Bitcoin ETFs, last day',
      series: 'etfFlow',
      value: 'total.lastDay',
      unit: 'USD',
      correlation: { path: 'correlation.sameDay', windowDays: 'correlation.windowDays' },
    },
    etfFlow7d: { title: 'The same, 7 calendar days', series: 'etfFlow', value: 'total.flow7d', unit: 'USD' },
    etfFlow30d: { title: 'The same, 30 calendar days', series: 'etfFlow', value: 'total.flow30d', unit: 'USD' },
  }),
  ...defineFigures('derivatives', derivativesSummaryReport, {
    fundingRate: { title: 'Funding of perpetuals', value: 'fundingRate.annualizedPct', unit: '% a year' },
    openInterest: {
      title: 'Open interest of perpetuals',
      value: 'openInterest.usd',
      unit: 'USD',
      change: { path: 'openInterest.change7dPct', unit: '%', over: '7 days' },
    },
    basis: { title: 'Basis of perpetuals', series: 'perpBasis', value: 'basis.perpetualPct', unit: '%' },
    dvol: { title: 'Implied volatility', value: 'impliedVolatility.dvolPct', unit: '% a year' },
    realizedVolatility: {
      title: 'Realised volatility, 30 days',
      series: 'btcClose',
      value: 'impliedVolatility.realized30dPct',
      unit: '% a year',
    },
  }),
  ...defineFigures('sentiment', fearGreedReport, {
    fearGreed: {
      title: 'Crypto Fear & Greed index',
      value: 'value',
      unit: 'of 100',
      change: { path: 'weekAgo.value', unit: 'points', over: '7 days', isEarlierValue: true },
    },
  }),
];
