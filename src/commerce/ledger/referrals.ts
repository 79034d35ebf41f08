import type { Collection, Document } from 'mongodb';
import type { PaymentDoc } from './ledger.ts';
import { type PaymentTotals, TOTALS_ACCUMULATORS, toPaymentTotals } from './revenue.ts';

/** What came of one partner's code. */
export interface ReferralTotals extends PaymentTotals {
  ref: string;
  /** How many wallets have paid with the code; never which. */
  payers: number;
  lastSettledAt: Date | null;
}

export interface PartnerTotals {
  /** How many codes have brought a settled payment. */
  partners: number;
  referred: PaymentTotals;
  /** Everything settled, with and without a code. */
  total: PaymentTotals;
}

/** Sums over groups that were made with `TAKINGS`. */
const TOTALS_SUMS: Document = { payments: { $sum: '$payments' }, amountMicros: { $sum: '$amountMicros' } };

/** Partners by what their payers have settled; equal ones by code. */
export async function listTopReferrals(payments: Collection<PaymentDoc>, limit: number): Promise<ReferralTotals[]> {
  const ranking = [{ $sort: { amountMicros: -1, _id: 1 } }, { $limit: limit }];
  const found = await payments.aggregate([...buildReferralPipeline({ ref: { $ne: null } }), ...ranking]).toArray();
  return found.map(toReferralTotals);
}

/** Figures of one code in its kept form; null for one that has brought no settled payment. */
export async function findReferralTotals(payments: Collection<PaymentDoc>, ref: string): Promise<ReferralTotals | null> {
  const [found] = await payments.aggregate(buildReferralPipeline({ ref })).toArray();
  return found === undefined ? null : toReferralTotals(found);
}

/** All partners together, beside everything that was earned. */
export async function aggregatePartnerTotals(payments: Collection<PaymentDoc>): Promise<PartnerTotals> {
  const [referred] = await payments
    .aggregate([
      { $match: { ref: { $ne: null } } },
      { $group: { _id: '$ref', ...TOTALS_ACCUMULATORS } },
      { $group: { _id: null, partners: { $sum: 1 }, ...TOTALS_SUMS } },
    ])
    .toArray();
  // Read last: what is settled meanwhile must not make a part larger than the whole.
  const [total] = await payments.aggregate([{ $group: { _id: null, ...TOTALS_ACCUMULATORS } }]).toArray();
  return { partners: referred?.partners ?? 0, referred: toPaymentTotals(referred), total: toPaymentTotals(total) };
}

/** By code, with the number of its payers: first by payer, so that no list of them is built. */
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
