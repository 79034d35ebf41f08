import type { Collection, Document } from 'mongodb';
import type { PaymentDoc } from './ledger.ts';
import { TAKINGS, type Takings, takingsOf } from './revenue.ts';

/** What came of one partner's code. */
export interface RefFigures extends Takings {
  ref: string;
  /** How many wallets have paid with the code; never which. */
  payers: number;
  lastSettledAt: Date | null;
}

export interface PartnerTotals {
  /** How many codes have brought a settled payment. */
  partners: number;
  referred: Takings;
  /** Everything settled, with and without a code. */
  total: Takings;
}

/** Sums over groups that were made with `TAKINGS`. */
const SUMS: Document = { payments: { $sum: '$payments' }, amountMicros: { $sum: '$amountMicros' } };

/** Partners by what their payers have settled; equal ones by code. */
export async function leaderboard(payments: Collection<PaymentDoc>, limit: number): Promise<RefFigures[]> {
  const ranking = [{ $sort: { amountMicros: -1, _id: 1 } }, { $limit: limit }];
  const found = await payments.aggregate([...byRef({ ref: { $ne: null } }), ...ranking]).toArray();
  return found.map(figuresOf);
}

/** Figures of one code in its kept form; null for one that has brought no settled payment. */
export async function refFigures(payments: Collection<PaymentDoc>, ref: string): Promise<RefFigures | null> {
  const [found] = await payments.aggregate(byRef({ ref })).toArray();
  return found === undefined ? null : figuresOf(found);
}

/** All partners together, beside everything that was earned. */
export async function partnerTotals(payments: Collection<PaymentDoc>): Promise<PartnerTotals> {
  const [referred] = await payments
    .aggregate([
      { $match: { ref: { $ne: null } } },
      { $group: { _id: '$ref', ...TAKINGS } },
      { $group: { _id: null, partners: { $sum: 1 }, ...SUMS } },
    ])
    .toArray();
  // Read last: what is settled meanwhile must not make a part larger than the whole.
  const [total] = await payments.aggregate([{ $group: { _id: null, ...TAKINGS } }]).toArray();
  return { partners: referred?.partners ?? 0, referred: takingsOf(referred), total: takingsOf(total) };
}

/** By code, with the number of its payers: first by payer, so that no list of them is built. */
function byRef(match: Document): Document[] {
  const last = { $max: '$settledAt' };
  return [
    { $match: match },
    { $group: { _id: { ref: '$ref', payer: '$payer' }, ...TAKINGS, last } },
    { $group: { _id: '$_id.ref', payers: { $sum: 1 }, ...SUMS, last: { $max: '$last' } } },
  ];
}

function figuresOf({ _id, payers, last, ...group }: Document): RefFigures {
  return { ref: _id, payers, lastSettledAt: last, ...takingsOf(group) };
}
