import type { Day } from '../../forecast/day.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import type { DayDoc } from '../../record/day-doc.ts';
import { fromCents } from '../../record/forecast-doc.ts';
import { computeStrikeProbability } from '../../record/market/strike-probability.ts';
import { computeContractCosts, MAX_OPEN_FRACTION, type Sizing, sizeWager } from '../../wager/sizing.ts';
import { MICROS, type Quote, type StrikeMarket, type Venue, type VenueOrder } from '../../wager/venue.ts';
import { buildUndecidedWager, type WagerDoc } from '../../wager/wager-book.ts';
import type { PipelineDeps, StepContext } from '../deps.ts';
import { getWindowOpensMs, requireStepDue, requireWindowOpened } from '../schedule/step-times.ts';
import { findVenue } from './find-venue.ts';

/** Stored before it is placed under the day's order id, so that neither a rerun nor a crash buys twice. @throws OracleError STEP_WAITING */
export async function runWagerStep(deps: PipelineDeps, day: Day, context: StepContext): Promise<WagerDoc | null> {
  const { wagers, record } = deps;
  const known = await wagers.findByDay(day);
  const stopReason = known === null ? await findStopReason(deps) : null;
  // The operator may enable wagers again until the window opens.
  if (stopReason !== null && !(await hasWindowOpened(day, context))) return null;
  const today = await record.findDay(day);
  if (today === null) return null;
  if (known !== null && known.state !== 'DECIDED') return known;
  const due = await requireStepDue('wager', day, context);
  const decided = known ?? (await wagers.decide(await decideWager(deps, today, { context, stopReason }), due));
  if (decided.state !== 'DECIDED') return decided;
  await placeWager(deps, decided, context);
  return wagers.findByDay(day);
}

async function decideWager(
  deps: PipelineDeps,
  today: DayDoc,
  { context, stopReason }: { context: StepContext; stopReason: string | null },
): Promise<WagerDoc> {
  const { venue } = deps;
  const { now, replayed } = context;
  const undecided: WagerDoc = { ...buildUndecidedWager(venue, today.day, now), replayed };
  const skipped = (reason: string): WagerDoc => ({ ...undecided, skippedBecause: reason });
  if (today.price === null) return skipped('nothing was forecast');
  if (stopReason !== null) return skipped(stopReason);
  if (await hasWindowOpened(today.day, context)) return skipped('the window had opened');
  const market = findNearestToMoney(await venue.listMarkets(now), fromCents(today.price.cents));
  if (market === undefined) return skipped('no market was open');
  try {
    return await buildSizedWager(deps, today, { undecided, market, quote: await venue.getQuote(market, now) });
  } catch (error) {
    if (!isOracleError(error, 'VENUE_REJECTED')) throw error;
    return skipped(`no quote: ${error.message}`);
  }
}

async function buildSizedWager(
  { wagers, venue, forecaster }: PipelineDeps,
  today: DayDoc,
  { undecided, market, quote }: { undecided: WagerDoc; market: StrikeMarket; quote: Quote },
): Promise<WagerDoc> {
  const { weight } = await wagers.compareWithMarket(venue.sameBook);
  const model = await forecaster.getModel(today.modelVersion!);
  const pModel = computeStrikeProbability({
    day: today,
    model,
    strikeUsd: market.strikeUsd,
    expiresAt: market.expiresAt,
    at: undecided.decidedAt,
  });
  const qMarket = (quote.bid + quote.ask) / 2;
  const { yesCost, noCost } = computeContractCosts(quote);
  const sizing = sizeWager({ pModel, qMarket, weight, yesCost, noCost });
  const unitCost = sizing.side === 'NO' ? noCost : yesCost;
  const contracts = sizing.side === null ? 0 : await countAffordableContracts(venue, sizing.fraction, unitCost);
  const placing = contracts > 0;
  const { listing, ...strike } = market;
  const { book, ...prices } = quote;
  return {
    ...undecided,
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
    skippedBecause: placing ? null : formatSkipReason(weight, sizing),
  };
}

function formatSkipReason(weight: number, sizing: Sizing): string {
  if (weight === 0) return 'the model has not beaten the market on enough settled markets to be believed';
  return sizing.side === null ? 'no edge after costs' : 'the stake would be under one contract or over the cap on open stakes';
}

async function countAffordableContracts(venue: Venue, fraction: number, unitCost: number): Promise<number> {
  const { cashMicros, openMicros } = await venue.getAccount();
  const bankroll = cashMicros + openMicros;
  const stake = Math.min(fraction * bankroll, MAX_OPEN_FRACTION * bankroll - openMicros);
  return Math.max(0, Math.floor(stake / (unitCost * MICROS)));
}

async function placeWager(deps: PipelineDeps, wager: WagerDoc, context: StepContext): Promise<void> {
  const { wagers, log } = deps;
  const { _id } = wager;
  const venue = findVenue(deps, wager);
  if (venue === undefined)
    throw new OracleError('STEP_WAITING', `The wager of ${_id} was sized for ${wager.venue}, which is not configured`);
  const skippedBecause = await findReasonNotToPlace(deps, wager, context);
  try {
    // An earlier run may have bought before the crash: its fill is looked up.
    const fill = skippedBecause === null ? await venue.placeOrder(toVenueOrder(wager)) : await venue.findFill(_id);
    if (fill === null) return await wagers.transition(_id, 'DECIDED', 'SKIPPED', { skippedBecause }, context.now);
    const { contracts, costMicros, at: placedAt } = fill;
    await wagers.transition(_id, 'DECIDED', 'PLACED', { contracts, costMicros, placedAt });
  } catch (error) {
    if (!isOracleError(error, 'VENUE_REJECTED')) throw error;
    log.warn({ day: _id, reason: error.message }, 'wager rejected');
    await wagers.transition(_id, 'DECIDED', 'SKIPPED', { skippedBecause: `rejected: ${error.message}` }, context.now);
  }
}

async function findReasonNotToPlace(deps: PipelineDeps, wager: WagerDoc, context: StepContext): Promise<string | null> {
  // After a change of settings, a paper wager is never placed with money, nor the reverse.
  if (wager.venue !== deps.venue.name) return `sized for ${wager.venue}, not placed there`;
  if (await hasWindowOpened(wager.day, context)) return 'not placed before the window opened';
  return findStopReason(deps);
}

/** Whether a day's window has opened, proven either way. Errors as `TrustedTime.requireReached`. */
async function hasWindowOpened(day: Day, context: StepContext): Promise<boolean> {
  if ((await context.time.proveUnreached(getWindowOpensMs(day))) !== null) return false;
  await requireWindowOpened(day, context);
  return true;
}

/** Why no new wager is allowed now, or null; the operator's own reason is not included. */
async function findStopReason({ placeWagers, wagerSwitch }: PipelineDeps): Promise<string | null> {
  if (!placeWagers) return 'new wagers are switched off';
  return (await wagerSwitch.getState()).paused ? 'new wagers are paused' : null;
}

function toVenueOrder({ _id: clientOrderId, market, side, contracts, limitCostMicros, decidedAt: at }: WagerDoc): VenueOrder {
  return { clientOrderId, market: market!, side: side!, contracts, limitCostMicros, at };
}

function findNearestToMoney(markets: StrikeMarket[], spotUsd: number): StrikeMarket | undefined {
  const distance = ({ strikeUsd }: StrikeMarket) => Math.abs(strikeUsd - spotUsd);
  return markets.toSorted((a, b) => distance(a) - distance(b))[0];
}
