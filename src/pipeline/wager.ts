import { isOracleError } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import type { DayDoc } from '../record/day-record.ts';
import { fromCents } from '../record/forecast.ts';
import { strikeProbability } from '../record/strike-probability.ts';
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
  try {
    return await sized(parts, venue, today, { market, quote: await venue.quote(market, now), now, replayed });
  } catch (error) {
    if (!isOracleError(error, 'VENUE_REJECTED')) throw error;
    return skipped(`no quote: ${error.message}`);
  }
}

interface Pinned {
  market: StrikeMarket;
  quote: Quote;
  now: Date;
  replayed: boolean;
}

async function sized(parts: PipelineParts, venue: Venue, today: DayDoc, { market, quote, now, replayed }: Pinned): Promise<WagerDoc> {
  const { weight } = await parts.wagers.headToHead();
  const model = await parts.forecaster.model(today.modelVersion!);
  const pModel = strikeProbability({ day: today, model, strikeUsd: market.strikeUsd, expiresAt: market.expiresAt, at: now });
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

/** Whole contracts for a fraction of the bankroll, within the cap on all open stakes. */
async function affordable(venue: Venue, fraction: number, unitCost: number): Promise<number> {
  const { cashMicros, openMicros } = await venue.account();
  const bankroll = cashMicros + openMicros;
  const stake = Math.min(fraction * bankroll, MAX_OPEN_FRACTION * bankroll - openMicros);
  return Math.max(0, Math.floor(stake / (unitCost * MICROS)));
}

async function place({ wagers, venue, placeWagers, log }: PipelineParts, wager: WagerDoc, { now }: StepContext): Promise<void> {
  // What was sized on paper is never placed with money after a change of the settings, nor the other way round.
  if (wager.venue !== venue.name) return wagers.move(wager._id, 'DECIDED', 'SKIPPED', { skippedBecause: `sized for ${wager.venue}` });
  const { _id, day, market, side, contracts, limitCostMicros, decidedAt } = wager;
  const order = { clientOrderId: _id, market: market!, side: side!, contracts, limitCostMicros, at: decidedAt };
  try {
    // Once the window has opened, or wagers are switched off, nothing is bought any more; what an earlier run bought is found.
    const open = now.getTime() < windowOpensAt(day);
    const fill = open && placeWagers ? await venue.place(order) : await venue.find(_id);
    const skippedBecause = open ? 'new wagers are switched off' : 'not placed before the window opened';
    if (fill === null) return await wagers.move(_id, 'DECIDED', 'SKIPPED', { skippedBecause });
    const { contracts: bought, costMicros, at: placedAt } = fill;
    await wagers.move(_id, 'DECIDED', 'PLACED', { contracts: bought, costMicros, placedAt });
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
