import type { Db } from 'mongodb';
import type { Address } from 'viem';
import { DAY_MS } from '../../forecast/day.ts';
import { BUDGET_INDEX, type BudgetUnit, RangeBudget, type RangeLimits, type SpentLimit } from '../../platform/limits/range-budget.ts';
import type { CollectionIndexes } from '../../platform/mongo.ts';

const COLLECTION = 'contest_entrants';

export const ENTRANT_INDEXES = [{ collection: COLLECTION, indexes: [BUDGET_INDEX] }] satisfies CollectionIndexes[];

/**
 * Wallets of a round. A wallet is invented for free, so that only addresses bound them: 25 are a household or a class, a /24 or /56 has 50,
 * a /48 100. Of 1,000 in all, a commitment to each of 5 markets is 3 MB a week, 250 are for ranges with fewer than 3, so that
 * those who fill the rest leave room for everybody else. Wallets that hold gate tokens have 1,000 places beside it, without shares: tokens
 * cost money and one wallet holds them at a time.
 */
export const CONTEST_LIMITS = {
  ...{ address: 25, '/24': 50, '/56': 50, '/48': 100 },
  ...{ all: 1_000, reserve: 250, reservePerRange: 3 },
  holders: 1_000,
} as const satisfies RangeLimits & { holders: number };

/** A round takes commitments for a week. */
const WINDOW_MS = 8 * DAY_MS;

const { holders: HOLDERS, ...OPEN_LIMITS } = CONTEST_LIMITS;
const HOLDER_LIMITS: RangeLimits = { address: HOLDERS, '/24': HOLDERS, '/56': HOLDERS, '/48': HOLDERS, all: HOLDERS };

interface Entry {
  round: string;
  wallet: Address;
  /** As the rate limits key it. */
  address: string;
  at: Date;
}

/** Wallets that have entered a round, over all processes. */
export class EntrantStore {
  readonly #open: RangeBudget<BudgetUnit>;
  readonly #holders: RangeBudget<BudgetUnit>;

  constructor(db: Db) {
    const entrants = db.collection<BudgetUnit>(COLLECTION);
    this.#open = new RangeBudget(entrants, { limits: OPEN_LIMITS, windowMs: WINDOW_MS });
    this.#holders = new RangeBudget(entrants, { limits: HOLDER_LIMITS, windowMs: WINDOW_MS });
  }

  /** Null also for a wallet that has entered before; otherwise the limit that leaves it no place. */
  enter(entry: Entry): Promise<SpentLimit | null> {
    return this.#open.take(toRequest(entry, ''));
  }

  /** As `enter`, of the places of wallets that hold gate tokens. */
  enterAsHolder(entry: Entry): Promise<SpentLimit | null> {
    return this.#holders.take(toRequest(entry, 'holders '));
  }

  /** Addresses are not kept longer than their limits need. */
  purge(now: Date): Promise<void> {
    return this.#open.purge(now);
  }
}

function toRequest({ round, wallet, address, at }: Entry, places: string) {
  return { id: `${round}:${wallet.toLowerCase()}`, group: `${round} ${places}`, address, at, fields: {} };
}
