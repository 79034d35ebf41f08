import type { Config } from '../config.ts';
import { OracleError } from '../errors.ts';
import { dayOf } from '../forecast/day.ts';
import type { VenueMarket } from '../http/parts.ts';
import type { Market } from '../market/market.ts';
import { weeklyStrikes } from '../market/strikes.ts';
import type { Database } from '../mongo.ts';
import { listingOf } from '../record/intent/listing.ts';
import type { ForecastRecord } from '../record/record.ts';
import { PaperVenue } from '../wager/paper-venue.ts';
import { type PolymarketStrike, PolymarketVenue } from '../wager/polymarket/polymarket-venue.ts';
import type { TradingAccount } from '../wager/polymarket/trading.ts';
import { MICROS, type Venue } from '../wager/venue.ts';
import { WagerSwitch } from '../wager/wager-switch.ts';
import type { Frame } from './frame.ts';

const now = () => new Date();

/** Where wagers go, and where they may stand. */
export interface Venues {
  /** Where new wagers go. */
  venue: Venue;
  /** Where wagers may still stand that were made under other settings. */
  otherVenues: readonly Venue[];
  /** The service's own, whichever the settings want: no other one has quotes of the past. */
  paper: PaperVenue;
}

/** What venues stand on. */
export interface VenueComposition {
  db: Database['db'];
  record: ForecastRecord;
  market: Market;
}

/** The venues, as the settings want them. */
export function composeVenues(frame: Frame, { db, record, market }: VenueComposition): Venues {
  const paper = paperVenue(db, frame.config, record, market);
  const polymarket = polymarketVenues(frame, db, market);
  const venue = frame.config.WAGERS === 'polymarket' ? polymarket[0] : paper;
  return { venue, otherVenues: [paper, ...polymarket].filter((other) => other !== venue), paper };
}

/** Polymarket as the settings want it, and behind it, where it is not the same, the dry run that wagers may still stand in. */
function polymarketVenues({ config, log }: Frame, db: Database['db'], market: Market): [PolymarketVenue, ...PolymarketVenue[]] {
  const wagerSwitch = new WagerSwitch(db);
  const open = (account: TradingAccount | null) =>
    new PolymarketVenue({
      db,
      host: config.POLYMARKET_HOST,
      account,
      dryRunBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
      maxStakeUsd: config.WAGER_MAX_STAKE_USD,
      maxOpenUsd: config.WAGER_MAX_OPEN_USD,
      killSwitch: config.WAGER_KILL_SWITCH === 'on',
      isPaused: async () => (await wagerSwitch.state()).paused,
      strikes: (at) => listedStrikes(market, at),
      now,
      log,
    });
  const { POLYMARKET_PRIVATE_KEY: privateKey, POLYMARKET_SIGNATURE_TYPE: signatureType, POLYMARKET_FUNDER: funder } = config;
  const dryRun = open(null);
  if (privateKey === undefined) return [dryRun];
  const real = open({ privateKey, signatureType, funder });
  return config.POLYMARKET_DRY_RUN ? [dryRun, real] : [real, dryRun];
}

/** Polymarket's weekly strikes, as the market last saw them. */
async function listedStrikes(market: Market, at: Date): Promise<PolymarketStrike[]> {
  const strikes = weeklyStrikes(await market.strikes(at.getTime()), at.getTime());
  return strikes.flatMap((strike) => {
    const listing = listingOf(strike);
    if (strike.venue !== 'polymarket' || listing === null) return [];
    const { question, strikeUsd, expiresAtMs } = strike;
    return [{ conditionId: listing.conditionId, question, strikeUsd, expiresAt: new Date(expiresAtMs), listing }];
  });
}

/** All strikes of a venue with its quotes. */
export async function quotedMarkets(venue: Venue): Promise<VenueMarket[]> {
  const at = now();
  const markets = await venue.markets(at);
  return Promise.all(markets.map(async (market) => ({ market, quote: await venue.quote(market, at) })));
}

/** The service's own venue, whose quotes are made from its own forecast of the volatility. */
function paperVenue(db: Database['db'], config: Config, record: ForecastRecord, market: Market): PaperVenue {
  return new PaperVenue({
    db,
    openingBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
    async reference(at) {
      const day = await record.day(dayOf(at.getTime()));
      if (!day?.price || !day.variance) throw new OracleError('STEP_WAITING', 'The paper venue quotes once the day has its forecast');
      return { spotUsd: day.price.cents / 100, dailyVolatility: Math.sqrt(day.variance.v94) };
    },
    close: async (day, at) => (await market.dailyClose(day, at.getTime())).priceUsd,
  });
}
