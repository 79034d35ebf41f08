import type { ObservationStore } from './observation-store.ts';
import type { ObservationStream } from './observation-stream.ts';
import { StreamHistory } from './stream-history.ts';

/** Another process's writes are looked for this often. */
const REFRESH_MS = 5_000;
/** Writes of several processes may become visible in another order than their times. */
const OVERLAP_MS = 60_000;

interface CachedHistory {
  history: StreamHistory;
  /** Our time of the last look at the database. */
  checkedAtMs: number;
  /** The database's time of that look. */
  readAtMs: number;
}

/** The store's observations in this process's memory, kept up with what any process writes. */
export class ObservationCache {
  readonly #store: ObservationStore;
  readonly #now: () => number;
  readonly #loaded = new Map<ObservationStream, Promise<CachedHistory>>();
  readonly #histories = new Map<ObservationStream, StreamHistory>();

  constructor(store: ObservationStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The history of a stream as the database has it, at most five seconds old. */
  async getHistory(stream: ObservationStream): Promise<StreamHistory> {
    const known = this.#loaded.get(stream);
    if (known !== undefined && this.#now() - (await known).checkedAtMs < REFRESH_MS) return (await known).history;
    const loading = this.#load(stream, await known);
    this.#loaded.set(stream, loading);
    loading.catch(() => {
      if (this.#loaded.get(stream) === loading) this.#loaded.delete(stream);
    });
    return (await loading).history;
  }

  /** Has the next reader look at the database again: called after a write of this process. */
  async invalidate(stream: ObservationStream): Promise<void> {
    const known = await this.#loaded.get(stream);
    if (known !== undefined) known.checkedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A number that changes when days were filled in behind others that were known. */
  getRevision(): number {
    return [...this.#histories.values()].reduce((sum, { revision }) => sum + revision, 0);
  }

  async #load(stream: ObservationStream, known: CachedHistory | undefined): Promise<CachedHistory> {
    const checkedAtMs = this.#now();
    const history = known?.history ?? new StreamHistory(stream);
    const readAtMs = (await this.#store.readDatabaseTime()).getTime();
    const since = new Date(known === undefined ? 0 : known.readAtMs - OVERLAP_MS);
    for await (const doc of this.#store.readChanged(stream, since)) history.merge(doc);
    this.#histories.set(stream, history);
    return { history, checkedAtMs, readAtMs };
  }
}
