import type { Collection, Db } from 'mongodb';
import { type CollectionIndexes, insertInOrder } from '../../platform/mongo.ts';
import type { AnyEvent, AnyEventDraft } from './event.ts';

/** For so long events are kept, counted from when they happened. */
export const EVENT_RETENTION_DAYS = 90;

const DAY_MS = 86_400_000;

export const EVENT_INDEXES = [
  { collection: 'events', indexes: [{ key: { key: 1 }, unique: true }] },
] as const satisfies CollectionIndexes[];

/** The log of all events, in one order for everybody. */
export class EventLog {
  readonly #events: Collection<AnyEvent>;
  readonly #onAppended: () => void;

  /** @param onAppended called as soon as something new stands in the log, before `append` has resolved */
  constructor(db: Db, onAppended: () => void = () => undefined) {
    this.#events = db.collection('events');
    this.#onAppended = onAppended;
  }

  /**
   * Appends what is not in the log yet, in the order given, and returns how many that were. An id is only written once the one before
   * it stands there, and an insert of many stops at the first that is refused: whoever reads upwards sees no gap, now or later.
   */
  async append(drafts: readonly AnyEventDraft[], now: Date): Promise<number> {
    let appended = 0;
    // Every round that is lost was won by somebody else, whose events are in the log then.
    for (let fresh = drafts; ; ) {
      fresh = await this.#filterNew(fresh);
      if (fresh.length === 0) return appended;
      const last = await this.lastId();
      const docs = fresh.map((draft, index) => ({ ...draft, _id: last + 1 + index, appendedAt: now }) as AnyEvent);
      const { inserted, complete } = await insertInOrder(this.#events, docs);
      appended += inserted;
      if (inserted > 0) this.#onAppended();
      if (complete) return appended;
    }
  }

  /** Events with a higher id, in order. */
  after(id: number, limit: number): Promise<AnyEvent[]> {
    return this.#events
      .find({ _id: { $gt: id } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
  }

  event(id: number): Promise<AnyEvent | null> {
    return this.#events.findOne({ _id: id });
  }

  /** Id of the newest event; 0 before the first. */
  async lastId(): Promise<number> {
    return (await this.#events.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } }))?._id ?? 0;
  }

  /** Id of the oldest event that is kept; null before the first. */
  async firstId(): Promise<number | null> {
    return (await this.#events.findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } }))?._id ?? null;
  }

  /** Deletes what is too old, from the beginning on; the newest event stays, since the next id follows from it. */
  async purge(now: Date): Promise<void> {
    const since = new Date(now.getTime() - EVENT_RETENTION_DAYS * DAY_MS);
    const kept = await this.#events.findOne({ at: { $gte: since } }, { sort: { _id: 1 }, projection: { _id: 1 } });
    const first = kept?._id ?? (await this.lastId());
    await this.#events.deleteMany({ _id: { $lt: first } });
  }

  async #filterNew(drafts: readonly AnyEventDraft[]): Promise<AnyEventDraft[]> {
    if (drafts.length === 0) return [];
    const keys = drafts.map(({ key }) => key);
    const known = await this.#events.find({ key: { $in: keys } }, { projection: { key: 1 }, hint: { key: 1 } }).toArray();
    const knownKeys = new Set(known.map(({ key }) => key));
    return drafts.filter(({ key }) => !knownKeys.has(key));
  }
}
