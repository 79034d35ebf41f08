import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { MongoBulkWriteError } from 'mongodb';
import { type Day, formatDay } from '../../../../forecast/day.ts';
import { readDatabaseTime } from '../../../../platform/mongo.ts';
import type { DatedValue } from '../../sources/source.ts';
import { getFinalMs, type ObservationStream } from './observation-stream.ts';

/** A value as it was told at one moment. */
export interface ObservationVersion {
  value: number;
  /** False while the provider may still change it: it was told before its publication. */
  final: boolean;
  /** True when it was fetched with the history, long after its publication: it counts as known since then. */
  backfilled: boolean;
  /** The provider's own time of the value (ms); null where it tells none. */
  providerAtMs: number | null;
  receivedAtMs: number;
}

/** All that one provider has said about one day of one stream. `_id` is `stream/source/YYYY-MM-DD`. */
export interface ObservationDoc {
  _id: string;
  stream: ObservationStream;
  source: string;
  day: Day;
  /** Oldest first; nothing is ever removed or changed. */
  versions: ObservationVersion[];
  /** What the last version says, so that saying it again adds nothing. */
  lastKey: string;
  /** The database's clock at the last change. */
  updatedAt: Date;
}

const DUPLICATE_KEY = 11_000;
/** Documents in memory at once while a history is read. */
const READ_BATCH_SIZE = 500;

export interface SaveOptions {
  receivedAtMs: number;
  backfilled: boolean;
}

const BY_CHANGE = { stream: 1, updatedAt: 1 } as const;
const BY_DAY = { stream: 1, source: 1, day: 1 } as const;

export const OBSERVATION_INDEXES = [{ collection: 'observations', indexes: [{ key: BY_CHANGE }, { key: BY_DAY }] }];

/** Everything that providers have told, with its provenance: the collection `observations`. */
export class ObservationStore {
  readonly #db: Db;
  readonly #docs: Collection<ObservationDoc>;

  constructor(db: Db) {
    this.#db = db;
    this.#docs = db.collection('observations');
  }

  /** Adds what is new or different. Saving the same again, or twice at once, adds nothing. @returns how many days changed */
  async save(stream: ObservationStream, source: string, values: readonly DatedValue[], options: SaveOptions): Promise<number> {
    if (values.length === 0) return 0;
    const days = values.map(({ day }) => day);
    const known = await this.#lastKeys(stream, source, Math.min(...days), Math.max(...days));
    const updatedAt = await this.readDatabaseTime();
    const writes = values
      .map(({ day, ...value }) => ({ day, version: toVersion(stream, { day, ...value }, options) }))
      .filter(({ day, version }) => known.get(day) !== getVersionKey(version))
      .map(({ day, version }) => {
        const doc = buildDoc({ stream, source, day, version, updatedAt });
        // An insert is several times as fast as an upsert, and a history has tens of thousands of days.
        return known.has(day) ? buildUpdate(doc) : { insertOne: { document: doc } };
      });
    if (writes.length > 0 && (await this.#write(writes)) === 'raced') return this.save(stream, source, values, options);
    return writes.length;
  }

  /** `raced`: another process has inserted some of the documents first. */
  async #write(writes: AnyBulkWriteOperation<ObservationDoc>[]): Promise<'written' | 'raced'> {
    try {
      await this.#docs.bulkWrite(writes, { ordered: false });
      return 'written';
    } catch (error) {
      const errors = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
      if (errors.length === 0 || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
      return 'raced';
    }
  }

  /** Processes on several machines order their changes by one clock. */
  readDatabaseTime(): Promise<Date> {
    return readDatabaseTime(this.#db);
  }

  // Indexes are named: the embedded engine cannot weigh several against each other on a large collection.

  /** Documents of a stream that changed at `since` or later, oldest change first; a history comes piece by piece. */
  readChanged(stream: ObservationStream, since: Date): AsyncIterable<ObservationDoc> {
    return this.#docs.find({ stream, updatedAt: { $gte: since } }, { hint: BY_CHANGE, batchSize: READ_BATCH_SIZE }).sort({ updatedAt: 1 });
  }

  /** Streams of single funds that were ever told. */
  async listFundStreams(): Promise<ObservationStream[]> {
    return (await this.#docs.distinct('stream', { stream: { $regex: /^fundFlow\./ } })) as ObservationStream[];
  }

  async #lastKeys(stream: ObservationStream, source: string, from: Day, to: Day): Promise<Map<Day, string>> {
    const docs = await this.#docs
      .find({ stream, source, day: { $gte: from, $lte: to } }, { projection: { day: 1, lastKey: 1 }, hint: BY_DAY })
      .toArray();
    return new Map(docs.map(({ day, lastKey }) => [day, lastKey]));
  }
}

function toVersion(stream: ObservationStream, { day, value, providerAtMs }: DatedValue, { receivedAtMs, backfilled }: SaveOptions) {
  const final = receivedAtMs >= getFinalMs(stream, day);
  return { value, final, backfilled: backfilled && final, providerAtMs, receivedAtMs };
}

function getVersionKey({ value, final }: ObservationVersion): string {
  return `${value}|${final ? 'final' : 'provisional'}`;
}

function buildDoc({
  version,
  ...key
}: Pick<ObservationDoc, 'stream' | 'source' | 'day' | 'updatedAt'> & { version: ObservationVersion }): ObservationDoc {
  const { stream, source, day } = key;
  return { _id: `${stream}/${source}/${formatDay(day)}`, ...key, versions: [version], lastKey: getVersionKey(version) };
}

/** Adds the version of a document to the one that is there, unless a concurrent writer has just done so. */
function buildUpdate({ _id, versions, lastKey, updatedAt }: ObservationDoc): AnyBulkWriteOperation<ObservationDoc> {
  return {
    updateOne: {
      filter: { _id, lastKey: { $ne: lastKey } },
      update: { $push: { versions: { $each: versions } }, $set: { lastKey, updatedAt } },
    },
  };
}
