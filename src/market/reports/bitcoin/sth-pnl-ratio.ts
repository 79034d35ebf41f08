import { z } from 'zod';
import { type Day, formatDay } from '../../../forecast/day.ts';
import { DATE } from '../../../platform/validation/fields.ts';
import { computeChangePct, formatDayOrNull, roundOrNull, subtractOrNull } from '../../numbers.ts';
import { findValueAt } from '../../series/lookback.ts';
import type { Observations } from '../../series/observations.ts';
import type { SeriesReading } from '../../series/series-reading.ts';
import { defineReport } from '../report.ts';

const CHANGE_DAYS = 30;
const PRICE = z.number().nullable().describe('Daily close of bitcoin on `date`, USD');
const DAY = DATE.nullable().describe('Last day with both a close and a realized price');
const REASON = z.string().nullable().describe('Reason for a missing ratio; null otherwise');

const FIELDS = z.object({
  price: PRICE,
  date: DAY,
  sthRealizedPrice: z.number().nullable().describe('Average cost basis of short-term holders, USD'),
  ratio: z.number().nullable().describe('Price over cost basis; above 1 holders are in profit'),
  profitLossPct: z.number().nullable().describe('Profit or loss in percent of the cost basis'),
  change30d: z.number().nullable().describe('30-day change of the ratio'),
  reason: REASON,
  market: z
    .object({
      price: PRICE,
      date: DAY,
      realizedPrice: z.number().nullable().describe('Realized price: average price at which all coins last moved, USD'),
      mvrv: z.number().nullable().describe('Price over realized price'),
      reason: REASON,
    })
    .describe('The same figures for all holders'),
});

export const sthPnlRatioReport = defineReport({
  path: '/api/sth-pnl-ratio',
  summary: 'Price over the cost basis of short-term holders, their profit or loss, and the same for the whole market (MVRV)',
  dependsOn: ['sthRealizedPrice', 'realizedPrice', 'btcClose'],
  fields: FIELDS,
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
