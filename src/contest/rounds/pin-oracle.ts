import { DAY_MS, formatDay, toDay } from '../../forecast/day.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import type { DayDoc } from '../../record/day-doc.ts';
import type { ForecastDoc } from '../../record/forecast-doc.ts';
import { computeStrikeProbability } from '../../record/market/strike-probability.ts';
import type { ContestDeps } from '../deps.ts';
import { toContestBps } from '../scoring/score.ts';
import type { RoundDoc } from './round.ts';
import { isOverdue, reachOverdue, voidRound } from './void-round.ts';

export const MAX_FORECAST_AGE_DAYS = 3;

/** From the newest forecast committed before the opening, whenever it runs. @throws OracleError STEP_WAITING until it is final */
export async function pinOracle(deps: ContestDeps, round: RoundDoc): Promise<string> {
  const opened = await deps.time.requireReached(round.opensAt.getTime(), `The opening of round ${round._id}`);
  const day = await findSettledForecast(deps, round);
  if (day === 'never settled') return voidRound(deps, round, opened, 'the record of the days before its opening was never completed');
  if (day === null) {
    return voidRound(
      deps,
      round,
      opened,
      `the oracle had committed to no forecast in the ${MAX_FORECAST_AGE_DAYS} days before its opening`,
    );
  }
  const model = await deps.models.get(day.modelVersion!);
  const markets = round.markets.map((market) => {
    const { strikeUsd } = market;
    const probability = computeStrikeProbability({ day, model, strikeUsd, expiresAt: round.resolvesAt, at: day.signalAt });
    return { ...market, oracleBps: toContestBps(probability) };
  });
  const pinned = { day: day.day, forecastAt: day.signalAt, modelVersion: day.modelVersion!, pinnedAt: deps.now() };
  await deps.rounds.transition(round._id, { from: 'OPEN', to: 'RUNNING' }, { markets, pinned }, opened);
  return 'pinned';
}

async function findSettledForecast(deps: ContestDeps, round: RoundDoc): Promise<DayDoc | null | 'never settled'> {
  try {
    return await findNewestCommittedDay(deps, round);
  } catch (error) {
    if (!isOracleError(error, 'STEP_WAITING') || !isOverdue(round, deps.now())) throw error;
    await reachOverdue(round, deps.time);
    return 'never settled';
  }
}

async function findNewestCommittedDay({ record }: ContestDeps, { opensAt }: RoundDoc): Promise<DayDoc | null> {
  const last = toDay(opensAt.getTime() - DAY_MS);
  for (let day = last; day > last - MAX_FORECAST_AGE_DAYS; day--) {
    const found = await record.findDay(day);
    if (found === null && (await mayYetBeWritten(day))) throw notSettledError(day);
    if (found !== null && isCommitted(found, await record.listByDay(day))) return found;
  }
  return null;

  /** Days enter the record in order; those before its first never do. */
  async function mayYetBeWritten(day: number): Promise<boolean> {
    const genesis = await record.findGenesisDay();
    return genesis === null || day >= genesis;
  }
}

/** @throws OracleError STEP_WAITING while that is unknown */
function isCommitted(day: DayDoc, forecasts: ForecastDoc[]): boolean {
  if (day.missedBecause !== null) return false;
  if (forecasts.length === 0 || forecasts.some(({ state }) => state === 'DRAFT')) throw notSettledError(day.day);
  return forecasts.every(({ state }) => state !== 'VOID');
}

function notSettledError(day: number): OracleError {
  return new OracleError('STEP_WAITING', `The forecast of ${formatDay(day)} is not settled in the record yet`);
}
