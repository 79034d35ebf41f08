import { isOracleError, OracleError } from '../errors.ts';
import type { Day } from '../forecast/day.ts';
import type { DayDoc } from '../record/day-record.ts';
import { fromCents } from '../record/forecast.ts';
import { strikeProbability } from '../record/strike-probability.ts';
import { costsOf, MAX_OPEN_FRACTION, type Sizing, sizeWager } from '../wager/sizing.ts';
import { MICROS, type Order, type Quote, type StrikeMarket, type Venue } from '../wager/venue.ts';
import { undecidedWager, type WagerDoc } from '../wager/wagers.ts';
import type { PipelineParts, StepContext } from './parts.ts';
import { reachDue, reachWindow, windowOpensAt } from './times.ts';
import { venueOf } from './venue-of.ts';

/**
 * The wager of a day: decided once and written down, then placed under the day's own order id, so that neither a second run nor a
 * crash between the two buys twice. A day on which new wagers are off or paused until its window opens is decided then, without a stake.
 * @throws OracleError STEP_WAITING when the wager was decided for a venue that is not configured any more, and as `TrustedTime.reach`.
 */
export async function wagerStep(parts: PipelineParts, day: Day, context: StepContext): Promise<WagerDoc | null> {
  const { wagers, record } = parts;
  const known = await wagers.wager(day);
  const stopped = known === null ? await reasonToStop(parts) : null;
  // Until the window opens, new wagers may be switched on again.
  if (stopped !== null && !(await hasOpened(day, context))) return null;
  const today = await record.day(day);
  if (today === null) return null;
  if (known !== null && known.state !== 'DECIDED') return known;
  const due = await reachDue('wager', day, context);
  const decided = known ?? (await wagers.decide(await decision(parts, today, { context, stopped }), due));
  if (decided.state === 'DECIDED') await place(parts, decided, context);
  return wagers.wager(day);
}

interface Circumstances {
  context: StepContext;
  /** Why no wager went out before the window opened; null where one might have. */
  stopped: string | null;
}

async function decision(parts: PipelineParts, today: DayDoc, { context, stopped }: Circumstances): Promise<WagerDoc> {
  const { venue } = parts;
  const { now, replayed } = context;
  const skipped = (reason: string): WagerDoc => ({ ...undecidedWager(venue, today.day, now), replayed, skippedBecause: reason });
  if (today.price === null) return skipped('nothing was forecast');
  if (stopped !== null) return skipped(stopped);
  if (await hasOpened(today.day, context)) return skipped('the window had opened');
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
  const { weight } = await parts.wagers.headToHead(venue.sameBook);
  const model = await parts.forecaster.model(today.modelVersion!);
  const pModel = strikeProbability({ day: today, model, strikeUsd: market.strikeUsd, expiresAt: market.expiresAt, at: now });
  const qMarket = (quote.bid + quote.ask) / 2;
  const { yesCost, noCost } = costsOf(quote);
  const sizing = sizeWager({ pModel, qMarket, weight, yesCost, noCost });
  const unitCost = sizing.side === 'NO' ? noCost : yesCost;
  const contracts = sizing.side === null ? 0 : await affordable(venue, sizing.fraction, unitCost);
  const placing = contracts > 0;
  const { listing, ...strike } = market;
  const { book, ...prices } = quote;
  return {
    ...undecidedWager(venue, today.day, now),
    replayed,
    market: strike,
    ...(listing === undefined ? {} : { listing }),
    quote: prices,
    ...(book === undefined ? {} : { book }),
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

async function place(parts: PipelineParts, wager: WagerDoc, context: StepContext): Promise<void> {
  const { wagers, log } = parts;
  const { _id } = wager;
  const venue = venueOf(parts, wager);
  if (venue === undefined)
    throw new OracleError('STEP_WAITING', `The wager of ${_id} was sized for ${wager.venue}, which is not configured`);
  const skippedBecause = await reasonNotToPlace(parts, wager, context);
  try {
    // What may not be bought any more may have been bought by an earlier run: that is found.
    const fill = skippedBecause === null ? await venue.place(orderOf(wager)) : await venue.find(_id);
    if (fill === null) return await wagers.move(_id, 'DECIDED', 'SKIPPED', { skippedBecause }, context.now);
    const { contracts, costMicros, at: placedAt } = fill;
    await wagers.move(_id, 'DECIDED', 'PLACED', { contracts, costMicros, placedAt });
  } catch (error) {
    if (!isOracleError(error, 'VENUE_REJECTED')) throw error;
    log.warn({ day: _id, reason: error.message }, 'wager rejected');
    await wagers.move(_id, 'DECIDED', 'SKIPPED', { skippedBecause: `rejected: ${error.message}` }, context.now);
  }
}

/** Why a decided wager may not be placed any more, or null when it may. */
async function reasonNotToPlace(parts: PipelineParts, wager: WagerDoc, context: StepContext): Promise<string | null> {
  // What was sized on paper is never placed with money after a change of the settings, nor the other way round.
  if (wager.venue !== parts.venue.name) return `sized for ${wager.venue}, not placed there`;
  if (await hasOpened(wager.day, context)) return 'not placed before the window opened';
  return reasonToStop(parts);
}

/** Whether a day's window has opened; both answers are for good. Errors as `TrustedTime.reach`. */
async function hasOpened(day: Day, context: StepContext): Promise<boolean> {
  if ((await context.time.precede(windowOpensAt(day))) !== null) return false;
  await reachWindow(day, context);
  return true;
}

/** Why no new wager may go out at this moment, or null. The operator's reason is his own. */
async function reasonToStop({ placeWagers, wagerSwitch }: PipelineParts): Promise<string | null> {
  if (!placeWagers) return 'new wagers are switched off';
  return (await wagerSwitch.state()).paused ? 'new wagers are paused' : null;
}

function orderOf({ _id: clientOrderId, market, side, contracts, limitCostMicros, decidedAt: at }: WagerDoc): Order {
  return { clientOrderId, market: market!, side: side!, contracts, limitCostMicros, at };
}

function nearestTheMoney(markets: StrikeMarket[], spotUsd: number): StrikeMarket | undefined {
  const distance = ({ strikeUsd }: StrikeMarket) => Math.abs(strikeUsd - spotUsd);
  return markets.toSorted((a, b) => distance(a) - distance(b))[0];
}
