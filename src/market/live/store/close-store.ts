import type { Collection, Db } from 'mongodb';
import { formatDay, parseDay } from '../../../forecast/day.ts';
import { insertOrFind } from '../../../platform/insert-or-find.ts';
import type { DailyClose } from '../../prices/daily-close.ts';

interface CloseDoc extends Omit<DailyClose, 'day'> {
  /** `YYYY-MM-DD`. */
  _id: string;
}

/**
 * The first agreed close of each day, in the collection `daily_closes`. Several forecasts and repeated steps read the same day, so a late
 * venue must not change a used price.
 */
export class CloseStore {
  readonly #closes: Collection<CloseDoc>;

  constructor(db: Db) {
    this.#closes = db.collection('daily_closes');
  }

  /** Pins a day's close unless one is pinned, and returns the pinned one. */
  async pin({ day, ...close }: DailyClose): Promise<DailyClose> {
    const { _id: date, ...pinned } = await insertOrFind(this.#closes, { _id: formatDay(day), ...close });
    return { day: parseDay(date), ...pinned };
  }
}
