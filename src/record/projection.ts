import type { Collection, Db, Document } from 'mongodb';
import type { Day } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { WakeSignal } from '../platform/concurrency.ts';
import type { Log } from '../platform/log.ts';
import { insertInOrder, LARGE_READ_BATCH } from '../platform/mongo.ts';
import type { WagerDoc } from '../wager/wagers.ts';
import type { DistributionScoresDoc } from './distribution-scores.ts';
import { computeLastPublicDay, type DayDoc, type ForecastDoc, formatForecastId } from './forecast-doc.ts';

/** Collections of the record, whose documents carry an outbox. */
const PARTS = ['days', 'forecasts', 'wagers'] as const;

export type RecordPart = (typeof PARTS)[number];

/** A day without what only checks of it read: they ask the database. */
export type KnownDay = Omit<DayDoc, 'distributions' | 'forecasts' | 'moves' | 'outbox' | 'metadata'> & {
  metadata: Pick<DayDoc['metadata'], 'cid' | 'digest'>;
};

/** A day with the values of its forecasts, by horizon in days. */
export type DayWithValues = KnownDay & Pick<DayDoc, 'forecasts'>;

/** The newest forecast of a horizon that was not missed, with its day's public figures. */
export interface NewestForecast {
  readonly forecast: Readonly<ForecastDoc>;
  readonly figures: Readonly<Pick<DayDoc, 'price' | 'context' | 'variance' | 'halfWidths'>>;
}

/** Documents that have changed, by collection. */
type ChangedIds = Partial<Record<RecordPart, readonly string[]>>;

/** `_id` counts from 1 without gaps. */
interface ChangeDoc {
  _id: number;
  at: Date;
  changed: ChangedIds;
}

/** The longest that a write of another process may stay unseen: beyond it the process is not ready, and answers say that they are stale. */
export const RECORD_LAG_SECONDS = 10;

/** An answer may be sent again for so long after it was made. */
const RESEND_MS = 1_000;

const POLL_MS = 500;
const FAILURE_PAUSE_MS = 2_000;
const PAGE_SIZE = 500;
/** A process that was away for longer loads the record again. */
const KEPT_MS = 3_600_000;

/** The log by which processes learn of each other's changes. */
class ChangeLog {
  readonly #changes: Collection<ChangeDoc>;

  constructor(db: Db) {
    this.#changes = db.collection('record_changes');
  }

  /** Each id is written only after its predecessor, so that readers never see a gap. Repeated, it costs a read. */
  async append(changed: ChangedIds, at: Date): Promise<void> {
    if (Object.values(changed).every((ids) => ids.length === 0)) return;
    for (;;) {
      const { complete } = await insertInOrder(this.#changes, [{ _id: (await this.lastId()) + 1, at, changed }]);
      if (complete) return;
    }
  }

  async lastId(): Promise<number> {
    return (await this.#changes.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } }))?._id ?? 0;
  }

  /** Null where the log has not all of them: it was cut, or is that of an earlier state of the database. */
  async listAfter(seen: number): Promise<ChangeDoc[] | null> {
    const found = await this.#changes.find({ _id: { $gte: seen } }, { sort: { _id: 1 }, limit: PAGE_SIZE }).toArray();
    if (seen > 0 && found[0]?._id !== seen) return null;
    const newer = seen > 0 ? found.slice(1) : found;
    return newer.every(({ _id }, index) => _id === seen + 1 + index) ? newer : null;
  }

  /** The newest stays, since the next id follows from it. */
  async purge(now: Date): Promise<void> {
    await this.#changes.deleteMany({ _id: { $lt: await this.lastId() }, at: { $lt: new Date(now.getTime() - KEPT_MS) } });
  }
}

const PROJECTIONS: Record<RecordPart, Document> = {
  days: { distributions: 0, forecasts: 0, moves: 0, outbox: 0, 'metadata.json': 0 },
  forecasts: { outbox: 0 },
  wagers: { outbox: 0 },
};

interface IdFilter {
  _id?: { $in: string[] };
}

interface KnownDocs {
  days: KnownDay;
  forecasts: ForecastDoc;
  wagers: WagerDoc;
}

/**
 * Copies documents of the driver so that they take two fifths of its memory: V8 makes a hash table of an object that grows beyond some
 * sixteen properties, and equal texts, times and lists are one here.
 */
class CompactCopier {
  /** An object with the properties of those to come, by their names in order. */
  readonly #shapes = new Map<string, Record<string, unknown>>();
  readonly #shared = new Map<unknown, unknown>();

  copy<Value>(value: Value): Value {
    return this.#copy(value) as Value;
  }

  #copy(value: unknown): unknown {
    if (typeof value === 'string') return this.#share(value, value);
    if (value instanceof Date) return this.#share(value.getTime(), value);
    if (Array.isArray(value)) return value.map((one) => this.#copy(one));
    if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
    const source = value as Record<string, unknown>;
    const names = Object.keys(source);
    const copy = { ...this.#getShape(names) };
    for (const name of names) copy[name] = this.#copy(source[name]);
    return copy;
  }

  #share(key: unknown, value: unknown): unknown {
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    this.#shared.set(key, value);
    return value;
  }

  #getShape(names: readonly string[]): Record<string, unknown> {
    const key = names.join();
    const known = this.#shapes.get(key);
    if (known !== undefined) return known;
    // The parser, unlike assignments, makes room for all properties at once.
    const shape = JSON.parse(JSON.stringify(Object.fromEntries(names.map((name) => [name, null])))) as Record<string, unknown>;
    this.#shapes.set(key, shape);
    return shape;
  }
}

/**
 * The record in the memory of this process: what every answer is made of. It is loaded at start and follows the changes of all processes; those
 * of this one are in it when their write resolves. Its documents are shared by all readers, and never changed in place.
 */
export class RecordProjection {
  /** By part: advances with every change of it. What was computed at the present one is up to date. */
  readonly revisions: Record<RecordPart, number> = { days: 0, forecasts: 0, wagers: 0 };
  readonly changes: ChangeLog;
  readonly #collections: { [Part in RecordPart]: Collection<KnownDocs[Part]> };
  readonly #scores: Collection<DistributionScoresDoc>;
  #docs: { [Part in RecordPart]: Map<string, KnownDocs[Part]> } = { days: new Map(), forecasts: new Map(), wagers: new Map() };
  #scoresById = new Map<string, DistributionScoresDoc>();
  /** In the order of their ids. */
  #all: ForecastDoc[] = [];
  /** In sequence order, by horizon in days. */
  #byHorizon = new Map<number, ForecastDoc[]>();
  #byUid = new Map<string, ForecastDoc>();
  #unrevealed: ForecastDoc[] = [];
  #days: KnownDay[] = [];
  #wagers: WagerDoc[] = [];
  /** Id of the last change that was read; null before the first load. */
  #seen: number | null = null;
  /** One at a time, so that no older read replaces a newer one. */
  #turn: Promise<unknown> = Promise.resolve();
  /** When the last successful look began, by the monotonic clock; null where nothing is followed. */
  #lookedAtMs: number | null = null;
  /** Outboxes that were read at the last look: an entry stays until it is in the log. */
  #pending = new Set<string>();
  #isDeferred = false;
  readonly #deferred: Record<RecordPart, Set<string>> = { days: new Set(), forecasts: new Set(), wagers: new Set() };

  constructor(db: Db) {
    this.changes = new ChangeLog(db);
    this.#collections = { days: db.collection('days'), forecasts: db.collection('forecasts'), wagers: db.collection('wagers') };
    this.#scores = db.collection('distribution_scores');
  }

  /** Of all parts. */
  get revision(): string {
    const { days, forecasts, wagers } = this.revisions;
    return `${days}.${forecasts}.${wagers}`;
  }

  /** Whether changes of other processes may be missing for longer than the declared lag. */
  get isStale(): boolean {
    return this.#lookedAtMs !== null && performance.now() - this.#lookedAtMs > RECORD_LAG_SECONDS * 1_000 - RESEND_MS;
  }

  /** Reads everything, at the start and after changes by hand. */
  load(): Promise<void> {
    return this.#inTurn(() => this.#load());
  }

  /** Takes over what was written by any process until now. */
  catchUp(): Promise<void> {
    return this.#inTurn(() => this.#look());
  }

  /** Takes over documents that this process has just written. */
  note(part: RecordPart, ids: readonly string[]): Promise<void> {
    if (this.#seen === null || ids.length === 0) return Promise.resolve();
    if (this.#isDeferred) {
      for (const id of ids) this.#deferred[part].add(id);
      return Promise.resolve();
    }
    return this.#inTurn(() => this.#read({ [part]: ids }));
  }

  /** For many writes of this process, while no other writes: they are taken over by the next look, or at the end. */
  async deferring(work: () => Promise<void>): Promise<void> {
    this.#isDeferred = true;
    try {
      await work();
    } finally {
      this.#isDeferred = false;
      await this.catchUp();
    }
  }

  /** Follows the changes of all processes until the signal. @param onChanged called after changes, one call at a time, while looks go on */
  async follow({ log, signal, onChanged }: { log: Log; signal: AbortSignal; onChanged(): Promise<void> }): Promise<void> {
    const wakeSignal = new WakeSignal(signal);
    this.#lookedAtMs = performance.now();
    let failing = false;
    let handledRevision = '';
    let working: Promise<void> | null = null;
    while (!signal.aborted) {
      try {
        await this.catchUp();
        failing = false;
        if (handledRevision !== this.revision && working === null) {
          handledRevision = this.revision;
          const logFailure = (error: unknown) => log.error({ err: error }, 'what follows from a change of the record failed');
          working = onChanged()
            .catch(logFailure)
            .finally(() => {
              working = null;
            });
        }
      } catch (error) {
        if (!failing) log.error({ err: error }, 'changes of the record could not be read: trying again');
        failing = true;
      }
      await wakeSignal.sleep(failing ? FAILURE_PAUSE_MS : POLL_MS);
    }
    await working;
  }

  findForecast(id: string): ForecastDoc | null {
    return this.#docs.forecasts.get(id) ?? null;
  }

  /** By the uid of its attestation or of its resolution. */
  findByUid(uid: string): ForecastDoc | null {
    return this.#byUid.get(uid) ?? null;
  }

  /** In the order of the ids; unknown ones are left out. */
  listForecasts(ids: readonly string[]): ForecastDoc[] {
    return ids.toSorted().flatMap((id) => this.#docs.forecasts.get(id) ?? []);
  }

  /** Of all horizons, in the order of their ids. */
  listAll(): readonly ForecastDoc[] {
    return this.#all;
  }

  /** All of a horizon, by sequence. */
  listByHorizon(horizonDays: number): readonly ForecastDoc[] {
    return this.#byHorizon.get(horizonDays) ?? [];
  }

  /** At most `limit` of a horizon, newest first. @param before only those of a lower sequence */
  listNewest(horizonDays: number, { limit, before }: { limit: number; before: number | null }): ForecastDoc[] {
    const all = this.listByHorizon(horizonDays);
    const end = before === null ? all.length : countBelow(all, ({ sequence }) => sequence < before);
    return all.slice(Math.max(0, end - limit), end).toReversed();
  }

  /** The newest of a horizon that was not missed. */
  findLatest(horizonDays: number): ForecastDoc | null {
    return this.listByHorizon(horizonDays).findLast(({ missed }) => !missed) ?? null;
  }

  /** As `findLatest`, with the public figures of its day. */
  findNewest(horizonDays: number): NewestForecast | null {
    const forecast = this.findLatest(horizonDays);
    const figures = forecast && this.findDay(forecast.day);
    return forecast === null || figures === null ? null : { forecast, figures };
  }

  /** Of a horizon from a day on, by sequence. */
  listSince(horizonDays: number, day: Day): ForecastDoc[] {
    const all = this.listByHorizon(horizonDays);
    return all.slice(countBelow(all, (doc) => doc.day < day));
  }

  /** Scores of a revealed forecast: those of others are stored before their reveal, until which they stay hidden. */
  findScores({ _id, reveal }: Pick<ForecastDoc, '_id' | 'reveal'>): DistributionScoresDoc | null {
    return reveal === null ? null : (this.#scoresById.get(_id) ?? null);
  }

  /** By day. */
  listDays(): readonly KnownDay[] {
    return this.#days;
  }

  findDay(day: Day): DayWithValues | null {
    const found = this.#days[countBelow(this.#days, (one) => one.day < day)];
    if (found?.day !== day) return null;
    const docs = HORIZONS.map((horizonDays) => this.findForecast(formatForecastId(day, horizonDays)));
    const values = docs.flatMap((doc) => (doc === null || doc.values === null ? [] : [[doc.horizonDays, doc.values] as const]));
    return { ...found, forecasts: Object.fromEntries(values) };
  }

  /** By day. */
  listWagers(): readonly WagerDoc[] {
    return this.#wagers;
  }

  findWager(day: Day): WagerDoc | null {
    const found = this.#wagers[countBelow(this.#wagers, (one) => one.day < day)];
    return found?.day === day ? found : null;
  }

  /** As `computeLastPublicDay`: a late resolution holds it back. */
  getLastPublicDay(now: Date): Day {
    return computeLastPublicDay(this.#unrevealed, now);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work, work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #load(): Promise<void> {
    // First, so that what changes meanwhile is read again.
    const seen = await this.changes.lastId();
    const copier = new CompactCopier();
    const find = <Part extends RecordPart>(part: Part) => this.#find(part, {}, copier);
    const [days, forecasts, wagers] = await Promise.all([find('days'), find('forecasts'), find('wagers')]);
    const scores = await this.#findScores({}, copier);
    this.#docs = { days: toMap(days), forecasts: toMap(forecasts), wagers: toMap(wagers) };
    this.#scoresById = toMap(scores);
    this.#seen = seen;
    this.#arrange(PARTS);
  }

  async #look(): Promise<void> {
    if (this.#seen === null) return this.#load();
    const startedAtMs = performance.now();
    // Before the log: an entry leaves the outbox only once its change is in there.
    const outboxes = this.#isDeferred ? [] : (await Promise.all(PARTS.map((part) => this.#listOutboxes(part)))).flat();
    const pending = outboxes.flatMap(({ part, id, key }) => (this.#pending.has(key) ? [] : [[part, [id]] as const]));
    const deferred = PARTS.map((part) => [part, [...this.#deferred[part]]] as const);
    for (const part of PARTS) this.#deferred[part].clear();
    for (;;) {
      const logged = await this.changes.listAfter(this.#seen);
      if (logged === null) {
        await this.#load();
        break;
      }
      await this.#read(mergeIds([...logged.map(({ changed }) => Object.entries(changed)), pending, deferred].flat()));
      this.#seen = logged.at(-1)?._id ?? this.#seen;
      if (logged.length < PAGE_SIZE - 1) break;
    }
    this.#pending = new Set(outboxes.map(({ key }) => key));
    if (this.#lookedAtMs !== null) this.#lookedAtMs = startedAtMs;
  }

  /** Unpublished changes: a process that was killed may have left them. */
  async #listOutboxes(part: RecordPart) {
    const collection = this.#collections[part] as unknown as Collection<{
      _id: string;
      outbox: { change: string; at: Date; id?: string }[];
    }>;
    const options = { projection: { outbox: 1 }, hint: { 'outbox.change': 1 } } as const;
    const found = await collection.find({ 'outbox.change': { $gt: '' } }, options).toArray();
    return found.map(({ _id: id, outbox }) => ({ part, id, key: JSON.stringify([part, id, outbox]) }));
  }

  async #read(changed: ChangedIds): Promise<void> {
    const parts = PARTS.filter((part) => (changed[part]?.length ?? 0) > 0);
    if (parts.length === 0) return;
    const copier = new CompactCopier();
    const read = await Promise.all(
      parts.map(async (part) => [part, await this.#find(part, { _id: { $in: [...changed[part]!] } }, copier)] as const),
    );
    const revealed = read.flatMap(([part, docs]) =>
      part === 'forecasts' ? (docs as ForecastDoc[]).filter(({ reveal }) => reveal !== null) : [],
    );
    const unscored = revealed.map(({ _id }) => _id).filter((id) => !this.#scoresById.has(id));
    const scores = unscored.length === 0 ? [] : await this.#findScores({ _id: { $in: unscored } }, copier);
    for (const one of scores) this.#scoresById.set(one._id, one);
    for (const [part, docs] of read) {
      const known = this.#docs[part] as Map<string, { _id: string }>;
      for (const doc of docs) known.set(doc._id, doc);
    }
    this.#arrange(parts);
  }

  #find<Part extends RecordPart>(part: Part, filter: IdFilter, copier: CompactCopier): Promise<KnownDocs[Part][]> {
    const collection = this.#collections[part] as unknown as Collection<{ _id: string }>;
    const found = collection.find(filter, { projection: PROJECTIONS[part], batchSize: LARGE_READ_BATCH });
    return found.map((doc) => copier.copy(doc)).toArray() as unknown as Promise<KnownDocs[Part][]>;
  }

  #findScores(filter: IdFilter, copier: CompactCopier): Promise<DistributionScoresDoc[]> {
    const found = this.#scores.find(filter, { batchSize: LARGE_READ_BATCH });
    return found.map((doc) => copier.copy(doc)).toArray();
  }

  /** Puts the documents of changed parts in order: new arrays, since readers may hold the earlier ones. */
  #arrange(parts: readonly RecordPart[]): void {
    for (const part of parts) this.revisions[part]++;
    const { days, forecasts, wagers } = this.#docs;
    const byDay = (a: { day: Day }, b: { day: Day }) => a.day - b.day;
    if (parts.includes('days')) this.#days = [...days.values()].sort(byDay);
    if (parts.includes('wagers')) this.#wagers = [...wagers.values()].sort(byDay);
    if (!parts.includes('forecasts')) return;
    this.#all = [...forecasts.values()].sort((a, b) => a.day - b.day || a.horizonDays - b.horizonDays);
    this.#byHorizon = Map.groupBy(this.#all, ({ horizonDays }) => horizonDays);
    this.#unrevealed = this.#all.filter(({ reveal }) => reveal === null);
    const uids = (doc: ForecastDoc) => [doc.attestation, doc.reveal].flatMap((one) => (one === null ? [] : [[one.uid, doc] as const]));
    this.#byUid = new Map(this.#all.flatMap(uids));
  }
}

const toMap = <Doc extends { _id: string }>(docs: readonly Doc[]): Map<string, Doc> => new Map(docs.map((doc) => [doc._id, doc]));

function mergeIds(found: readonly (readonly [string, readonly string[]])[]): ChangedIds {
  const byPart = Map.groupBy(found, ([part]) => part);
  return Object.fromEntries([...byPart].map(([part, lists]) => [part, [...new Set(lists.flatMap(([, ids]) => ids))]]));
}

/** How many of the first satisfy a condition that no later one does. */
export function countBelow<T>(sorted: ArrayLike<T>, isBelow: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelow(sorted[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
