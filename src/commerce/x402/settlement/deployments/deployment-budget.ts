import type { Db } from 'mongodb';
import { OracleError } from '../../../../platform/errors.ts';
import { BUDGET_INDEX, type BudgetUnit, RangeBudget, type RangeLimits, type SpentLimit } from '../../../../platform/limits/range-budget.ts';
import type { CollectionIndexes } from '../../../../platform/mongo.ts';

const COLLECTION = 'x402_deployments';
const DAY_MS = 86_400_000;

export const DEPLOYMENT_INDEXES = [
  { collection: COLLECTION, indexes: [BUDGET_INDEX, { key: { at: -1 }, expireAfterSeconds: (2 * DAY_MS) / 1_000 }] },
] satisfies CollectionIndexes[];

/**
 * Each deployment costs its payer as much as its gas, which may be a fraction of a cent: what is bounded is the loss by transfers that
 * fail. So an address has a twentieth, a /24, /56 or /48 a tenth, and a quarter is reserved for ranges that have hardly any. Payers and
 * factories have no share: a payer is invented for free and deployed once, and the factories on the operator's list serve many payers.
 */
function toRangeLimits(maxPerDay: number): RangeLimits {
  const share = (fraction: number) => Math.max(1, Math.ceil(maxPerDay * fraction));
  const [address, range] = [share(1 / 20), share(1 / 10)];
  const reserve = Math.floor(maxPerDay / 4);
  return { address, '/24': range, '/56': range, '/48': range, all: maxPerDay, reserve, reservePerRange: share(1 / 100) };
}

export interface DeploymentClient {
  /** Of the client, as the rate limits key it. */
  address: string;
  now: Date;
}

/** Deployments of payers' wallets within 24 hours, over all processes. A unit is taken before the transaction is signed. */
export class DeploymentBudget {
  readonly #deployments: RangeBudget<BudgetUnit>;

  constructor(db: Db, maxPerDay: number) {
    this.#deployments = new RangeBudget(db.collection<BudgetUnit>(COLLECTION), { limits: toRangeLimits(maxPerDay), windowMs: DAY_MS });
  }

  /** @throws OracleError STEP_WAITING when the budget, or the share of the client, is used up */
  async requireRoom({ address, now }: DeploymentClient): Promise<void> {
    const spent = await this.#deployments.findSpent({ address, at: now });
    if (spent !== null) throw usedUpError(spent, now);
  }

  /** @param key of the settlement: a repetition continues it @throws OracleError STEP_WAITING as `requireRoom` */
  async reserve(key: string, { address, now }: DeploymentClient): Promise<void> {
    const spent = await this.#deployments.take({ id: key, address, at: now, fields: {} });
    if (spent !== null) throw usedUpError(spent, now);
  }

  /** For a deployment that was not signed. */
  release(key: string): Promise<void> {
    return this.#deployments.release(key);
  }
}

function usedUpError({ scope, limit, freeAt }: SpentLimit, now: Date): OracleError {
  const where = scope === 'all' ? 'for payers' : scope === 'address' ? 'for your address' : `for your ${scope}`;
  return new OracleError('STEP_WAITING', `No more contract wallets are deployed ${where} today (${limit} in 24 hours)`, {
    suggestedAction: 'Deploy the wallet first, as its first transaction does, or pay from another wallet. Nothing was charged.',
    retryAfterSeconds: Math.max(60, Math.ceil((freeAt.getTime() - now.getTime()) / 1_000)),
    details: { scope, limit },
  });
}
