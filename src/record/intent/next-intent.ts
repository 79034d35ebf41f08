import type { Caller } from '../../auth/caller.ts';
import { DRY_RUN_VENUE } from '../../wager/polymarket/execution/dry-run-executor.ts';
import { EXCHANGE_VENUE } from '../../wager/polymarket/execution/exchange-executor.ts';
import type { WagerDoc } from '../../wager/wager-book.ts';
import type { DayDoc } from '../day-doc.ts';
import { fromCents } from '../forecast-doc.ts';
import { computeStrikeProbability } from '../market/strike-probability.ts';
import type { OracleDeps } from '../oracle/deps.ts';
import { computeFreshness } from '../oracle/freshness.ts';
import { type MadeForecast, requireMade, requireReadable } from '../oracle/made-forecast.ts';
import { loadOrNoteMissing, type MissingPart } from '../oracle/missing-parts.ts';
import { isOwnVenue } from '../own-venue.ts';
import { findTradableStrike, toListedMarket } from './market.ts';
import { computeIntentSizing } from './sizing.ts';
import { type BetDecision, buildBetFromWager, buildTradeIntent, isTradableForecast, type TradeIntent } from './trade-intent.ts';

/** Of the newest forecast of a horizon; null for HOLD. @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED */
export async function getNextIntent(deps: OracleDeps, horizonDays: number, caller: Caller) {
  const options = deps.viewFor(caller);
  const newest = await deps.record.findLatest(horizonDays);
  const forecast = requireMade(newest);
  requireReadable(forecast, options);
  if (!isTradableForecast(forecast)) return null;
  const [wager, lastDay, { lastDay: lastCovered }] = await Promise.all([
    deps.wagers.findByDay(forecast.day),
    deps.record.findLastDay(),
    deps.market.coverage(),
  ]);
  const bet = await chooseBet(deps, forecast, wager);
  const intent = buildTradeIntent({ forecast, wager, bet }, { saltSecret: options.saltSecret, publicUrl: deps.publicUrl });
  const now = deps.now();
  const notActionableBecause = explainNotActionable(intent, forecast, now);
  return {
    ...intent,
    actionable: notActionableBecause === null,
    notActionableBecause,
    ...computeFreshness(forecast, { lastDay: lastDay ?? forecast.day, lastCovered }, now),
  };
}

function explainNotActionable({ sizing, marketReason }: TradeIntent, { windowOpensAt, state }: MadeForecast, now: Date): string | null {
  if (state === 'VOID') return 'The forecast is void: it was not committed before its window opened.';
  if (now >= windowOpensAt) return 'The window has opened: the forecast was made for an entry before it.';
  if (sizing === null) return marketReason;
  return sizing.side === null ? sizing.note : null;
}

/** The day's own wager takes precedence, except that a listed real market replaces quotes of the paper venue while entry is open. */
async function chooseBet(deps: OracleDeps, forecast: MadeForecast, wager: WagerDoc | null): Promise<BetDecision> {
  const stored = buildBetFromWager(wager);
  const real = wager !== null && wager.market !== null && !isOwnVenue(wager.venue);
  if (real || deps.now() >= forecast.windowOpensAt) return stored;
  const missing: MissingPart[] = [];
  const listed = await loadOrNoteMissing(missing, 'market', () => buildListedBet(deps, forecast));
  if (listed !== null) return listed;
  return 'reason' in stored && missing.length > 0 ? { reason: `${stored.reason} ${missing[0].reason}.` } : stored;
}

async function buildListedBet(deps: OracleDeps, forecast: MadeForecast): Promise<BetDecision | null> {
  const { market, record, models, wagers } = deps;
  const now = deps.now();
  const strike = findTradableStrike(await market.strikes(now.getTime()), fromCents(forecast.values.btcPriceCents), now);
  if (strike === null) return null;
  const day = (await record.findDay(forecast.day)) as DayDoc;
  const model = await models.get(forecast.modelVersion);
  const { weight } = await wagers.compareWithMarket([EXCHANGE_VENUE, DRY_RUN_VENUE]);
  const { bid, ask, snapshot } = strike;
  const expiresAt = new Date(snapshot.expiresAtMs);
  const pModel = computeStrikeProbability({ day, model, strikeUsd: snapshot.strikeUsd, expiresAt, at: day.signalAt });
  const sizing = computeIntentSizing({ pModel, marketPrice: (bid + ask) / 2, weight, bid, ask, fee: null, sizedAt: now });
  return { market: toListedMarket(strike), sizing, limitCost: null };
}
