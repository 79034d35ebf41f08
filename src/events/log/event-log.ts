import type { Collection, Db } from 'mongodb';
import { DAY_MS } from '../../forecast/day.ts';
import { type CollectionIndexes, insertInOrder } from '../../platform/mongo.ts';
import type { AnyEvent, AnyEventDraft } from './event.ts';

/** Retention, from the time of the event. */
export const EVENT_RETENTION_DAYS = 90;

export const EVENT_INDEXES = [
  { collection: 'events', indexes: [{ key: { key: 1 }, unique: true }] },
] as const satisfies CollectionIndexes[];

export class EventLog {
  readonly #events: Collection<AnyEvent>;
  readonly #onAppended: () => void;

  /** @param onAppended called after each insert, before `append` resolves */
  constructor(db: Db, onAppended: () => void = () => undefined) {
    this.#events = db.collection('events');
    this.#onAppended = onAppended;
  }

  /** Returns the number of new events. Each id is written only after its predecessor: readers never see a gap. */
  async append(drafts: readonly AnyEventDraft[], now: Date): Promise<number> {
    let appended = 0;
    // After a conflict the events of the other process are in the log.
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

  async firstId(): Promise<number | null> {
    return (await this.#events.findOne({}, { sort: { _id: 1 }, projection: { _id: 1 } }))?._id ?? null;
  }

  /** Deletes expired events from the start of the log; the newest stays, since the next id follows from it. */
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
