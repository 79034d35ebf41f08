import { isOracleError } from '../errors.ts';
import { DAY_MS, type Day } from '../forecast/day.ts';
import { distributionOf, probabilityAbove, scaleOf } from '../forecast/distribution.ts';
import { HORIZONS } from '../forecast/model.ts';
import type { DayDoc } from '../record/day-record.ts';
import { fromCents } from '../record/forecast.ts';
import { MAX_OPEN_FRACTION, type Sizing, sizeWager } from '../wager/sizing.ts';
import { MICROS, type Quote, type StrikeMarket, type Venue } from '../wager/venue.ts';
import { undecidedWager, type WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { windowOpensAt } from './times.ts';

/**
 * The wager of a day: decided once and written down, then placed under the day's own order id, so that neither a second run nor a
 * crash between the two buys twice.
 */
export async function wagerStep(parts: PipelineParts, day: Day, context: StepContext): Promise<WagerDoc | null> {
  const { wagers, venue, record, placeWagers } = parts;
  const known = await wagers.wager(day);
  if (known === null && !placeWagers) return null;
  const today = await record.day(day);
  if (today === null) return null;
  const decided = known ?? (await wagers.decide(await decision(parts, venue, today, context)));
  if (decided.state === 'DECIDED') await place(parts, decided, context);
  return wagers.wager(day);
}

async function decision(parts: PipelineParts, venue: Venue, today: DayDoc, { now, replayed }: StepContext): Promise<WagerDoc> {
  const skipped = (reason: string): WagerDoc => ({ ...undecidedWager(venue, today.day, now), replayed, skippedBecause: reason });
  if (today.price === null) return skipped('nothing was forecast');
  if (now.getTime() >= windowOpensAt(today.day)) return skipped('the window had opened');
  const market = nearestTheMoney(await venue.markets(now), fromCents(today.price.cents));
  if (market === undefined) return skipped('no market was open');
  return sized(parts, venue, today, { market, quote: await venue.quote(market, now), now, replayed });
}

interface Pinned {
  market: StrikeMarket;
  quote: Quote;
  now: Date;
  replayed: boolean;
}

async function sized(parts: PipelineParts, venue: Venue, today: DayDoc, { market, quote, now, replayed }: Pinned): Promise<WagerDoc> {
  const { weight } = await parts.wagers.headToHead();
  const pModel = await probabilityOfYes(parts, today, market, now);
  const qMarket = (quote.bid + quote.ask) / 2;
  const yesCost = quote.ask + quote.fee;
  const noCost = 1 - quote.bid + quote.fee;
  const sizing = sizeWager({ pModel, qMarket, weight, yesCost, noCost });
  const unitCost = sizing.side === 'NO' ? noCost : yesCost;
  const contracts = sizing.side === null ? 0 : await affordable(venue, sizing.fraction, unitCost);
  const placing = contracts > 0;
  return {
    ...undecidedWager(venue, today.day, now),
    replayed,
    market,
    quote,
    pModel,
    qMarket,
    pBelieved: sizing.pBelieved,
    weight,
    side: placing ? sizing.side : null,
    contracts,
    limitCostMicros: placing ? Math.round(unitCost * MICROS) : 0,
    state: placing ? 'DECIDED' : 'SKIPPED',
    skippedBecause: placing ? null : skipReason(weight, sizing),
  };
}

function skipReason(weight: number, sizing: Sizing): string {
  if (weight === 0) return 'the model has not beaten the market on enough settled markets to be believed';
  return sizing.side === null ? 'no edge after costs' : 'the stake would be under one contract or over the cap on open stakes';
}

/** P(close above the strike) at expiry, from the fitted residuals of the nearest horizon; days may be fractional. */
async function probabilityOfYes(parts: PipelineParts, today: DayDoc, market: StrikeMarket, now: Date): Promise<number> {
  const { v94, v99 } = today.variance!;
  const days = (market.expiresAt.getTime() - now.getTime()) / DAY_MS;
  const nearest = HORIZONS.reduce((best, horizon) => (Math.abs(horizon - days) < Math.abs(best - days) ? horizon : best));
  const model = await parts.forecaster.model(today.modelVersion!);
  const { residualQuantiles } = model.horizons.find(({ horizonDays }) => horizonDays === nearest)!;
  const { pUp } = today.forecasts[nearest];
  const distribution = distributionOf({ residualQuantiles, scale: scaleOf(v94, v99, days), pUp });
  return probabilityAbove({ distribution, spot: fromCents(today.price!.cents), strike: market.strikeUsd });
}

/** Whole contracts for a fraction of the bankroll, within the cap on all open stakes. */
async function affordable(venue: Venue, fraction: number, unitCost: number): Promise<number> {
  const { cashMicros, openMicros } = await venue.account();
  const bankroll = cashMicros + openMicros;
  const stake = Math.min(fraction * bankroll, MAX_OPEN_FRACTION * bankroll - openMicros);
  return Math.max(0, Math.floor(stake / (unitCost * MICROS)));
}

async function place({ wagers, venue, log }: PipelineParts, wager: WagerDoc, { now }: StepContext): Promise<void> {
  const { _id, day, market, side, contracts, limitCostMicros, decidedAt } = wager;
  const order = { clientOrderId: _id, market: market!, side: side!, contracts, limitCostMicros, at: decidedAt };
  try {
    // Once the window has opened nothing is bought any more; what an earlier run bought in time is found.
    const fill = now.getTime() < windowOpensAt(day) ? await venue.place(order) : await venue.find(_id);
    if (fill === null) return await wagers.move(_id, 'DECIDED', 'SKIPPED', { skippedBecause: 'not placed before the window opened' });
    await wagers.move(_id, 'DECIDED', 'PLACED', { costMicros: fill.costMicros, placedAt: fill.at });
  } catch (error) {
    if (!isOracleError(error, 'VENUE_REJECTED')) throw error;
    log.warn({ day: _id, reason: error.message }, 'wager rejected');
    await wagers.move(_id, 'DECIDED', 'SKIPPED', { skippedBecause: `rejected: ${error.message}` });
  }
}

function nearestTheMoney(markets: StrikeMarket[], spotUsd: number): StrikeMarket | undefined {
  const distance = ({ strikeUsd }: StrikeMarket) => Math.abs(strikeUsd - spotUsd);
  return markets.toSorted((a, b) => distance(a) - distance(b))[0];
}
