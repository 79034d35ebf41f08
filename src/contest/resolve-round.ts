import { isOracleError, OracleError } from '../errors.ts';
import type { DailyClose } from '../market/daily-close.ts';
import { PUBLIC_CALLER } from '../record/caller.ts';
import { toCents } from '../record/forecast.ts';
import { mayRead } from '../record/views.ts';
import type { ContestParts } from './parts.ts';
import type { RoundDoc } from './round.ts';
import { isOverdue, reachOverdue, voidRound } from './void-round.ts';
import { decidingDay } from './week.ts';
import { withCrowd } from './with-crowd.ts';

/**
 * Decides a round by the agreed close of its last day, once everybody may read the forecasts that its pinned probabilities come from:
 * with the decision those become public. A round whose close is never agreed on is VOID.
 * @throws OracleError PRICE_UNAVAILABLE, STEP_WAITING, and as `TrustedTime.reach`
 */
export async function resolveRound(parts: ContestParts, round: RoundDoc): Promise<string | null> {
  const now = parts.now();
  if (now < round.resolvesAt) return null;
  const over = await parts.time.reach(round.resolvesAt.getTime(), `The end of round ${round._id}`);
  const close = await agreedClose(parts, round, now);
  if (close === null) return voidRound(parts, round, over, 'no close was agreed on');
  await requireRevealed(parts, round, now);
  const closeCents = toCents(close.priceUsd);
  const markets = (await withCrowd(parts, round.markets)).map((market) => ({ ...market, above: closeCents > toCents(market.strikeUsd) }));
  const { venues, deviationBps } = close;
  const outcome = { closeCents, venues, deviationBps, decidedAt: now };
  await parts.rounds.move(round._id, { from: 'RUNNING', to: 'RESOLVED' }, { markets, outcome }, over);
  return 'resolved';
}

async function agreedClose({ market, time }: ContestParts, round: RoundDoc, now: Date): Promise<DailyClose | null> {
  try {
    return await market.dailyClose(decidingDay(round), now.getTime());
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE') || !isOverdue(round, now)) throw error;
    await reachOverdue(round, time);
    return null;
  }
}

/** @throws OracleError STEP_WAITING */
async function requireRevealed({ record }: ContestParts, { pinned }: RoundDoc, now: Date): Promise<void> {
  const forecasts = await record.forecastsOf(pinned!.day);
  const view = { caller: PUBLIC_CALLER, policy: 'resolution', now } as const;
  if (forecasts.every((forecast) => mayRead(forecast, view))) return;
  throw new OracleError('STEP_WAITING', 'The forecasts that the oracle took part with are not revealed on chain yet');
}
