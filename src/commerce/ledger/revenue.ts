import type { Collection, Document, Long } from 'mongodb';
import { type Day, toDay } from '../../forecast/day.ts';
import { CHANNELS, type Channel } from '../channels.ts';
import { OFFERINGS } from '../price-list.ts';
import type { Ledger, PaymentDoc } from './ledger.ts';

export interface PaymentTotals {
  payments: number;
  amountMicros: bigint;
}

export interface Revenue {
  total: PaymentTotals;
  payers: number;
  firstSettledAt: Date | null;
  lastSettledAt: Date | null;
  byChannel: (PaymentTotals & { channel: Channel })[];
  byOffering: (PaymentTotals & { channel: Channel; offering: string })[];
  /** The last 30 UTC days up to today, oldest first. */
  byDay: (PaymentTotals & { day: Day })[];
}

export const REVENUE_DAYS = 30;
export const TOTALS_ACCUMULATORS: Document = { payments: { $sum: 1 }, amountMicros: { $sum: '$amountMicros' } };

/** Result of a `$group` stage with `TOTALS_ACCUMULATORS`; zeros without a group. */
export function toPaymentTotals(group: Document | undefined): PaymentTotals {
  const sum: Long | number = group?.amountMicros ?? 0;
  return { payments: group?.payments ?? 0, amountMicros: BigInt(sum.toString()) };
}

export function readRevenue(ledger: Ledger, now: Date): Promise<Revenue> {
  const today = toDay(now.getTime());
  return ledger.readFigures(`revenue:${today}`, (payments) => aggregateRevenue(payments, today));
}

async function aggregateRevenue(payments: Collection<PaymentDoc>, today: Day): Promise<Revenue> {
  const [groups, days, payers] = await Promise.all([groupByOffering(payments), groupByDay(payments, today), countPayers(payments)]);
  const sold = groups.map(({ _id, ...group }) => ({
    channel: _id.channel as Channel,
    offering: _id.offering as string,
    ...toPaymentTotals(group),
  }));
  const times = groups.flatMap(({ first, last }) => [first.getTime(), last.getTime()]);
  return {
    total: sumTotals(sold),
    payers,
    firstSettledAt: times.length === 0 ? null : new Date(Math.min(...times)),
    lastSettledAt: times.length === 0 ? null : new Date(Math.max(...times)),
    byChannel: CHANNELS.map((channel) => ({ channel, ...sumTotals(sold.filter((one) => one.channel === channel)) })),
    byOffering: OFFERINGS.map(({ channel, name }) => ({
      channel,
      offering: name,
      ...sumTotals(sold.filter((one) => one.channel === channel && one.offering === name)),
    })),
    byDay: Array.from({ length: REVENUE_DAYS }, (_, i) => {
      const day = today - REVENUE_DAYS + 1 + i;
      return { day, ...toPaymentTotals(days.find(({ _id }) => _id === day)) };
    }),
  };
}

function sumTotals(totals: readonly PaymentTotals[]): PaymentTotals {
  return {
    payments: totals.reduce((total, { payments }) => total + payments, 0),
    amountMicros: totals.reduce((total, { amountMicros }) => total + amountMicros, 0n),
  };
}

function groupByOffering(payments: Collection<PaymentDoc>): Promise<Document[]> {
  const key = { channel: '$channel', offering: '$offering' };
  return payments
    .aggregate([{ $group: { _id: key, ...TOTALS_ACCUMULATORS, first: { $min: '$settledAt' }, last: { $max: '$settledAt' } } }])
    .toArray();
}

function groupByDay(payments: Collection<PaymentDoc>, today: Day): Promise<Document[]> {
  return payments
    .aggregate([{ $match: { day: { $gt: today - REVENUE_DAYS, $lte: today } } }, { $group: { _id: '$day', ...TOTALS_ACCUMULATORS } }])
    .toArray();
}

async function countPayers(payments: Collection<PaymentDoc>): Promise<number> {
  const [counted] = await payments.aggregate([{ $group: { _id: '$payer' } }, { $count: 'payers' }]).toArray();
  return counted?.payers ?? 0;
}
