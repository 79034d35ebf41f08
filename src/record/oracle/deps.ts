import type { Caller } from '../../auth/caller.ts';
import type { Market } from '../../market/market.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { AttestationViewOptions } from '../attestations/view.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import type { ModelStore } from '../model-store.ts';
import type { StatisticsService } from '../statistics/statistics-service.ts';

/** What gated answers are made of, whichever door asks for them. */
export interface OracleDeps {
  publicUrl: string;
  record: ForecastRecord;
  models: ModelStore;
  /** What the record is worth, with error bars. */
  statistics: StatisticsService;
  market: Market;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  /** Strikes that the service's own venue quotes; empty where the venue is somebody else's. */
  venueMarkets(): Promise<{ market: StrikeMarket; quote: Quote }[]>;
  /** How a caller's answers are to be cut. */
  viewFor(caller: Caller): AttestationViewOptions;
  now(): Date;
}
