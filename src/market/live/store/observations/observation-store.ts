import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { MongoBulkWriteError } from 'mongodb';
import { type Day, formatDay } from '../../../../forecast/day.ts';
import { LARGE_READ_BATCH, readDatabaseTime } from '../../../../platform/mongo.ts';
import type { DatedValue } from '../../sources/source.ts';
import { getFinalMs, type ObservationStream } from './observation-stream.ts';

export interface ObservationVersion {
  value: number;
  /** False for a value received before its publication, which the provider may still revise. */
  final: boolean;
  /** True for a value of the backfilled history, which counts as known since its publication. */
  backfilled: boolean;
  /** Time of the value on the provider's clock (ms); null where it sends none. */
  providerAtMs: number | null;
  receivedAtMs: number;
}

/** All versions of one day of one stream by one provider. `_id` is `stream/source/YYYY-MM-DD`. */
export interface ObservationDoc {
  _id: string;
  stream: ObservationStream;
  source: string;
  day: Day;
  /** Append-only, oldest first. */
  versions: ObservationVersion[];
  /** Key of the last version, for deduplication. */
  lastKey: string;
  /** Last change on the database's clock. */
  updatedAt: Date;
}

/** What readers need of a version. */
export type KnownVersion = Omit<ObservationVersion, 'providerAtMs'>;

/** What readers need of a document. */
export interface KnownObservation extends Pick<ObservationDoc, 'day' | 'source'> {
  versions: KnownVersion[];
}

interface PackedObservation extends Pick<ObservationDoc, 'day' | 'source'> {
  versions: [value: number, final: boolean, backfilled: boolean, receivedAtMs: number][];
}

/** Without the names of fields, which the driver decodes one by one: a third of the memory and time of reading whole documents. */
const PACKED = {
  _id: 0,
  day: 1,
  source: 1,
  versions: { $map: { input: '$versions', in: ['$$this.value', '$$this.final', '$$this.backfilled', '$$this.receivedAtMs'] } },
} as const;
const DUPLICATE_KEY = 11_000;
type SaveOptions = Pick<ObservationVersion, 'receivedAtMs' | 'backfilled'>;
const BY_CHANGE = { stream: 1, updatedAt: 1 } as const;
const BY_DAY = { stream: 1, source: 1, day: 1 } as const;
export const OBSERVATION_INDEXES = [{ collection: 'observations', indexes: [{ key: BY_CHANGE }, { key: BY_DAY }] }];

export class ObservationStore {
  readonly #db: Db;
  readonly #docs: Collection<ObservationDoc>;

  constructor(db: Db) {
    this.#db = db;
    this.#docs = db.collection('observations');
  }

  /** Appends new and changed values; idempotent, also for concurrent writers. @returns the number of changed days */
  async save(stream: ObservationStream, source: string, values: readonly DatedValue[], options: SaveOptions): Promise<number> {
    if (values.length === 0) return 0;
    const days = values.map(({ day }) => day);
    const known = await this.#lastKeys(stream, source, Math.min(...days), Math.max(...days));
    const updatedAt = await this.readDatabaseTime();
    const writes = values
      .map((value) => {
        const { day } = value;
        const version = toVersion(stream, value, options);
        const _id = `${stream}/${source}/${formatDay(day)}`;
        return { _id, stream, source, day, versions: [version], lastKey: getVersionKey(version), updatedAt };
      })
      .filter(({ day, lastKey }) => known.get(day) !== lastKey)
      // An insert is several times as fast as an upsert, and a history has tens of thousands of days.
      .map((doc) => (known.has(doc.day) ? buildUpdate(doc) : { insertOne: { document: doc } }));
    if (writes.length > 0 && (await this.#write(writes)) === 'raced') return this.save(stream, source, values, options);
    return writes.length;
  }

  /** @returns `raced` when another process inserted some of the documents first */
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

  /** Processes on several machines order their changes by the database's clock. */
  readDatabaseTime(): Promise<Date> {
    return readDatabaseTime(this.#db);
  }

  // Queries have index hints: the embedded engine does not compare plans on a large collection.

  /** Streams what changed at `since` or later, oldest change first. */
  async *readChanged(stream: ObservationStream, since: Date): AsyncGenerator<KnownObservation> {
    const options = { hint: BY_CHANGE, batchSize: LARGE_READ_BATCH, projection: PACKED };
    const cursor = this.#docs.find<PackedObservation>({ stream, updatedAt: { $gte: since } }, options).sort({ updatedAt: 1 });
    for await (const { day, source, versions } of cursor) {
      yield {
        day,
        source,
        versions: versions.map(([value, final, backfilled, receivedAtMs]) => ({ value, final, backfilled, receivedAtMs })),
      };
    }
  }

  async listFundStreams(): Promise<ObservationStream[]> {
    return (await this.#docs.distinct('stream', { stream: { $regex: /^fundFlow\./ } })) as ObservationStream[];
  }

  async #lastKeys(stream: ObservationStream, source: string, from: Day, to: Day): Promise<Map<Day, string>> {
    const options = { projection: { day: 1, lastKey: 1 }, hint: BY_DAY };
    const docs = await this.#docs.find({ stream, source, day: { $gte: from, $lte: to } }, options).toArray();
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

/** Appends the version to the stored document unless a concurrent writer has just appended it. */
function buildUpdate({ _id, versions, lastKey, updatedAt }: ObservationDoc): AnyBulkWriteOperation<ObservationDoc> {
  const update = { $push: { versions: { $each: versions } }, $set: { lastKey, updatedAt } };
  return { updateOne: { filter: { _id, lastKey: { $ne: lastKey } }, update } };
}
