import { z } from 'zod';
import { variance } from '../../../forecast/math/mean.ts';
import { DATE } from '../../../platform/validation/fields.ts';
import { computeChangePct, formatDayOrNull, roundOrNull, subtractOrNull } from '../../numbers.ts';
import { averageBetween, findValueAt } from '../../series/lookback.ts';
import type { Observations } from '../../series/observations.ts';
import type { SeriesReading } from '../../series/series-reading.ts';
import { defineReport } from '../report.ts';

const DAYS_PER_YEAR = 365;
const FUNDINGS_PER_YEAR = 3 * DAYS_PER_YEAR;
const VOLATILITY_DAYS = 30;

const STATE = {
  date: DATE.nullable().describe('Date of the figures; null before the first'),
  stale: z.boolean().describe('True when the figures are missing or too old'),
  provisional: z.boolean().describe('True before the figures are final'),
};
const FIGURE = z.number().nullable();

const FIELDS = z.object({
  fundingRate: z
    .object({
      ...STATE,
      rate8h: FIGURE.describe('Rate that longs pay shorts every 8 hours, as a fraction of the position; negative when shorts pay'),
      annualizedPct: FIGURE.describe('Annualized rate in percent, without compounding'),
      average7dAnnualizedPct: FIGURE.describe('7-day mean of the annualized rate, in percent'),
    })
    .describe('Funding of perpetuals'),
  openInterest: z
    .object({
      ...STATE,
      usd: FIGURE.describe('Value of all open positions, USD'),
      change1dPct: FIGURE.describe('1-day change in percent'),
      change7dPct: FIGURE.describe('7-day change in percent'),
    })
    .describe('Open interest of perpetuals'),
  basis: z
    .object({ ...STATE, perpetualPct: FIGURE.describe('Mark price over index price minus one, in percent') })
    .describe('Basis of perpetuals'),
  impliedVolatility: z
    .object({
      ...STATE,
      dvolPct: FIGURE.describe('Implied volatility index, annualized, in percent'),
      realized30dPct: FIGURE.describe('Realized volatility of the last 30 daily returns, annualized, in percent'),
      premiumPoints: FIGURE.describe('Implied minus realized volatility, percentage points'),
    })
    .describe('Implied and realized volatility'),
});

export const derivativesSummaryReport = defineReport({
  path: '/api/derivatives-summary',
  summary: 'Funding, open interest and basis of perpetuals, with implied and realized volatility',
  dependsOn: ['fundingRate', 'openInterest', 'perpBasis', 'dvol', 'btcClose'],
  fields: FIELDS,
  async build({ read }) {
    return {
      fundingRate: buildFunding(await read('fundingRate')),
      openInterest: buildOpenInterest(await read('openInterest')),
      basis: buildBasis(await read('perpBasis')),
      impliedVolatility: buildVolatility(await read('dvol'), await read('btcClose')),
    };
  },
});

function buildFunding({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  return {
    ...toState(reading),
    rate8h: roundOrNull(value, 8),
    annualizedPct: annualizePct(value),
    average7dAnnualizedPct: observedDay === null ? null : annualizePct(averageBetween(known, observedDay - 6, observedDay)),
  };
}

function buildOpenInterest({ reading, known }: SeriesReading) {
  const { value, observedDay } = reading;
  const before = (days: number) => (observedDay === null ? null : findValueAt(known, observedDay - days));
  return {
    ...toState(reading),
    usd: roundOrNull(value, 0),
    change1dPct: computeChangePct(before(1), value),
    change7dPct: computeChangePct(before(7), value),
  };
}

function buildBasis({ reading }: SeriesReading) {
  return { ...toState(reading), perpetualPct: roundOrNull(reading.value === null ? null : reading.value * 100, 4) };
}

/** Annualized sample standard deviation of the last `days` daily log returns, in percent; null with fewer returns. */
export function computeRealizedVolatilityPct({ values }: Observations, days: number): number | null {
  if (values.length <= days) return null;
  const closes = values.subarray(-days - 1);
  const returns = Array.from(closes.subarray(1), (close, index) => Math.log(close / closes[index]));
  return 100 * Math.sqrt(variance(returns, 1) * DAYS_PER_YEAR);
}

function buildVolatility(dvol: SeriesReading, closes: SeriesReading) {
  const realized30dPct = roundOrNull(computeRealizedVolatilityPct(closes.known, VOLATILITY_DAYS), 2);
  const dvolPct = roundOrNull(dvol.reading.value, 2);
  return { ...toState(dvol.reading), dvolPct, realized30dPct, premiumPoints: roundOrNull(subtractOrNull(realized30dPct, dvolPct), 2) };
}

function annualizePct(rate8h: number | null): number | null {
  return rate8h === null ? null : roundOrNull(rate8h * FUNDINGS_PER_YEAR * 100, 2);
}

function toState({ observedDay, stale, provisional }: SeriesReading['reading']) {
  return { date: formatDayOrNull(observedDay), stale, provisional };
}
