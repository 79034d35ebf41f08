import { isOracleError, OracleError } from '../errors.ts';
import { DAY_MS, dayOf, formatDay } from '../forecast/day.ts';
import type { DayDoc } from '../record/day-record.ts';
import type { ForecastDoc } from '../record/forecast.ts';
import { strikeProbability } from '../record/strike-probability.ts';
import type { ContestParts } from './parts.ts';
import type { RoundDoc } from './round.ts';
import { contestBps } from './score.ts';
import { isOverdue, reachOverdue, voidRound } from './void-round.ts';

/** How many days before the opening the oracle's newest forecast may have been made. */
export const MAX_FORECAST_AGE_DAYS = 3;

/**
 * Pins the oracle's probabilities for a round that has opened: from the newest forecast that stood on chain before the opening. What it
 * is does not depend on when this runs.
 * @throws OracleError STEP_WAITING while the days before the opening are not settled in the record, and as `TrustedTime.reach`.
 */
export async function pinOracle(parts: ContestParts, round: RoundDoc): Promise<string> {
  const opened = await parts.time.reach(round.opensAt.getTime(), `The opening of round ${round._id}`);
  const day = await settledForecast(parts, round);
  if (day === 'never settled') return voidRound(parts, round, opened, 'the record of the days before its opening was never completed');
  if (day === null) {
    return voidRound(
      parts,
      round,
      opened,
      `the oracle had committed to no forecast in the ${MAX_FORECAST_AGE_DAYS} days before its opening`,
    );
  }
  const model = await parts.models.get(day.modelVersion!);
  const markets = round.markets.map((market) => {
    const { strikeUsd } = market;
    const probability = strikeProbability({ day, model, strikeUsd, expiresAt: round.resolvesAt, at: day.signalAt });
    return { ...market, oracleBps: contestBps(probability) };
  });
  const pinned = { day: day.day, forecastAt: day.signalAt, modelVersion: day.modelVersion!, pinnedAt: parts.now() };
  await parts.rounds.move(round._id, { from: 'OPEN', to: 'RUNNING' }, { markets, pinned }, opened);
  return 'pinned';
}

async function settledForecast(parts: ContestParts, round: RoundDoc): Promise<DayDoc | null | 'never settled'> {
  try {
    return await newestForecast(parts, round);
  } catch (error) {
    if (!isOracleError(error, 'STEP_WAITING') || !isOverdue(round, parts.now())) throw error;
    await reachOverdue(round, parts.time);
    return 'never settled';
  }
}

async function newestForecast({ record }: ContestParts, { opensAt }: RoundDoc): Promise<DayDoc | null> {
  const last = dayOf(opensAt.getTime() - DAY_MS);
  for (let day = last; day > last - MAX_FORECAST_AGE_DAYS; day--) {
    const found = await record.day(day);
    if (found === null && (await mayYetBeWritten(day))) throw waiting(day);
    if (found !== null && isCommitted(found, await record.forecastsOf(day))) return found;
  }
  return null;

  /** Days enter the record in their order, those before its first never. */
  async function mayYetBeWritten(day: number): Promise<boolean> {
    const genesis = await record.genesis();
    return genesis === null || day >= genesis;
  }
}

/** @throws OracleError STEP_WAITING while that is not known. */
function isCommitted(day: DayDoc, forecasts: ForecastDoc[]): boolean {
  if (day.missedBecause !== null) return false;
  if (forecasts.length === 0 || forecasts.some(({ state }) => state === 'DRAFT')) throw waiting(day.day);
  return forecasts.every(({ state }) => state !== 'VOID');
}

function waiting(day: number): OracleError {
  return new OracleError('STEP_WAITING', `The forecast of ${formatDay(day)} is not settled in the record yet`);
}
