import type { Market } from '../../market/market.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import type { WagerBook } from '../../wager/wagers.ts';
import type { AttestationViewOptions } from '../attestation-views.ts';
import type { Caller } from '../caller.ts';
import type { ModelStore } from '../models.ts';
import type { ForecastRecord } from '../record.ts';
import type { StatisticsDesk } from '../statistics/desk.ts';

/** What gated answers are made of, whichever door asks for them. */
export interface OracleParts {
  publicUrl: string;
  record: ForecastRecord;
  models: ModelStore;
  /** What the record is worth, with error bars. */
  statistics: StatisticsDesk;
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
