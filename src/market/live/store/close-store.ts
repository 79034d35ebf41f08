import type { Collection, Db } from 'mongodb';
import { formatDay } from '../../../forecast/day.ts';
import { insertOrFind } from '../../../platform/insert-or-find.ts';
import type { DailyClose } from '../../prices/daily-close.ts';

/** The first agreed close of each day: several forecasts and repeated steps read it, so a late venue must not change a used price. */
export class CloseStore {
  readonly #closes: Collection<Omit<DailyClose, 'day'> & { _id: string }>;

  constructor(db: Db) {
    this.#closes = db.collection('daily_closes');
  }

  /** Pins a day's close unless one is pinned, and returns the pinned one. */
  async pin({ day, ...close }: DailyClose): Promise<DailyClose> {
    const { _id, ...pinned } = await insertOrFind(this.#closes, { _id: formatDay(day), ...close });
    return { day, ...pinned };
  }
}
