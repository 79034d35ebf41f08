import type { WagerDoc } from '../../wager/wagers.ts';
import { forecastAsOf } from '../as-of.ts';
import { type ForecastDoc, lastDayTold } from '../forecast.ts';
import type { WeeklyWagers } from './weekly-report.ts';

/**
 * Stakes that could be told at `asOf` and not yet at `before`, by venue: settled, and of days up to which every forecast is told. So
 * each stake is in the report of one week.
 */
export function wagersToldBetween(
  stakes: readonly WagerDoc[],
  forecasts: readonly ForecastDoc[],
  { before, asOf }: { before: Date; asOf: Date },
): WeeklyWagers[] {
  const earlier = new Set(toldAt(stakes, forecasts, before));
  const news = toldAt(stakes, forecasts, asOf).filter((stake) => !earlier.has(stake));
  return [...Map.groupBy(news, ({ venue, asset }) => `${venue} ${asset}`).values()].map(sumOf);
}

function toldAt(stakes: readonly WagerDoc[], forecasts: readonly ForecastDoc[], at: Date): WagerDoc[] {
  const through = lastDayTold(
    forecasts.map((doc) => forecastAsOf(doc, at)),
    at,
  );
  return stakes.filter(({ day, settledAt }) => day <= through && settledAt !== null && settledAt <= at);
}

function sumOf(stakes: WagerDoc[]): WeeklyWagers {
  const [{ venue, asset }] = stakes;
  const wins = stakes.filter(({ state }) => state === 'WIN').length;
  const stakedMicros = stakes.reduce((sum, { costMicros }) => sum + costMicros, 0);
  const payoutMicros = stakes.reduce((sum, stake) => sum + (stake.payoutMicros ?? 0), 0);
  return {
    venue,
    asset,
    quotesAreOurs: venue === 'paper',
    settled: stakes.length,
    wins,
    losses: stakes.length - wins,
    stakedMicros,
    payoutMicros,
    pnlMicros: payoutMicros - stakedMicros,
  };
}
