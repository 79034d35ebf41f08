import { type AnyBulkWriteOperation, type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import { type Day, formatDay } from '../../forecast/day.ts';
import { LARGE_READ_BATCH, readDatabaseTime } from '../../platform/mongo.ts';
import {
  createGrowableColumn,
  type GrowableColumn,
  getPublicationMs,
  type Observations,
  SERIES,
  type SeriesId,
  sliceKnownAt,
} from '../series.ts';
import type { DatedValue } from '../sources/source.ts';

/** Refresh interval for the writes of other processes. */
const REFRESH_MS = 5_000;
/** Writes of several processes may become visible out of the order of their timestamps. */
const OVERLAP_MS = 60_000;

interface CachedHistory {
  history: StreamHistory;
  /** Time of the last read on our clock. */
  checkedAtMs: number;
  /** Time of the last read on the database's clock. */
  readAtMs: number;
}

/** In-memory histories of all streams, refreshed with the writes of any process. */
export class ObservationCache {
  readonly #store: ObservationStore;
  readonly #now: () => number;
  readonly #loaded = new Map<ObservationStream, Promise<CachedHistory>>();
  readonly #histories = new Map<ObservationStream, StreamHistory>();

  constructor(store: ObservationStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The history of a stream, at most five seconds behind the database. */
  async getHistory(stream: ObservationStream): Promise<StreamHistory> {
    const known = this.#loaded.get(stream);
    if (known !== undefined && Math.abs(this.#now() - (await known).checkedAtMs) < REFRESH_MS) return (await known).history;
    const loading = this.#load(stream, await known);
    this.#loaded.set(stream, loading);
    loading.catch(() => {
      if (this.#loaded.get(stream) === loading) this.#loaded.delete(stream);
    });
    return (await loading).history;
  }

  /** Makes the next reader refresh; required after a write of this process. */
  async invalidate(stream: ObservationStream): Promise<void> {
    const known = await this.#loaded.get(stream);
    if (known !== undefined) known.checkedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Changes when a backfill alters the past of any stream. */
  getRevision(): number {
    return [...this.#histories.values()].reduce((sum, { revision }) => sum + revision, 0);
  }

  async #load(stream: ObservationStream, known: CachedHistory | undefined): Promise<CachedHistory> {
    const checkedAtMs = this.#now();
    const history = known?.history ?? new StreamHistory(stream);
    const readAtMs = (await this.#store.readDatabaseTime()).getTime();
    const since = new Date(known === undefined ? 0 : known.readAtMs - OVERLAP_MS);
    for await (const doc of this.#store.readChanged(stream, since)) history.merge(doc);
    // No frame was built without what the first load found.
    if (known === undefined) history.revision = 0;
    this.#histories.set(stream, history);
    return { history, checkedAtMs, readAtMs };
  }
}

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
        const lastKey = `${version.value}|${version.final ? 'final' : 'provisional'}`;
        return { _id: `${stream}/${source}/${formatDay(day)}`, stream, source, day, versions: [version], lastKey, updatedAt };
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

/** Appends the version to the stored document unless a concurrent writer has just appended it. */
function buildUpdate({ _id, versions, lastKey, updatedAt }: ObservationDoc): AnyBulkWriteOperation<ObservationDoc> {
  const update = { $push: { versions: { $each: versions } }, $set: { lastKey, updatedAt } };
  return { updateOne: { filter: { _id, lastKey: { $ne: lastKey } }, update } };
}

/** The inputs of `btcClose`, `btcHigh` and `btcLow`: the candles of single venues. */
const VENUE_STREAMS = { venueClose: 'btcClose', venueHigh: 'btcHigh', venueLow: 'btcLow' } as const satisfies Record<string, SeriesId>;
type VenueStream = keyof typeof VENUE_STREAMS;

/** A series, a column of the candles of single venues, or one fund's part of `etfFlow`. */
export type ObservationStream = SeriesId | VenueStream | `fundFlow.${string}`;

/** The instant (ms) from which a value is final; a value received earlier is provisional. */
function getFinalMs(stream: ObservationStream, day: Day): number {
  if (stream in VENUE_STREAMS) return getPublicationMs(VENUE_STREAMS[stream as VenueStream], day);
  return getPublicationMs(stream in SERIES ? (stream as SeriesId) : 'etfFlow', day);
}

interface SelectedVersion {
  day: Day;
  source: string;
  value: number;
  availableAtMs: number;
}

/** Observations that are the same at every instant from `fromMs` until before `untilMs`. */
interface KnownObservations {
  observations: Observations;
  fromMs: number;
  untilMs: number;
}

/** Point-in-time observations of one stream in memory, built from stored documents. */
export class StreamHistory {
  readonly #stream: ObservationStream;
  readonly #rows = new VersionRows();
  #first: Observations | undefined;
  #latest: KnownObservations | undefined;
  #lastFinalDay: Day | null = null;
  /** Changes when a day becomes final after a later one, or by a backfill: both invalidate frames of the past. */
  revision = 0;

  constructor(stream: ObservationStream) {
    this.#stream = stream;
  }

  /** Adds the new versions of a document, whose versions are append-only. */
  merge({ day, source, versions }: KnownObservation): void {
    const added = versions.slice(this.#rows.countVersions(day, source));
    if (added.length === 0) return;
    const wasFinal = this.#rows.hasFinal(day);
    for (const version of added) this.#rows.add(day, source, version);
    this.#first = undefined;
    this.#latest = undefined;
    const first = wasFinal ? undefined : added.find(({ final }) => final);
    if (first === undefined) return;
    const isNewest = this.#lastFinalDay === null || day >= this.#lastFinalDay;
    if (first.backfilled || !isNewest) this.revision++;
    if (isNewest) this.#lastFinalDay = day;
  }

  /**
   * The first final version of each day as known at `atMs`. A day that became known after a later one is excluded for good, because a
   * reader of the later one would otherwise see the past change.
   */
  getFirstVersions(atMs: number): Observations {
    this.#first ??= toObservations(
      this.#keepComparable(dropLateEntries(this.#read(this.#rows.selectRows('first', (row) => this.#rows.isFinal(row))))),
    );
    return sliceKnownAt(this.#first, atMs);
  }

  /** The newest version of each day as known at `atMs`, provisional versions included. Kept until another version is known. */
  getLatestVersions(atMs: number): Observations {
    const kept = this.#latest;
    if (kept !== undefined && atMs >= kept.fromMs && atMs < kept.untilMs) return kept.observations;
    this.#latest = { observations: this.#selectLatest(atMs), ...this.#findUnchanged(atMs) };
    return this.#latest.observations;
  }

  /** The time around `atMs` in which no version becomes known. */
  #findUnchanged(atMs: number): Pick<KnownObservations, 'fromMs' | 'untilMs'> {
    let [fromMs, untilMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let row = 0; row < this.#rows.length; row++) {
      const knownMs = this.#getKnownMs(row);
      if (knownMs > atMs) untilMs = Math.min(untilMs, knownMs);
      else fromMs = Math.max(fromMs, knownMs);
    }
    return { fromMs, untilMs };
  }

  #selectLatest(atMs: number): Observations {
    const chosen = this.#keepComparable(this.#read(this.#rows.selectRows('last', (row) => this.#getKnownMs(row) <= atMs)));
    let soFar = Number.NEGATIVE_INFINITY;
    for (const entry of chosen) {
      soFar = Math.max(soFar, entry.availableAtMs);
      entry.availableAtMs = soFar;
    }
    return toObservations(chosen);
  }

  /** The last day with a final value of the given source or of any; null without one. */
  getLastFinalDay(source?: string): Day | null {
    return source === undefined ? this.#lastFinalDay : this.#rows.findLastFinalDay(source);
  }

  /** The first final value of each source for one day, as known at `atMs`. */
  getFinalValues(day: Day, atMs: number): Map<string, number> {
    const values = new Map<string, number>();
    const decided = new Set<string>();
    for (const row of this.#rows.listRows(day)) {
      const { source, value, final } = this.#rows.read(row);
      if (!final || decided.has(source)) continue;
      decided.add(source);
      if (this.#getKnownMs(row) <= atMs) values.set(source, value);
    }
    return values;
  }

  /** Open interest is not comparable between exchanges: only the source of the newest day is kept. */
  #keepComparable(chosen: SelectedVersion[]): SelectedVersion[] {
    if (this.#stream !== 'openInterest') return chosen;
    const source = chosen.at(-1)?.source;
    return chosen.filter((entry) => entry.source === source);
  }

  #read(rows: readonly number[]): SelectedVersion[] {
    return rows.map((row) => {
      const { day, source, value } = this.#rows.read(row);
      return { day, source, value, availableAtMs: this.#getKnownMs(row) };
    });
  }

  /** Backfilled values count as known since their publication, all others since their reception. */
  #getKnownMs(row: number): number {
    return this.#rows.isBackfilled(row) ? getFinalMs(this.#stream, this.#rows.dayAt(row)) : this.#rows.receivedAtMs(row);
  }
}

/** Drops entries that became known after one of a later day. `chosen` ascends by day. */
function dropLateEntries(chosen: SelectedVersion[]): SelectedVersion[] {
  const kept: SelectedVersion[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const entry of chosen.toReversed()) {
    if (entry.availableAtMs > earliest) continue;
    earliest = entry.availableAtMs;
    kept.push(entry);
  }
  return kept.reverse();
}

function toObservations(chosen: readonly SelectedVersion[]): Observations {
  return {
    // Reports name the provider of the newest observation.
    source: chosen.at(-1)?.source ?? 'none yet',
    days: Int32Array.from(chosen, ({ day }) => day),
    values: Float64Array.from(chosen, ({ value }) => value),
    availableAt: Float64Array.from(chosen, ({ availableAtMs }) => availableAtMs),
  };
}

const FINAL_FLAG = 1;
const BACKFILLED_FLAG = 2;
/** Flag bits of a mark, below the source index. */
const FLAG_BITS = 2;
const NO_ROW = -1;
const INITIAL_CAPACITY = 256;

/** Columnar storage of versions: about 70,000 rows over all streams at less than 100 bytes each, instead of 500 as documents. */
export class VersionRows {
  readonly #days: GrowableColumn<Int32Array> = createGrowableColumn(Int32Array, INITIAL_CAPACITY);
  readonly #values: GrowableColumn<Float64Array> = createGrowableColumn(Float64Array, INITIAL_CAPACITY);
  readonly #receivedAt: GrowableColumn<Float64Array> = createGrowableColumn(Float64Array, INITIAL_CAPACITY);
  /** Source index and flags. */
  readonly #marks: GrowableColumn<Int32Array> = createGrowableColumn(Int32Array, INITIAL_CAPACITY);
  /** The previous row of the same day: a linked list. */
  readonly #previous: GrowableColumn<Int32Array> = createGrowableColumn(Int32Array, INITIAL_CAPACITY);
  readonly #newest = new Map<Day, number>();
  readonly #sources: string[] = [];

  /** The version must be newer than all others of its day and source. */
  add(day: Day, source: string, { value, final, backfilled, receivedAtMs }: KnownVersion): void {
    this.#days.push(day);
    this.#values.push(value);
    this.#receivedAt.push(receivedAtMs);
    this.#marks.push((this.#indexOf(source) << FLAG_BITS) | (final ? FINAL_FLAG : 0) | (backfilled ? BACKFILLED_FLAG : 0));
    this.#previous.push(this.#newest.get(day) ?? NO_ROW);
    this.#newest.set(day, this.#days.length - 1);
  }

  listDays(): Int32Array {
    return Int32Array.from(this.#newest.keys()).sort();
  }

  get length(): number {
    return this.#days.length;
  }

  /** A row as an object. For reading many, the accessors of single columns allocate nothing. */
  read(row: number): KnownVersion & { day: Day; source: string } {
    return {
      day: this.dayAt(row),
      source: this.#sources[this.#sourceAt(row)],
      value: this.#values.at(row),
      final: this.isFinal(row),
      backfilled: this.isBackfilled(row),
      receivedAtMs: this.receivedAtMs(row),
    };
  }

  dayAt(row: number): Day {
    return this.#days.at(row);
  }

  receivedAtMs(row: number): number {
    return this.#receivedAt.at(row);
  }

  isFinal(row: number): boolean {
    return (this.#marks.at(row) & FINAL_FLAG) !== 0;
  }

  isBackfilled(row: number): boolean {
    return (this.#marks.at(row) & BACKFILLED_FLAG) !== 0;
  }

  /**
   * One row of each day with any, ascending by day: the first or last row of each source that qualifies, and of these the one that was
   * received first or last; of those received together, that of the source whose first version is older.
   */
  selectRows(which: 'first' | 'last', qualifies: (row: number) => boolean): number[] {
    const chosen = new Int32Array(this.#sources.length);
    const oldest = new Int32Array(this.#sources.length);
    const sign = which === 'last' ? 1 : -1;
    const isBetter = (source: number, than: number) => {
      const later = sign * (this.receivedAtMs(chosen[source]) - this.receivedAtMs(chosen[than]));
      return later > 0 || (later === 0 && oldest[source] < oldest[than]);
    };
    const selected: number[] = [];
    for (const day of this.listDays()) {
      chosen.fill(NO_ROW);
      for (let row = this.#newest.get(day)!; row !== NO_ROW; row = this.#previous.at(row)) {
        const source = this.#sourceAt(row);
        oldest[source] = row;
        if ((which === 'first' || chosen[source] === NO_ROW) && qualifies(row)) chosen[source] = row;
      }
      let best = NO_ROW;
      for (let source = 0; source < chosen.length; source++) {
        if (chosen[source] !== NO_ROW && (best === NO_ROW || isBetter(source, best))) best = source;
      }
      if (best !== NO_ROW) selected.push(chosen[best]);
    }
    return selected;
  }

  /** Rows of a day, oldest first. */
  listRows(day: Day): number[] {
    const rows: number[] = [];
    for (let row = this.#newest.get(day) ?? NO_ROW; row !== NO_ROW; row = this.#previous.at(row)) rows.push(row);
    return rows.reverse();
  }

  countVersions(day: Day, source: string): number {
    const index = this.#sources.indexOf(source);
    return this.listRows(day).filter((row) => this.#sourceAt(row) === index).length;
  }

  hasFinal(day: Day): boolean {
    return this.listRows(day).some((row) => this.isFinal(row));
  }

  /** The last day with a final value of the source; null without one. */
  findLastFinalDay(source: string): Day | null {
    const mark = (this.#sources.indexOf(source) << FLAG_BITS) | FINAL_FLAG;
    let last: Day | null = null;
    for (let row = 0; row < this.#days.length; row++) {
      if ((this.#marks.at(row) & ~BACKFILLED_FLAG) === mark && (last === null || this.#days.at(row) > last)) last = this.#days.at(row);
    }
    return last;
  }

  #sourceAt(row: number): number {
    return this.#marks.at(row) >> FLAG_BITS;
  }

  #indexOf(source: string): number {
    const known = this.#sources.indexOf(source);
    return known === -1 ? this.#sources.push(source) - 1 : known;
  }
}
