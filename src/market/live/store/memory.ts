import type { Stream } from '../streams.ts';
import { StreamHistory } from './history.ts';
import type { ObservationStore } from './observation-store.ts';

/** Another process's writes are looked for this often. */
const REFRESH_MS = 5_000;
/** Writes of several processes may become visible in another order than their times. */
const OVERLAP_MS = 60_000;

interface Loaded {
  history: StreamHistory;
  checkedAtMs: number;
  /** The database's time of the newest change taken over. */
  changedAtMs: number;
}

/** The store's observations in this process's memory, kept up with what any process writes. */
export class ObservationMemory {
  readonly #store: ObservationStore;
  readonly #now: () => number;
  readonly #loaded = new Map<Stream, Promise<Loaded>>();

  constructor(store: ObservationStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** The history of a stream as the database has it, at most five seconds old. */
  async stream(stream: Stream): Promise<StreamHistory> {
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
  async forget(stream: Stream): Promise<void> {
    const known = await this.#loaded.get(stream);
    if (known !== undefined) known.checkedAtMs = Number.NEGATIVE_INFINITY;
  }

  async #load(stream: Stream, known: Loaded | undefined): Promise<Loaded> {
    const checkedAtMs = this.#now();
    const docs = await this.#store.changed(stream, new Date(Math.max(0, (known?.changedAtMs ?? 0) - OVERLAP_MS)));
    const history = known?.history ?? new StreamHistory(stream);
    history.merge(docs);
    return { history, checkedAtMs, changedAtMs: docs.at(-1)?.updatedAt.getTime() ?? known?.changedAtMs ?? 0 };
  }
}
