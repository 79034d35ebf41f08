import type { Db } from 'mongodb';
import type { CollectionIndexes } from '../../../platform/mongo.ts';
import { BackfillStore } from './backfill-store.ts';
import { CloseStore } from './close-store.ts';
import { ObservationCache } from './observations/observation-cache.ts';
import { OBSERVATION_INDEXES, ObservationStore } from './observations/observation-store.ts';
import { PollStore } from './poll-store.ts';
import { ProviderHealthStore } from './provider-health-store.ts';
import { SpotStore } from './spot-store.ts';
import { STRIKE_INDEXES, StrikeStore } from './strike-store.ts';

export type LiveStores = ReturnType<typeof openLiveStores>;
export const LIVE_INDEXES: readonly CollectionIndexes[] = [...OBSERVATION_INDEXES, ...STRIKE_INDEXES];

export function openLiveStores(db: Db, now: () => number) {
  const observations = new ObservationStore(db);
  return {
    observations,
    observationCache: new ObservationCache(observations, now),
    spots: new SpotStore(db),
    closes: new CloseStore(db),
    polls: new PollStore(db),
    backfills: new BackfillStore(db),
    providerHealth: new ProviderHealthStore(db),
    strikes: new StrikeStore(db),
  };
}
