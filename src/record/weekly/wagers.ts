import type { WagerDoc } from '../../wager/wager-book.ts';
import { forecastAsOf } from '../forecast-as-of.ts';
import { computeLastPublicDay, type ForecastDoc } from '../forecast-doc.ts';
import { isOwnVenue } from '../own-venue.ts';

/**
 * Stakes that could be told at `asOf` and not yet at `before`, by venue: settled, and of days up to which every forecast is told. So
 * each stake is in the report of one week.
 */
export function summarizeNewlyPublicWagers(
  stakes: readonly WagerDoc[],
  forecasts: readonly ForecastDoc[],
  { before, asOf }: { before: Date; asOf: Date },
) {
  const earlier = new Set(listPublicWagers(stakes, forecasts, before));
  const newlyPublic = listPublicWagers(stakes, forecasts, asOf).filter((stake) => !earlier.has(stake));
  return [...Map.groupBy(newlyPublic, ({ venue, asset }) => `${venue} ${asset}`).values()].map(sumWagers);
}

function listPublicWagers(stakes: readonly WagerDoc[], forecasts: readonly ForecastDoc[], at: Date): WagerDoc[] {
  const through = computeLastPublicDay(
    forecasts.map((doc) => forecastAsOf(doc, at)),
    at,
  );
  return stakes.filter(({ day, settledAt }) => day <= through && settledAt !== null && settledAt <= at);
}

/** Amounts in millionths of the asset. */
function sumWagers(stakes: WagerDoc[]) {
  const [{ venue, asset }] = stakes;
  const wins = stakes.filter(({ state }) => state === 'WIN').length;
  const stakedMicros = stakes.reduce((sum, { costMicros }) => sum + costMicros, 0);
  const payoutMicros = stakes.reduce((sum, stake) => sum + (stake.payoutMicros ?? 0), 0);
  return {
    venue,
    asset,
    quotesAreOurs: isOwnVenue(venue),
    settled: stakes.length,
    wins,
    losses: stakes.length - wins,
    stakedMicros,
    payoutMicros,
    pnlMicros: payoutMicros - stakedMicros,
  };
}
