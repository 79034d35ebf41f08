import type { Collection, Db } from 'mongodb';
import { formatDay } from '../../../forecast/day.ts';
import { insertOrFind } from '../../../platform/insert-or-find.ts';
import type { CollectionIndexes } from '../../../platform/mongo.ts';
import type { DailyClose } from '../../prices/daily-close.ts';
import { BackfillStore } from './backfill-store.ts';
import { ObservationCache } from './observations/observation-cache.ts';
import { OBSERVATION_INDEXES, ObservationStore } from './observations/observation-store.ts';
import { PollStore } from './poll-store.ts';
import { ProviderHealthStore } from './provider-health-store.ts';
import { RangeStore } from './range-store.ts';
import { SpotStore } from './spot-store.ts';
import { STRIKE_INDEXES, StrikeStore } from './strike-store.ts';

/** The first agreed close of each day: several forecasts and repeated steps read it, so a late venue must not change a used price. */
class CloseStore {
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

export type LiveStores = ReturnType<typeof openLiveStores>;
export const LIVE_INDEXES: readonly CollectionIndexes[] = [...OBSERVATION_INDEXES, ...STRIKE_INDEXES];

export function openLiveStores(db: Db, now: () => number) {
  const observations = new ObservationStore(db);
  return {
    observations,
    observationCache: new ObservationCache(observations, now),
    spots: new SpotStore(db),
    ranges: new RangeStore(db),
    closes: new CloseStore(db),
    polls: new PollStore(db),
    backfills: new BackfillStore(db),
    providerHealth: new ProviderHealthStore(db),
    strikes: new StrikeStore(db),
  };
}
