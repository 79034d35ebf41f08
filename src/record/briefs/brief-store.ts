import type { Collection, Db } from 'mongodb';
import { type Day, formatDay } from '../../forecast/day.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { Brief } from './brief.ts';

interface BriefDoc {
  /** `YYYY-MM-DD`. */
  _id: string;
  day: Day;
  brief: Brief;
}

export const BRIEF_INDEXES = [{ collection: 'briefs', indexes: [{ key: { day: 1 }, unique: true }] }];

/** Daily briefs, kept for ever; each is written once. */
export class BriefStore {
  readonly #briefs: Collection<BriefDoc>;

  constructor(db: Db) {
    this.#briefs = db.collection('briefs');
  }

  async findByDay(day: Day): Promise<Brief | null> {
    return (await this.#briefs.findOne({ _id: formatDay(day) }))?.brief ?? null;
  }

  /** The newest brief, or null before the first. */
  async findLatest(): Promise<Brief | null> {
    return (await this.#briefs.findOne({}, { sort: { day: -1 } }))?.brief ?? null;
  }

  /** The day of the newest brief, or null before the first. */
  async findLastDay(): Promise<Day | null> {
    return (await this.#briefs.findOne({}, { sort: { day: -1 }, projection: { day: 1 } }))?.day ?? null;
  }

  /** Keeps a day's brief, which is proven to be due, unless there is one, and returns the one that stands. */
  async saveOnce(day: Day, brief: Brief, _due: ReachedInstant): Promise<Brief> {
    try {
      await this.#briefs.insertOne({ _id: formatDay(day), day, brief });
      return brief;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return (await this.findByDay(day)) as Brief;
    }
  }
}
