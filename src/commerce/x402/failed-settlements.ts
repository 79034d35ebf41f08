import type { Collection, Db } from 'mongodb';
import type { Address } from 'viem';
import { OracleError } from '../../platform/errors.ts';
import type { CollectionIndexes } from '../../platform/mongo.ts';
import type { ClaimDoc } from './claim-store.ts';

interface FailedSettlementDoc extends Pick<ClaimDoc, '_id' | 'payer' | 'address'> {
  at: Date;
}

const COLLECTION = 'x402_failed_settlements';
const PAYER_KEY = { payer: 1, at: -1 } as const;
const ADDRESS_KEY = { address: 1, at: -1 } as const;

export const FAILED_SETTLEMENT_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: PAYER_KEY }, { key: ADDRESS_KEY }, { key: { at: 1 } }] },
] as const satisfies CollectionIndexes[];

const DAY_MS = 86_400_000;
const MAX_PER_PAYER = 3;
/** Higher, since payers may share an address. */
const MAX_PER_ADDRESS = 20;
/** For this time the payer is charged for a HOLD, too. */
const RETENTION_MS = 30 * DAY_MS;

/** Failed settlements, over all processes: each has revealed to its payer that the forecast was no free HOLD, and may have cost gas. */
export class FailedSettlementStore {
  readonly #failures: Collection<FailedSettlementDoc>;

  constructor(db: Db) {
    this.#failures = db.collection(COLLECTION);
  }

  async record({ _id, payer, address }: ClaimDoc, at: Date): Promise<void> {
    await this.#failures.updateOne({ _id }, { $setOnInsert: { payer, address, at } }, { upsert: true });
  }

  async remove({ _id }: ClaimDoc): Promise<void> {
    await this.#failures.deleteOne({ _id });
  }

  async isCharged(payer: Address, now: Date): Promise<boolean> {
    const since = new Date(now.getTime() - RETENTION_MS);
    return (await this.#failures.findOne({ payer, at: { $gt: since } }, { hint: PAYER_KEY })) !== null;
  }

  /** @throws OracleError RATE_LIMITED for a payer with 3 failures within 24 hours, or an address with 20 */
  async requireBelowLimit({ payer, address }: Pick<ClaimDoc, 'payer' | 'address'>, now: Date): Promise<void> {
    const at = { $gt: new Date(now.getTime() - DAY_MS) };
    const found = this.#failures.find(
      {
        $or: [
          { payer, at },
          { address, at },
        ],
      },
      { projection: { payer: 1, address: 1, at: 1 } },
    );
    // Where more are found, at least one of the limits is reached.
    const recent = await found
      .sort({ at: -1 })
      .limit(MAX_PER_PAYER + MAX_PER_ADDRESS)
      .toArray();
    const ofPayer = getBlockedUntil(
      recent.filter((failure) => failure.payer === payer),
      MAX_PER_PAYER,
    );
    const ofAddress = getBlockedUntil(
      recent.filter((failure) => failure.address === address),
      MAX_PER_ADDRESS,
    );
    if (ofPayer !== null) throw tooManyFailuresError('payer', { limit: MAX_PER_PAYER, until: ofPayer, now });
    if (ofAddress !== null) throw tooManyFailuresError('address', { limit: MAX_PER_ADDRESS, until: ofAddress, now });
  }

  async purge(now: Date): Promise<void> {
    await this.#failures.deleteMany({ at: { $lte: new Date(now.getTime() - RETENTION_MS) } });
  }
}

/** When the oldest of the newest `limit` failures is a day old; null where there are fewer. @param failures newest first */
function getBlockedUntil(failures: readonly Pick<FailedSettlementDoc, 'at'>[], limit: number): Date | null {
  const oldest = failures[limit - 1];
  return oldest === undefined ? null : new Date(oldest.at.getTime() + DAY_MS);
}

function tooManyFailuresError(subject: 'payer' | 'address', { limit, until, now }: { limit: number; until: Date; now: Date }): OracleError {
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000));
  return new OracleError('RATE_LIMITED', `${limit} payments of this ${subject} could not be settled within 24 hours`, {
    field: 'payment',
    suggestedAction: `Retry at ${until.toISOString()}${subject === 'payer' ? ', or pay from another wallet' : ''}.`,
    retryAfterSeconds,
    details: { policy: `unsettled-${subject}`, limit, windowSeconds: DAY_MS / 1_000 },
  });
}
