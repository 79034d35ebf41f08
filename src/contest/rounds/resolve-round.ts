import { PUBLIC_CALLER } from '../../auth/caller.ts';
import type { DailyClose } from '../../market/prices/daily-close.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { toCents } from '../../record/forecast-doc.ts';
import { mayRead } from '../../record/forecast-visibility.ts';
import type { ContestDeps } from '../deps.ts';
import type { RoundDoc } from './round.ts';
import { addCrowdFigures, isOverdue, reachOverdue, voidRound } from './void-round.ts';
import { getDecidingDay } from './week.ts';

/** By the quorum close, once the pinned forecasts are revealed: it publishes them. @throws OracleError PRICE_UNAVAILABLE, STEP_WAITING */
export async function resolveRound(deps: ContestDeps, round: RoundDoc): Promise<string | null> {
  const now = deps.now();
  if (now < round.resolvesAt) return null;
  const over = await deps.time.requireReached(round.resolvesAt.getTime(), `The end of round ${round._id}`);
  const close = await findAgreedClose(deps, round, now);
  if (close === null) return voidRound(deps, round, over, 'no close was agreed on');
  await requireRevealed(deps, round, now);
  const closeCents = toCents(close.priceUsd);
  const markets = (await addCrowdFigures(deps, round.markets)).map((market) => ({
    ...market,
    above: closeCents > toCents(market.strikeUsd),
  }));
  const { venues, deviationBps } = close;
  const outcome = { closeCents, venues, deviationBps, decidedAt: now };
  await deps.rounds.transition(round._id, { from: 'RUNNING', to: 'RESOLVED' }, { markets, outcome }, over);
  return 'resolved';
}

async function findAgreedClose({ market, time }: ContestDeps, round: RoundDoc, now: Date): Promise<DailyClose | null> {
  try {
    return await market.dailyClose(getDecidingDay(round), now.getTime());
  } catch (error) {
    if (!isOracleError(error, 'PRICE_UNAVAILABLE') || !isOverdue(round, now)) throw error;
    await reachOverdue(round, time);
    return null;
  }
}

async function requireRevealed({ record }: ContestDeps, { pinned }: RoundDoc, now: Date): Promise<void> {
  const forecasts = await record.listByDay(pinned!.day);
  const view = { caller: PUBLIC_CALLER, policy: 'resolution', now } as const;
  if (forecasts.every((forecast) => mayRead(forecast, view))) return;
  throw new OracleError('STEP_WAITING', "The oracle's forecasts of the round are not revealed on chain yet");
}
