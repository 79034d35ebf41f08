import type { Db } from 'mongodb';
import { type Day, toDay } from '../../forecast/day.ts';
import type { Market } from '../../market/market.ts';
import { selectWeeklyStrikes } from '../../market/strikes.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import { CrowdFiguresReader } from '../../record/crowd/crowd-figures.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { toExchangeListing } from '../../record/intent/market.ts';
import type { QuoteReference } from '../../wager/paper-quote.ts';
import { PaperVenue } from '../../wager/paper-venue.ts';
import type { TradingAccount } from '../../wager/polymarket/api/trading-client.ts';
import { type PolymarketStrike, PolymarketVenue } from '../../wager/polymarket/venue.ts';
import { MICROS, type Venue } from '../../wager/venue.ts';
import { WagerSwitch } from '../../wager/wager-switch.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

export interface Venues {
  venue: Venue;
  /** May hold open wagers that were placed under other settings. */
  otherVenues: readonly Venue[];
  /** The paper venue, whatever the settings: only it quotes past days. */
  paper: PaperVenue;
  /** Figures of the wagers at the venue. */
  crowd: CrowdFiguresReader;
}

type VenueParts = Pick<ServiceCore, 'db' | 'record' | 'market' | 'wagers' | 'figuresStore'>;

export function composeVenues(context: ProcessContext, { db, record, market, wagers, figuresStore: store }: VenueParts): Venues {
  const paper = createPaperVenue(db, context.config, record, market);
  const polymarket = createPolymarketVenues(context, db, market);
  const venue = context.config.WAGERS === 'polymarket' ? polymarket[0] : paper;
  return {
    venue,
    otherVenues: [paper, ...polymarket].filter((other) => other !== venue),
    paper,
    crowd: new CrowdFiguresReader({ store, record, wagers, sameBook: venue.sameBook }),
  };
}

/** Polymarket in the configured mode first, then the other mode, which may hold open wagers. */
function createPolymarketVenues({ config, log }: ProcessContext, db: Db, market: Market): [PolymarketVenue, ...PolymarketVenue[]] {
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
      isPaused: async () => (await wagerSwitch.getState()).paused,
      strikes: (at) => listPolymarketStrikes(market, at),
      now: () => new Date(),
      log,
    });
  const { POLYMARKET_PRIVATE_KEY: privateKey, POLYMARKET_SIGNATURE_TYPE: signatureType, POLYMARKET_FUNDER: funder } = config;
  const dryRunVenue = open(null);
  if (privateKey === undefined) return [dryRunVenue];
  const liveVenue = open({ privateKey, signatureType, funder });
  return config.POLYMARKET_DRY_RUN ? [dryRunVenue, liveVenue] : [liveVenue, dryRunVenue];
}

async function listPolymarketStrikes(market: Market, at: Date): Promise<PolymarketStrike[]> {
  const strikes = selectWeeklyStrikes(await market.strikes(at.getTime()), at.getTime());
  return strikes.flatMap((strike) => {
    const listing = toExchangeListing(strike);
    if (strike.venue !== 'polymarket' || listing === null) return [];
    const { question, strikeUsd, expiresAtMs } = strike;
    return [{ conditionId: listing.conditionId, question, strikeUsd, expiresAt: new Date(expiresAtMs), listing }];
  });
}

/** Keeps the last one: a stored day never changes. */
function createReferenceReader(record: ForecastRecord): (at: Date) => Promise<QuoteReference> {
  let latest: { day: Day; reference: QuoteReference } | undefined;
  return async (at) => {
    const day = toDay(at.getTime());
    if (latest?.day === day) return latest.reference;
    const stored = await record.findDay(day);
    if (!stored?.price || !stored.variance) throw new OracleError('STEP_WAITING', 'The paper venue quotes once the day has its forecast');
    latest = { day, reference: { spotUsd: stored.price.cents / 100, dailyVolatility: Math.sqrt(stored.variance.v94) } };
    return latest.reference;
  };
}

function createPaperVenue(db: Db, config: Config, record: ForecastRecord, market: Market): PaperVenue {
  return new PaperVenue({
    db,
    openingBalanceMicros: config.PAPER_BANKROLL_USD * MICROS,
    reference: createReferenceReader(record),
    close: async (day, at) => (await market.dailyClose(day, at.getTime())).priceUsd,
  });
}
