import type { ObservationStore } from './observation-store.ts';
import type { ObservationStream } from './observation-stream.ts';
import { StreamHistory } from './stream-history.ts';

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
