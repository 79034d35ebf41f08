import { z } from 'zod';
import { DATE } from '../../fields.ts';
import type { SeriesReading } from '../reading.ts';
import { meanBetween, valueAt } from './lookback.ts';
import { changePct, dateOf, difference, rounded } from './numbers.ts';
import { realizedVolatilityPct } from './realized-volatility.ts';
import { marketReport } from './report.ts';

/** Funding is paid three times a day. */
const FUNDINGS_A_YEAR = 3 * 365;
const VOLATILITY_DAYS = 30;

const STATE = {
  date: DATE.nullable().describe('The day of the figures; null only before the first'),
  stale: z.boolean().describe('True when they are missing or too old'),
  provisional: z.boolean().describe('True before they are final'),
};
const FIGURE = z.number().nullable();

const FIELDS = z.object({
  fundingRate: z
    .object({
      ...STATE,
      rate8h: FIGURE.describe('What longs pay shorts every 8 hours, as a fraction of the position; negative: shorts pay'),
      annualizedPct: FIGURE.describe('The same for a year, in percent, without compounding'),
      average7dAnnualizedPct: FIGURE.describe('Mean of the last 7 days, percent a year'),
    })
    .describe('Funding of perpetuals'),
  openInterest: z
    .object({
      ...STATE,
      usd: FIGURE.describe('Value of all open positions, USD'),
      change1dPct: FIGURE.describe('Change against one day before, in percent'),
      change7dPct: FIGURE.describe('Change against seven days before, in percent'),
    })
    .describe('Open interest of perpetuals'),
  basis: z
    .object({ ...STATE, perpetualPct: FIGURE.describe('Mark price over index price less one, in percent') })
    .describe('Basis of perpetuals'),
  impliedVolatility: z
    .object({
      ...STATE,
      dvolPct: FIGURE.describe('Implied volatility index, percent a year'),
      realized30dPct: FIGURE.describe('Realised volatility of the last 30 daily returns, percent a year'),
      premiumPoints: FIGURE.describe('Implied less realised, percentage points'),
    })
    .describe('Implied volatility beside what came true'),
});

export const derivativesSummary = marketReport({
  path: '/api/derivatives-summary',
  summary: 'Funding, open interest and basis of perpetuals, and implied beside realised volatility',
  dependsOn: ['fundingRate', 'openInterest', 'perpBasis', 'dvol', 'btcClose'],
  fields: FIELDS,
  async build({ read }) {
    return {
      fundingRate: funding(await read('fundingRate')),
      openInterest: openInterest(await read('openInterest')),
      basis: basis(await read('perpBasis')),
      impliedVolatility: volatility(await read('dvol'), await read('btcClose')),
    };
  },
});

function funding({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  return {
    ...state(reading),
    rate8h: rounded(value, 8),
    annualizedPct: annualizedPct(value),
    average7dAnnualizedPct: observedDay === null ? null : annualizedPct(meanBetween(known, observedDay - 6, observedDay)),
  };
}

function openInterest({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  const before = (days: number) => (observedDay === null ? null : valueAt(known, observedDay - days));
  return {
    ...state(reading),
    usd: rounded(value, 0),
    change1dPct: changePct(before(1), value),
    change7dPct: changePct(before(7), value),
  };
}

function basis({ reading }: SeriesReading) {
  return { ...state(reading), perpetualPct: rounded(reading.value === null ? null : reading.value * 100, 4) };
}

function volatility(dvol: SeriesReading, closes: SeriesReading) {
  const realized30dPct = rounded(realizedVolatilityPct(closes.known, VOLATILITY_DAYS), 2);
  const dvolPct = rounded(dvol.reading.value, 2);
  return {
    ...state(dvol.reading),
    dvolPct,
    realized30dPct,
    premiumPoints: rounded(difference(realized30dPct, dvolPct), 2),
  };
}

function annualizedPct(rate8h: number | null): number | null {
  return rate8h === null ? null : rounded(rate8h * FUNDINGS_A_YEAR * 100, 2);
}

function state({ observedDay, stale, provisional }: SeriesReading['reading']) {
  return { date: dateOf(observedDay), stale, provisional };
}
