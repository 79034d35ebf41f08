import type { Collection, Document } from 'mongodb';
import type { Ledger, PaymentDoc } from './ledger.ts';
import { type PaymentTotals, TOTALS_ACCUMULATORS, toPaymentTotals } from './revenue.ts';

export interface ReferralTotals extends PaymentTotals {
  ref: string;
  /** Number of paying wallets; their addresses are never exposed. */
  payers: number;
  lastSettledAt: Date | null;
}

export interface PartnerTotals {
  partners: number;
  referred: PaymentTotals;
  total: PaymentTotals;
}

const TOTALS_SUMS: Document = { payments: { $sum: '$payments' }, amountMicros: { $sum: '$amountMicros' } };

/** Referral codes by settled amount, ties by code. */
export function listTopReferrals(ledger: Ledger, limit: number): Promise<ReferralTotals[]> {
  return ledger.readFigures(`referrals:${limit}`, (payments) => rankReferrals(payments, limit));
}

async function rankReferrals(payments: Collection<PaymentDoc>, limit: number): Promise<ReferralTotals[]> {
  const ranking = [{ $sort: { amountMicros: -1, _id: 1 } }, { $limit: limit }];
  const found = await payments.aggregate([...buildReferralPipeline({ ref: { $ne: null } }), ...ranking]).toArray();
  return found.map(toReferralTotals);
}

/** Totals of one code in lower case; null without a settled payment. */
export async function findReferralTotals({ payments }: Ledger, ref: string): Promise<ReferralTotals | null> {
  const [found] = await payments.aggregate(buildReferralPipeline({ ref })).toArray();
  return found === undefined ? null : toReferralTotals(found);
}

export function readPartnerTotals(ledger: Ledger): Promise<PartnerTotals> {
  return ledger.readFigures('partners', aggregatePartnerTotals);
}

async function aggregatePartnerTotals(payments: Collection<PaymentDoc>): Promise<PartnerTotals> {
  const [referred] = await payments
    .aggregate([
      { $match: { ref: { $ne: null } } },
      { $group: { _id: '$ref', ...TOTALS_ACCUMULATORS } },
      { $group: { _id: null, partners: { $sum: 1 }, ...TOTALS_SUMS } },
    ])
    .toArray();
  // Read last: a payment settled meanwhile must not make the part larger than the total.
  const [total] = await payments.aggregate([{ $group: { _id: null, ...TOTALS_ACCUMULATORS } }]).toArray();
  return { partners: referred?.partners ?? 0, referred: toPaymentTotals(referred), total: toPaymentTotals(total) };
}

/** Groups by code with its number of payers; by payer first, so that no list of payers is built. */
function buildReferralPipeline(match: Document): Document[] {
  const last = { $max: '$settledAt' };
  return [
    { $match: match },
    { $group: { _id: { ref: '$ref', payer: '$payer' }, ...TOTALS_ACCUMULATORS, last } },
    { $group: { _id: '$_id.ref', payers: { $sum: 1 }, ...TOTALS_SUMS, last: { $max: '$last' } } },
  ];
}

function toReferralTotals({ _id, payers, last, ...group }: Document): ReferralTotals {
  return { ref: _id, payers, lastSettledAt: last, ...toPaymentTotals(group) };
}
