import type { Caller } from '../../auth/caller.ts';
import type { Market } from '../../market/market.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import type { AttestationViewOptions } from '../attestations/view.ts';
import type { MarketComparisonDeps } from '../crowd/market-comparison.ts';
import type { ModelStore } from '../model-store.ts';
import type { StatisticsService } from '../statistics/statistics-service.ts';

export interface OracleDeps extends MarketComparisonDeps {
  publicUrl: string;
  models: ModelStore;
  statistics: StatisticsService;
  market: Market;
  /** Strikes that the service's own venue quotes; empty where another venue is configured. */
  venueMarkets(): Promise<{ market: StrikeMarket; quote: Quote }[]>;
  viewFor(caller: Caller): AttestationViewOptions;
}
