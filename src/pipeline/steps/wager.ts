import { isOracleError, OracleError } from '../../errors.ts';
import type { Day } from '../../forecast/day.ts';
import { roundTo } from '../../platform/validation.ts';
import { type DayDoc, fromCents } from '../../record/forecast-doc.ts';
import { computeStrikeProbability } from '../../record/market.ts';
import {
  computeContractCosts,
  countMinimumContracts,
  findFavouredSide,
  MAX_STAKE_FRACTION,
  type Sizing,
  type SizingInput,
  sizeWager,
} from '../../wager/sizing.ts';
import { MICROS, type Quote, type StrikeMarket, type Venue, type VenueOrder } from '../../wager/venue.ts';
import { buildUndecidedWager, compareSettledWagers, type WagerDoc } from '../../wager/wagers.ts';
import { getWindowOpensMs, type PipelineContext, requireStepDue, requireWindowOpened, type StepContext } from '../forecaster.ts';

/** Stored before it is placed under the day's order id, so that neither a rerun nor a crash buys twice. @throws OracleError STEP_WAITING */
export async function runWagerStep(deps: PipelineContext, day: Day, context: StepContext): Promise<WagerDoc | null> {
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
  deps: PipelineContext,
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
  deps: PipelineContext,
  today: DayDoc,
  { undecided, market, quote }: { undecided: WagerDoc; market: StrikeMarket; quote: Quote },
): Promise<WagerDoc> {
  const { record, venue, forecaster } = deps;
  // A replay writes many days at once: the newest settlements decide.
  await record.known.catchUp();
  const { weight } = compareSettledWagers(record.known.listWagers(), venue.sameBook);
  const model = await forecaster.getModel(today.modelVersion!);
  const pModel = computeStrikeProbability({
    day: today,
    model,
    strikeUsd: market.strikeUsd,
    expiresAt: market.expiresAt,
    at: undecided.decidedAt,
  });
  const qMarket = (quote.bid + quote.ask) / 2;
  const inputs: SizingInput = { pModel, qMarket, weight, ...computeContractCosts(quote) };
  const sizing = sizeWager(inputs);
  const stake = await decideStake(deps, { inputs, sizing, quote });
  const { listing, ...strike } = market;
  const { book, orderSizes: _, ...prices } = quote;
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
    ...stake,
  };
}

type Stake = Pick<WagerDoc, 'side' | 'basis' | 'contracts' | 'limitCostMicros' | 'state' | 'skippedBecause'>;

/** Maximum sum of open stakes, as a fraction of the bankroll. */
const MAX_OPEN_FRACTION = 0.1;

/** A quarter of Kelly on the side with an edge, and at least the minimum stake, without an edge on the side that the model favours. */
async function decideStake(
  { venue, minStakeMicros }: PipelineContext,
  { inputs, sizing, quote }: { inputs: SizingInput; sizing: Sizing; quote: Quote },
): Promise<Stake> {
  const basis = sizing.side === null ? 'minimum' : 'edge';
  if (basis === 'minimum' && minStakeMicros === 0) return skipStake(formatNoEdge(inputs.weight));
  const side = sizing.side ?? findFavouredSide(inputs);
  if (side === null) return skipStake('no price: neither side costs less than it pays');
  const unitCostMicros = Math.round((side === 'YES' ? inputs.yesCost : inputs.noCost) * MICROS);
  const { cashMicros, openMicros } = await venue.getAccount();
  const bankroll = cashMicros + openMicros;
  const caps = { stake: MAX_STAKE_FRACTION * bankroll, open: Math.max(0, MAX_OPEN_FRACTION * bankroll - openMicros) };
  const smallest = countMinimumContracts({ minStakeMicros, unitCostMicros }, quote.orderSizes?.[side]);
  const wanted = Math.max(smallest, Math.floor((sizing.fraction * bankroll) / unitCostMicros));
  const contracts = Math.min(wanted, Math.floor(Math.min(caps.stake, caps.open) / unitCostMicros));
  if (contracts < smallest) return skipStake(formatOverCap((smallest * unitCostMicros) / MICROS, caps, venue.asset));
  return { side, basis, contracts, limitCostMicros: unitCostMicros, state: 'DECIDED', skippedBecause: null };
}

function skipStake(skippedBecause: string): Stake {
  return { side: null, contracts: 0, limitCostMicros: 0, state: 'SKIPPED', skippedBecause };
}

function formatNoEdge(weight: number): string {
  return weight === 0 ? 'the model has not beaten the market on enough settled markets to be believed' : 'no edge after costs';
}

function formatOverCap(cost: number, caps: { stake: number; open: number }, asset: string): string {
  const [cap, open] = [caps.stake / MICROS, caps.open / MICROS].map((amount) => roundTo(amount, 2));
  const reached = caps.open < caps.stake ? `the cap on open stakes, of which ${open} is left` : `the cap on one wager of ${cap}`;
  return `the smallest order costs ${roundTo(cost, 2)} ${asset}, above ${reached}`;
}

async function placeWager(deps: PipelineContext, wager: WagerDoc, context: StepContext): Promise<void> {
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

async function findReasonNotToPlace(deps: PipelineContext, wager: WagerDoc, context: StepContext): Promise<string | null> {
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
async function findStopReason({ placeWagers, wagerSwitch }: PipelineContext): Promise<string | null> {
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

export function findVenue({ venue, otherVenues }: PipelineContext, wager: WagerDoc): Venue | undefined {
  return [venue, ...otherVenues].find(({ name }) => name === wager.venue);
}
