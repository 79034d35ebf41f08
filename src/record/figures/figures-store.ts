import type { Collection, Db } from 'mongodb';
import PQueue from 'p-queue';
import { createCache } from '../../platform/cache.ts';

interface FiguresDoc {
  _id: string;
  /** What the figures were computed from, e.g. a revision of the record. */
  key: string;
  figures: object;
}

/** Of each name, the newest and the one before, while requests still read it. */
const MAX_CACHED = 32;

/** Computed figures by name: once per key by any process, then from the database. The newest write of a name stays. */
export class FiguresStore {
  readonly #stored: Collection<FiguresDoc>;
  readonly #cache = createCache<object>('record-figures', MAX_CACHED);
  /** Each computation holds everything that it reads of the record. */
  readonly #computations = new PQueue({ concurrency: 1 });

  constructor(db: Db) {
    this.#stored = db.collection('record_figures');
  }

  /** @param compute reads no other figures: it has the one turn of this process */
  async get<Figures extends object>(name: string, key: string, compute: () => Promise<Figures>): Promise<Figures> {
    return (await this.#cache.get(`${name} ${key}`, () => this.#load(name, key, compute))) as Figures;
  }

  async #load(name: string, key: string, compute: () => Promise<object>): Promise<object> {
    const stored = await this.#stored.findOne({ _id: name, key });
    if (stored !== null) return stored.figures;
    const figures = await this.#computations.add(compute);
    await this.#stored.replaceOne({ _id: name }, { key, figures }, { upsert: true });
    return figures;
  }
}
