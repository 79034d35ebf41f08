import type { Db } from 'mongodb';
import type { CollectionIndexes } from '../../mongo.ts';
import { BackfillStore } from './store/backfill-store.ts';
import { CloseStore } from './store/close-store.ts';
import { ObservationMemory } from './store/memory.ts';
import { OBSERVATION_INDEXES, ObservationStore } from './store/observation-store.ts';
import { PollStore } from './store/poll-store.ts';
import { ProviderStore } from './store/provider-store.ts';
import { SpotStore } from './store/spot-store.ts';
import { STRIKE_INDEXES, StrikeStore } from './store/strike-store.ts';

/** Everything that live data is kept in. */
export interface LiveStores {
  observations: ObservationStore;
  memory: ObservationMemory;
  spots: SpotStore;
  closes: CloseStore;
  polls: PollStore;
  backfills: BackfillStore;
  providers: ProviderStore;
  strikes: StrikeStore;
}

export const LIVE_INDEXES: readonly CollectionIndexes[] = [...OBSERVATION_INDEXES, ...STRIKE_INDEXES];

export function openLiveStores(db: Db, now: () => number): LiveStores {
  const observations = new ObservationStore(db);
  return {
    observations,
    memory: new ObservationMemory(observations, now),
    spots: new SpotStore(db),
    closes: new CloseStore(db),
    polls: new PollStore(db),
    backfills: new BackfillStore(db),
    providers: new ProviderStore(db),
    strikes: new StrikeStore(db),
  };
}
