import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { ignoreDuplicate } from '../../platform/mongo.ts';
import type { ArchiveEntry, ArchiveProvider, ArchiveSeriesId, MaskedValue } from './archive-series.ts';

export interface ArchiveDoc {
  /** `series/provider/key/vintage`. */
  _id: string;
  series: ArchiveSeriesId;
  provider: ArchiveProvider;
  key: string;
  /** 1 for the first reading; a reading with other values is the next. */
  vintage: number;
  values: object;
  masked: readonly MaskedValue[];
  /** SHA-256 of values and masks. */
  digest: string;
  receivedAt: Date;
  providerAt: Date | null;
  /** Last reading with these values. */
  lastSeenAt: Date;
}

export const ARCHIVE_INDEXES = [
  { collection: 'market_archive', indexes: [{ key: { provider: 1, series: 1, key: 1, vintage: 1 }, unique: true }] },
];

/** Everything ever received, with its reception time; nothing is overwritten. */
export class ArchiveStore {
  readonly #docs: Collection<ArchiveDoc>;

  constructor(db: Db) {
    this.#docs = db.collection('market_archive');
  }

  /** Idempotent, also for concurrent writers. @returns whether the values are new */
  async save(entry: ArchiveEntry): Promise<boolean> {
    const doc = toDoc(entry);
    const { provider, series, key, digest, lastSeenAt } = doc;
    const newest = await this.#docs.findOne({ provider, series, key }, { sort: { vintage: -1 }, projection: { vintage: 1, digest: 1 } });
    if (newest?.digest === digest) {
      await this.#docs.updateOne({ _id: newest._id }, { $max: { lastSeenAt } });
      return false;
    }
    const vintage = (newest?.vintage ?? 0) + 1;
    const _id = `${series}/${provider}/${key}/${vintage}`;
    const inserted = await this.#docs.insertOne({ ...doc, _id, vintage }).catch(ignoreDuplicate);
    // Another worker was first: its values may be the same.
    return inserted === null ? this.save(entry) : true;
  }

  /** Keys of a series and provider with at least one reading, ascending. */
  async listKeys(series: ArchiveSeriesId, provider: ArchiveProvider): Promise<string[]> {
    const keys = await this.#docs.distinct('key', { provider, series });
    return keys.toSorted();
  }

  /** Without values, by key and vintage. */
  listReadings(series: ArchiveSeriesId, provider: ArchiveProvider): Promise<Omit<ArchiveDoc, 'values'>[]> {
    return this.#docs
      .find({ provider, series }, { projection: { values: 0 } })
      .sort({ key: 1, vintage: 1 })
      .toArray();
  }

  /** The newest vintage that was received by an instant; null where there was none. */
  findAsOf({ series, provider, key }: Pick<ArchiveDoc, 'series' | 'provider' | 'key'>, at: Date): Promise<ArchiveDoc | null> {
    return this.#docs.findOne({ provider, series, key, receivedAt: { $lte: at } }, { sort: { vintage: -1 } });
  }
}

function toDoc({ receivedAtMs, providerAtMs, ...entry }: ArchiveEntry): Omit<ArchiveDoc, '_id' | 'vintage'> {
  const digest = createHash('sha256')
    .update(JSON.stringify([entry.values, entry.masked]))
    .digest('hex');
  const receivedAt = new Date(receivedAtMs);
  return { ...entry, digest, receivedAt, providerAt: providerAtMs === null ? null : new Date(providerAtMs), lastSeenAt: receivedAt };
}
