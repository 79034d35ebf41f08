import { formatHorizonName, type HorizonDays } from '../../forecast/model.ts';
import { computeAccuracy } from '../../forecast/scoring.ts';
import { roundTo } from '../../platform/round.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { computeForecastBrier } from '../scorecard/scorecard.ts';

/** `made` are the forecasts of the week's days, `over` those of any day with an outcome on chain in it, `open` a count at its end. */
export function summarizeHorizonWeek(
  horizonDays: HorizonDays,
  { made, over, open }: { made: readonly ForecastDoc[]; over: readonly ForecastDoc[]; open: number },
) {
  const scored = over.filter(({ state }) => state === 'WIN' || state === 'LOSS');
  const wins = scored.filter(({ state }) => state === 'WIN').length;
  return {
    horizon: formatHorizonName(horizonDays),
    made: made.filter(({ missed }) => !missed).length,
    missed: made.filter(({ missed }) => missed).length,
    void: made.filter(({ state, missed }) => state === 'VOID' && !missed).length,
    over: over.length,
    wins,
    losses: scored.length - wins,
    holds: over.length - scored.length,
    hitRate: scored.length === 0 ? null : wins / scored.length,
    alwaysUpRate: computeAccuracy(scored.map(({ resolution }) => (resolution!.actualDirection === 'UP' ? 'WIN' : 'LOSS'))),
    meanReturnBps: meanToOneDigit(over.map(({ resolution }) => resolution!.returnBps)),
    meanCalledReturnBps: meanToOneDigit(scored.map(computeCalledReturnBps)),
    brier: computeForecastBrier(over),
    openAtEnd: open,
  };
}

function computeCalledReturnBps({ values, resolution }: ForecastDoc): number {
  return values!.direction === 'UP' ? resolution!.returnBps : -resolution!.returnBps;
}

function meanToOneDigit(values: number[]): number | null {
  return values.length === 0 ? null : roundTo(values.reduce((sum, value) => sum + value, 0) / values.length, 1);
}
