import { type HorizonDays, horizonName } from '../../forecast/model.ts';
import { accuracyOf } from '../../forecast/scoring.ts';
import type { ForecastDoc } from '../forecast.ts';
import { brierOf } from '../scorecard.ts';
import type { WeeklyHorizon } from './weekly-report.ts';

/**
 * One horizon's week.
 * @param made forecasts of the days of the week, as of its end
 * @param over forecasts of any day whose outcome came on chain within the week
 * @param open how many are open at its end
 */
export function weeklyHorizon(
  horizonDays: HorizonDays,
  { made, over, open }: { made: readonly ForecastDoc[]; over: readonly ForecastDoc[]; open: number },
): WeeklyHorizon {
  const scored = over.filter(({ state }) => state === 'WIN' || state === 'LOSS');
  const wins = scored.filter(({ state }) => state === 'WIN').length;
  return {
    horizon: horizonName(horizonDays),
    made: made.filter(({ missed }) => !missed).length,
    missed: made.filter(({ missed }) => missed).length,
    void: made.filter(({ state, missed }) => state === 'VOID' && !missed).length,
    over: over.length,
    wins,
    losses: scored.length - wins,
    holds: over.length - scored.length,
    hitRate: scored.length === 0 ? null : wins / scored.length,
    alwaysUpRate: accuracyOf(scored.map(({ resolution }) => (resolution!.actualDirection === 'UP' ? 'WIN' : 'LOSS'))),
    meanReturnBps: mean(over.map(({ resolution }) => resolution!.returnBps)),
    meanCalledReturnBps: mean(scored.map(calledReturnBps)),
    brier: brierOf(over),
    openAtEnd: open,
  };
}

/** The return of having followed the call, before costs. */
function calledReturnBps({ values, resolution }: ForecastDoc): number {
  return values!.direction === 'UP' ? resolution!.returnBps : -resolution!.returnBps;
}

/** One digit: returns are whole basis points. */
function mean(values: number[]): number | null {
  if (values.length === 0) return null;
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;
}
