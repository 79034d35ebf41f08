import { DRY_RUN } from '../../wager/polymarket/dry-run-desk.ts';
import { EXCHANGE } from '../../wager/polymarket/exchange-desk.ts';
import type { WagerDoc } from '../../wager/wagers.ts';
import type { Caller } from '../caller.ts';
import type { DayDoc } from '../day-record.ts';
import { fromCents } from '../forecast.ts';
import { type Freshness, freshnessOf } from '../oracle/freshness.ts';
import { type Missing, orMissing } from '../oracle/missing.ts';
import { type MadeForecast, newestOf, requireReadable } from '../oracle/newest.ts';
import type { OracleParts } from '../oracle/parts.ts';
import { strikeProbability } from '../strike-probability.ts';
import { type Bet, betOfWager, isCall, type TradeIntent, tradeIntent } from './intent.ts';
import { isOurs, marketOfStrike, type TradableStrike, tradableStrike } from './market.ts';
import { sizingOf } from './sizing.ts';

/** The intent of the newest forecast, and whether it can still be acted on. */
export interface NextIntent extends TradeIntent, Freshness {
  actionable: boolean;
  /** Why not; null when it can. */
  notActionableBecause: string | null;
}

/**
 * The trade intent of the newest forecast of a horizon; null when that is HOLD.
 * @throws OracleError STEP_WAITING before the first forecast, TIER_REQUIRED
 */
export async function nextIntent(parts: OracleParts, horizonDays: number, caller: Caller): Promise<NextIntent | null> {
  const options = parts.viewFor(caller);
  const newest = await parts.record.latest(horizonDays);
  const forecast = newestOf(newest === null ? [] : [newest]);
  requireReadable(forecast, options);
  if (!isCall(forecast)) return null;
  const [wager, lastDay, { lastDay: lastCovered }] = await Promise.all([
    parts.wagers.wager(forecast.day),
    parts.record.lastDay(),
    parts.market.coverage(),
  ]);
  const bet = await betOf(parts, forecast, wager);
  const intent = tradeIntent({ forecast, wager, bet }, { saltSecret: options.saltSecret, publicUrl: parts.publicUrl });
  const now = parts.now();
  const notActionableBecause = reasonAgainst(intent, forecast, now);
  return {
    ...intent,
    actionable: notActionableBecause === null,
    notActionableBecause,
    ...freshnessOf(forecast, { lastDay: lastDay ?? forecast.day, lastCovered }, now),
  };
}

function reasonAgainst({ sizing, marketReason }: TradeIntent, { windowOpensAt, state }: MadeForecast, now: Date): string | null {
  if (state === 'VOID') return 'The forecast is void: it was not committed before its window opened.';
  if (now >= windowOpensAt) return 'The window has opened: the forecast was made for an entry before it.';
  if (sizing === null) return marketReason;
  return sizing.side === null ? sizing.note : null;
}

/** The day's own wager decides; a real market, where one is listed and may still be entered, goes before quotes of our own making. */
async function betOf(parts: OracleParts, forecast: MadeForecast, wager: WagerDoc | null): Promise<Bet> {
  const stored = betOfWager(wager);
  const real = wager?.market !== null && wager?.market !== undefined && !isOurs(wager.venue);
  if (real || parts.now() >= forecast.windowOpensAt) return stored;
  const missing: Missing[] = [];
  const listed = await orMissing(missing, 'market', () => listedBet(parts, forecast));
  if (listed !== null) return listed;
  return 'reason' in stored && missing.length > 0 ? { reason: `${stored.reason} ${missing[0].reason}.` } : stored;
}

async function listedBet(parts: OracleParts, forecast: MadeForecast): Promise<Bet | null> {
  const { market, record, models, wagers } = parts;
  const now = parts.now();
  const strike = tradableStrike(await market.strikes(now.getTime()), fromCents(forecast.values.btcPriceCents), now);
  if (strike === null) return null;
  const day = (await record.day(forecast.day)) as DayDoc;
  const model = await models.get(forecast.modelVersion);
  const { weight } = await wagers.headToHead([EXCHANGE, DRY_RUN]);
  const pModel = strikeProbability({ day, model, ...questionOf(strike), at: day.signalAt });
  const { bid, ask } = strike;
  const sizing = sizingOf({ pModel, marketPrice: (bid + ask) / 2, weight, bid, ask, fee: null, sizedAt: now });
  return { market: marketOfStrike(strike), sizing, limitCost: null };
}

function questionOf({ snapshot: { strikeUsd, expiresAtMs } }: TradableStrike): { strikeUsd: number; expiresAt: Date } {
  return { strikeUsd, expiresAt: new Date(expiresAtMs) };
}
