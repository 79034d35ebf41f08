import { z } from 'zod';
import { type Day, formatDay, formatDayOrNull } from '../../forecast/day.ts';
import { FEAR_GREED_LABELS, type FearGreedLabel, getFearGreedLabel } from '../../forecast/regime.ts';
import { DATE, objectOf, roundTo } from '../../platform/validation.ts';
import { computeChangePct, roundOrNull, type SeriesReading, subtractOrNull } from '../feed.ts';
import { averageBetween, findValueAt, type Observations } from '../series.ts';
import { defineReport } from './report.ts';

export const btcPriceReport = defineReport({
  path: '/api/btc-price',
  summary: 'BTC/USD price and its 24-hour change in percent',
  dependsOn: ['spot'],
  fields: z.object({
    price: z.number().describe('BTC/USD'),
    change24h: z.number().nullable().describe('24-hour change in percent; null when the source does not report it'),
    currency: z.literal('USD').describe('Currency of the price'),
    priceSource: z.string().describe('Source of this price, e.g. the venues of the median'),
  }),
  async build({ spot }) {
    const { priceUsd, change24hPct, source } = await spot();
    return { price: roundTo(priceUsd, 2), change24h: roundOrNull(change24hPct, 2), currency: 'USD' as const, priceSource: source };
  },
});

const LABEL = z.enum(FEAR_GREED_LABELS).meta({ id: 'FearGreedLabel' }).nullable();
const VALUE = z.int().min(0).max(100).nullable();

const PAST = z.object({
  value: VALUE.describe('The index on that day, 0 to 100; null when unknown'),
  label: LABEL.describe('Its label'),
});

const FIELDS = z.object({
  value: VALUE.describe('The index, 0 (fear) to 100 (greed); null before the first value'),
  classification: LABEL.describe('Label of the value'),
  label: LABEL.describe('The same as `classification`'),
  date: DATE.nullable().describe('Date of the value'),
  yesterday: PAST.describe('One day before `date`'),
  weekAgo: PAST.describe('Seven days before `date`'),
  average7d: z.number().nullable().describe('Mean of the 7 days that end with `date`, 0 to 100'),
  average30d: z.number().nullable().describe('Mean of the 30 days that end with `date`, 0 to 100'),
  attribution: z.string().optional().describe('Attribution required by the publisher; live data only'),
});

export const fearGreedReport = defineReport({
  path: '/api/fear-greed',
  summary: 'The Crypto Fear & Greed index, 0 to 100, with label, past values and averages',
  dependsOn: ['fearGreed'],
  fields: FIELDS,
  async build({ read, feed }) {
    const { reading, known } = await read('fearGreed');
    const { observedDay: day } = reading;
    const value = roundOrNull(reading.value, 0);
    const label = toLabel(value);
    const average = (days: number) => (day === null ? null : roundOrNull(averageBetween(known, day - days + 1, day), 1));
    const before = (days: number) => {
      const past = day === null ? null : roundOrNull(findValueAt(known, day - days), 0);
      return { value: past, label: toLabel(past) };
    };
    return {
      value,
      classification: label,
      label,
      date: formatDayOrNull(day),
      yesterday: before(1),
      weekAgo: before(7),
      average7d: average(7),
      average30d: average(30),
      // The publisher's terms require attribution wherever the index is displayed.
      ...(feed.kind === 'live' ? { attribution: 'Crypto Fear & Greed Index by alternative.me' } : {}),
    };
  },
});

function toLabel(value: number | null): FearGreedLabel | null {
  return value === null ? null : getFearGreedLabel(value);
}

const CHANGE_DAYS = 30;
const PRICE = z.number().nullable().describe('Daily close of bitcoin on `date`, USD');
const DAY = DATE.nullable().describe('Last day with both a close and a realized price');
const REASON = z.string().nullable().describe('Reason for a missing ratio; null otherwise');

const STH_PNL_RATIO_FIELDS = z.object({
  price: PRICE,
  date: DAY,
  sthRealizedPrice: z.number().nullable().describe('Average cost basis of short-term holders, USD'),
  ratio: z.number().nullable().describe('Price over cost basis; above 1 holders are in profit'),
  profitLossPct: z.number().nullable().describe('Profit or loss in percent of the cost basis'),
  change30d: z.number().nullable().describe('30-day change of the ratio'),
  reason: REASON,
  market: objectOf('The same figures for all holders', {
    price: PRICE,
    date: DAY,
    realizedPrice: z.number().nullable().describe('Realized price: average price at which all coins last moved, USD'),
    mvrv: z.number().nullable().describe('Price over realized price'),
    reason: REASON,
  }),
});

export const sthPnlRatioReport = defineReport({
  path: '/api/sth-pnl-ratio',
  summary: 'Price over the cost basis of short-term holders, their profit or loss, and the same for the whole market (MVRV)',
  dependsOn: ['sthRealizedPrice', 'realizedPrice', 'btcClose'],
  fields: STH_PNL_RATIO_FIELDS,
  async build({ read }) {
    const closes = (await read('btcClose')).known;
    const { price, date, paid, ...figures } = compareWithClose(await read('sthRealizedPrice'), closes);
    const market = compareWithClose(await read('realizedPrice'), closes);
    return {
      price,
      date,
      sthRealizedPrice: paid,
      ...figures,
      market: { price: market.price, date: market.date, realizedPrice: market.paid, mvrv: market.ratio, reason: market.reason },
    };
  },
});

/** Ratio of the daily close to the realized price on the last day with both. */
function compareWithClose({ reading, known }: SeriesReading, closes: Observations) {
  const day = known.days.findLast((one) => findValueAt(closes, one) !== null) ?? null;
  const price = day === null ? null : findValueAt(closes, day);
  const paid = day === null ? null : findValueAt(known, day);
  const before = day === null ? null : computeRatio(day - CHANGE_DAYS, known, closes);
  const ratio = day === null ? null : computeRatio(day, known, closes);
  return {
    price: roundOrNull(price, 2),
    date: formatDayOrNull(day),
    paid: roundOrNull(paid, 2),
    ratio: roundOrNull(ratio, 4),
    profitLossPct: computeChangePct(paid, price),
    change30d: roundOrNull(subtractOrNull(before, ratio), 4),
    reason: ratio === null ? formatMissingReason(reading, closes) : null,
  };
}

function computeRatio(day: Day, paid: Observations, closes: Observations): number | null {
  const [price, cost] = [findValueAt(closes, day), findValueAt(paid, day)];
  return price === null || cost === null || cost <= 0 ? null : price / cost;
}

function formatMissingReason({ title, source, observedDay }: SeriesReading['reading'], closes: Observations): string {
  if (observedDay === null) return `${title}: ${source}`;
  const last = closes.days.at(-1);
  return `${title}: no daily close of the same day; the last is of ${last === undefined ? 'no day' : formatDay(last)}`;
}
