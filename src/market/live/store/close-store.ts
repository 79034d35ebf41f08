import type { Collection, Db } from 'mongodb';
import { formatDay, parseDay } from '../../../forecast/day.ts';
import { isDuplicateKey } from '../../../platform/mongo.ts';
import type { DailyClose } from '../../prices/daily-close.ts';

interface CloseDoc extends Omit<DailyClose, 'day'> {
  /** `YYYY-MM-DD`. */
  _id: string;
}

/**
 * The close of each day as venues first agreed on it, the collection `daily_closes`. Outcomes of several forecasts and steps that run
 * twice read the same day: a venue that answers later must not move a price that was used.
 */
export class CloseStore {
  readonly #closes: Collection<CloseDoc>;

  constructor(db: Db) {
    this.#closes = db.collection('daily_closes');
  }

  /** Pins a day's close unless it is pinned, and returns the one that stands. */
  async pin({ day, ...close }: DailyClose): Promise<DailyClose> {
    const _id = formatDay(day);
    try {
      await this.#closes.insertOne({ _id, ...close });
      return { day, ...close };
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const { _id: date, ...pinned } = (await this.#closes.findOne({ _id })) as CloseDoc;
      return { day: parseDay(date), ...pinned };
    }
  }
}
