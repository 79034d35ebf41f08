import type { Caller } from '../auth/caller.ts';
import type { Context } from '../context.ts';
import { formatDay } from '../forecast/day.ts';
import { formatHorizonName } from '../forecast/model.ts';
import { type StrikeSnapshot, selectNearTheMoney, selectWeeklyStrikes } from '../market/feed.ts';
import { roundTo } from '../platform/validation.ts';
import { DRY_RUN_VENUE, EXCHANGE_VENUE } from '../wager/polymarket.ts';
import { computeContractCosts, KELLY_SHARE, MAX_STAKE_FRACTION, sizeWager } from '../wager/sizing.ts';
import { type ExchangeListing, MICROS } from '../wager/venue.ts';
import { compareSettledWagers, computeProfitMicros, MIN_SETTLED_MARKETS, type WagerDoc } from '../wager/wagers.ts';
import { type ForecastDoc, fromCents } from './forecast-doc.ts';
import { isOwnVenue } from './forecasts.ts';
import { computeStrikeProbability } from './market.ts';
import { buildCommitmentProof } from './prediction.ts';
import {
  computeFreshness,
  isMadeForecast,
  loadOrNoteMissing,
  type MadeForecast,
  type MissingPart,
  requireMade,
  requireReadable,
} from './public-signal.ts';
import { toCommittedProbabilities, toPublicStatus, viewForecast } from './visibility.ts';

export type TradeIntent = ReturnType<typeof buildTradeIntent>;

type BetDecision = { market: IntentMarket; sizing: IntentSizing; limitCost: number | null } | { reason: string };

interface TradeIntentInput {
  forecast: MadeForecast & { values: { signal: 'BUY' | 'SELL' } };
  wager: WagerDoc | null;
  bet: BetDecision;
}

function isTradableForecast(doc: MadeForecast): doc is TradeIntentInput['forecast'] {
  return doc.values.signal !== 'HOLD';
}

export function buildBetFromWager(wager: WagerDoc | null): BetDecision {
  if (wager === null) return { reason: 'There is no wager of this day: it is sized at 21:42 UTC, unless wagers are switched off.' };
  const market = toWagerMarket(wager);
  const sizing = computeWagerSizing(wager);
  if (market === null || sizing === null) return { reason: `No market: ${wager.skippedBecause ?? 'none was looked at'}.` };
  return { market, sizing, limitCost: wager.limitCostMicros > 0 ? wager.limitCostMicros / MICROS : null };
}

function buildTradeIntent({ forecast, wager, bet }: TradeIntentInput, options: { saltSecret: string; publicUrl: string }) {
  const { direction, signal: side, btcPriceCents } = forecast.values;
  const { commitment, salt, attestationUid, txHash, verifyUrl } = buildCommitmentProof(forecast, options);
  const { market, sizing } = 'reason' in bet ? { market: null, sizing: null } : bet;
  return {
    predictionId: forecast._id,
    date: formatDay(forecast.day),
    horizon: formatHorizonName(forecast.horizonDays),
    status: toPublicStatus(forecast),
    timestamp: forecast.signalAt.toISOString(),
    direction,
    side,
    contractSide: sizing?.side ?? null,
    ...toCommittedProbabilities(forecast.values),
    btcPrice: fromCents(btcPriceCents),
    regime: forecast.regime,
    modelVersion: forecast.modelVersion,
    market,
    sizing,
    marketReason: 'reason' in bet ? bet.reason : null,
    entry: { ...buildEntryLimits(bet), validUntil: forecast.windowOpensAt.toISOString() },
    references: { commitment, salt, attestationUid, txHash, verifyUrl },
    wager: wager && viewWager(wager),
    replayed: forecast.replayed,
  };
}

/** Costs of a contract that pays 1: the highest to enter at, with the fee if known, and the side's believed probability. */
function buildEntryLimits(bet: BetDecision) {
  const nothing = { maxCost: null, breakEvenCost: null, tokenId: null };
  if ('reason' in bet) return { ...nothing, tickSize: null, minOrderSize: null };
  const { tickSize, minOrderSize, yesTokenId, noTokenId } = bet.market;
  const { side, pBelieved, yesCost, noCost } = bet.sizing;
  if (side === null) return { ...nothing, tickSize, minOrderSize };
  const yes = side === 'YES';
  return {
    maxCost: bet.limitCost ?? (yes ? yesCost : noCost),
    breakEvenCost: roundContractPrice(yes ? pBelieved : 1 - pBelieved),
    tokenId: yes ? yesTokenId : noTokenId,
    tickSize,
    minOrderSize,
  };
}

const MICROS_DECIMALS = 6;

/** Exact decimal of an amount in micros without trailing zeros: -1250000 is `-1.25`. */
export function formatMicros(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(MICROS_DECIMALS + 1, '0');
  const fraction = digits.slice(-MICROS_DECIMALS).replace(/0+$/, '');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -MICROS_DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Ticks and fees are whole micros, so that rounding removes floating-point noise only. */
export function roundContractPrice(price: number): number {
  return roundTo(price, MICROS_DECIMALS);
}

/** `wager` is the market that the service sized its own wager of the day on, `listed` the weekly strike nearest to the money now. */
type IntentMarket = NonNullable<ReturnType<typeof toWagerMarket>> | ReturnType<typeof toListedMarket>;

function toWagerMarket({ venue, market, listing, quote }: WagerDoc) {
  if (market === null || quote === null) return null;
  const { id: marketId, question, strikeUsd: strike, expiresAt } = market;
  const { conditionId = null, yesTokenId = null, noTokenId = null, url = null, tickSize = null, minOrderSize = null } = listing ?? {};
  return {
    basis: 'wager' as const,
    venue,
    marketId,
    question,
    strike,
    ...{ conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize },
    expiresAt: expiresAt.toISOString(),
    bid: quote.bid,
    ask: quote.ask,
    quotedAt: quote.at.toISOString(),
    madeByService: isOwnVenue(venue),
  };
}

type TradableStrike = NonNullable<ReturnType<typeof findTradableStrike>>;

/** The strike nearest to a price in the next weekly ladder, among those with a two-sided quote; null without one. */
function findTradableStrike(snapshots: readonly StrikeSnapshot[], priceUsd: number, now: Date) {
  const weekly = selectWeeklyStrikes(snapshots, now.getTime());
  const priced = weekly.filter(({ bid, ask, conditionId }) => bid !== null && ask !== null && ask > bid && conditionId !== null);
  const [snapshot] = selectNearTheMoney(priced, priceUsd, 1);
  if (snapshot === undefined) return null;
  return { snapshot, listing: toExchangeListing(snapshot) as ExchangeListing, bid: snapshot.bid as number, ask: snapshot.ask as number };
}

function toListedMarket({ snapshot, listing, bid, ask }: TradableStrike) {
  const { venue, marketId, question, strikeUsd: strike, expiresAtMs, receivedAtMs } = snapshot;
  return {
    basis: 'listed' as const,
    venue,
    marketId,
    question,
    strike,
    ...listing,
    expiresAt: new Date(expiresAtMs).toISOString(),
    bid,
    ask,
    quotedAt: new Date(receivedAtMs).toISOString(),
    madeByService: false,
  };
}

/** Polymarket's identifiers of a strike; null for other venues. */
export function toExchangeListing(snapshot: StrikeSnapshot): ExchangeListing | null {
  const { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize } = snapshot;
  return conditionId === null ? null : { conditionId, yesTokenId, noTokenId, url, tickSize, minOrderSize };
}

interface SizingInputs {
  pModel: number;
  marketPrice: number;
  weight: number;
  bid: number;
  ask: number;
  /** Per contract, as a fraction of its payout; null when the exchange's fee is unknown, and costs exclude it. */
  fee: number | null;
  sizedAt: Date;
}

/** A Kelly stake with all its inputs, rounded as served, so that a client recomputes the same stake. */
type IntentSizing = ReturnType<typeof computeIntentSizing>;

const SHARE_DIGITS = 8;

export function computeIntentSizing({ sizedAt, ...inputs }: SizingInputs) {
  const { pModel, marketPrice, weight, bid, ask, fee } = inputs;
  const costs = computeContractCosts({ bid, ask, fee: fee ?? 0 });
  const sizing = sizeWager({ pModel, qMarket: marketPrice, weight, ...costs });
  const { pBelieved, side, fullKelly, fraction } = sizing;
  const share = (value: number) => roundTo(value, SHARE_DIGITS);
  const note = formatSizingNote(weight, fraction, fee === null);
  return {
    ...inputs,
    marketPrice: roundContractPrice(marketPrice),
    yesCost: roundContractPrice(costs.yesCost),
    noCost: roundContractPrice(costs.noCost),
    pBelieved: share(pBelieved),
    side,
    fullKelly: share(fullKelly),
    fraction: share(fraction),
    kellyShare: KELLY_SHARE,
    maxFraction: MAX_STAKE_FRACTION,
    sizedAt: sizedAt.toISOString(),
    note,
  };
}

export function computeWagerSizing({ quote, pModel, qMarket: marketPrice, weight, decidedAt: sizedAt }: WagerDoc): IntentSizing | null {
  if (quote === null || pModel === null || marketPrice === null) return null;
  const { bid, ask, fee } = quote;
  return computeIntentSizing({ pModel, marketPrice, weight, bid, ask, fee, sizedAt });
}

function formatSizingNote(weight: number, fraction: number, withoutFee: boolean): string {
  if (weight === 0)
    return `Stake 0: against this market's prices the model has not had the lower log loss on ${MIN_SETTLED_MARKETS} settled markets yet, so it is not believed (weight 0).`;
  if (fraction === 0) return 'Stake 0: neither side has an edge after costs.';
  const stake = `Stake ${(fraction * 100).toFixed(2)} % of the bankroll: ${KELLY_SHARE * 100} % of Kelly, at most ${MAX_STAKE_FRACTION * 100} %.`;
  return withoutFee ? `${stake} The exchange's fee is not in the costs: with it the stake is smaller.` : stake;
}

/** The service's own wager of a day. Amounts in micros of `asset`, and as exact decimals of it. */
export function viewWager(wager: WagerDoc) {
  const { venue, asset, state, side, basis = null, contracts, costMicros, payoutMicros, winner, skippedBecause } = wager;
  const pnlMicros = computeProfitMicros(wager);
  return {
    venue,
    asset,
    state,
    side,
    basis,
    contracts,
    // Mean cost of a contract, fee included.
    price: costMicros > 0 ? roundContractPrice(costMicros / contracts / MICROS) : null,
    stakeMicros: costMicros,
    stake: formatMicros(costMicros),
    payoutMicros,
    payout: payoutMicros === null ? null : formatMicros(payoutMicros),
    pnlMicros,
    pnl: pnlMicros === null ? null : formatMicros(pnlMicros),
    winner,
    placedAt: wager.placedAt?.toISOString() ?? null,
    settledAt: wager.settledAt?.toISOString() ?? null,
    skippedBecause,
  };
}

/** Of the newest forecast of a horizon; null for HOLD. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getNextIntent(context: Context, horizonDays: number, caller: Caller) {
  const options = context.viewFor(caller);
  const { known } = context.record;
  const forecast = requireMade(known.findLatest(horizonDays));
  requireReadable(forecast, options);
  if (!isTradableForecast(forecast)) return null;
  const { lastDay: lastCovered } = await context.market.coverage();
  const wager = known.findWager(forecast.day);
  const bet = await chooseBet(context, forecast, wager);
  const intent = buildTradeIntent({ forecast, wager, bet }, { saltSecret: options.saltSecret, publicUrl: context.publicUrl });
  const now = context.now();
  const notActionableBecause = explainNotActionable(intent, forecast, now);
  return {
    ...intent,
    actionable: notActionableBecause === null,
    notActionableBecause,
    ...computeFreshness(forecast, { known, lastCovered }, now),
  };
}

function explainNotActionable({ sizing, marketReason }: TradeIntent, { windowOpensAt, state }: MadeForecast, now: Date): string | null {
  if (state === 'VOID') return 'The forecast is void: it was not committed before its window opened.';
  if (now >= windowOpensAt) return 'The window has opened: the forecast was made for an entry before it.';
  if (sizing === null) return marketReason;
  return sizing.side === null ? sizing.note : null;
}

/** The day's own wager takes precedence, except that a listed real market replaces quotes of the paper venue while entry is open. */
async function chooseBet(context: Context, forecast: MadeForecast, wager: WagerDoc | null): Promise<BetDecision> {
  const stored = buildBetFromWager(wager);
  const real = wager !== null && wager.market !== null && !isOwnVenue(wager.venue);
  if (real || context.now() >= forecast.windowOpensAt) return stored;
  const missing: MissingPart[] = [];
  const listed = await loadOrNoteMissing(missing, 'market', () => buildListedBet(context, forecast));
  if (listed !== null) return listed;
  return 'reason' in stored && missing.length > 0 ? { reason: `${stored.reason} ${missing[0].reason}.` } : stored;
}

async function buildListedBet(context: Context, forecast: MadeForecast): Promise<BetDecision | null> {
  const { market, record, models } = context;
  const now = context.now();
  const strike = findTradableStrike(await market.strikes(now.getTime()), fromCents(forecast.values.btcPriceCents), now);
  if (strike === null) return null;
  const day = record.known.findDay(forecast.day)!;
  const model = await models.get(forecast.modelVersion);
  const { weight } = compareSettledWagers(record.known.listWagers(), [EXCHANGE_VENUE, DRY_RUN_VENUE]);
  const { bid, ask, snapshot } = strike;
  const expiresAt = new Date(snapshot.expiresAtMs);
  const pModel = computeStrikeProbability({ day, model, strikeUsd: snapshot.strikeUsd, expiresAt, at: day.signalAt });
  const sizing = computeIntentSizing({ pModel, marketPrice: (bid + ask) / 2, weight, bid, ask, fee: null, sizedAt: now });
  return { market: toListedMarket(strike), sizing, limitCost: null };
}

/** The last `limit` intents of a horizon, newest first; HOLD has none. @throws OracleError TIER_REQUIRED */
export function listIntentHistory(context: Context, { horizonDays, limit }: { horizonDays: number; limit: number }, caller: Caller) {
  const { known } = context.record;
  const isCall = ({ values }: ForecastDoc) => values !== null && values.signal !== 'HOLD';
  const calls = known.listByHorizon(horizonDays).filter(isCall).slice(-limit).toReversed();
  const options = context.viewFor(caller);
  return calls
    .filter(isMadeForecast)
    .filter(isTradableForecast)
    .map((forecast) => {
      requireReadable(forecast, options);
      const wager = known.findWager(forecast.day);
      const intent = buildTradeIntent({ forecast, wager, bet: buildBetFromWager(wager) }, { ...options, publicUrl: context.publicUrl });
      const { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt } = viewForecast(forecast, options);
      const outcome = { result, correct, actualDirection, returnBps, btcAtSignal, btcAtResolution, resolvedAt };
      // Null until the resolution is on chain, and for a void forecast.
      return { ...intent, outcome: forecast.reveal && outcome };
    });
}
