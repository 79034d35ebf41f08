import type { Publicity, WagerDoc } from '../../wager/wager-book.ts';
import { computeLastPublicDay, type ForecastDoc, forecastAsOf } from '../forecast-doc.ts';
import { isOwnVenue } from '../own-venue.ts';

/** Settled stakes that became public between `before` and `asOf`, by venue, so that each stake is in one report only. */
export function summarizeNewlyPublicWagers(
  stakes: readonly WagerDoc[],
  forecasts: readonly ForecastDoc[],
  { before, asOf }: { before: Date; asOf: Date },
) {
  const earlier = new Set(listPublicWagers(stakes, forecasts, before));
  const newlyPublic = listPublicWagers(stakes, forecasts, asOf).filter((stake) => !earlier.has(stake));
  return [...Map.groupBy(newlyPublic, ({ venue, asset }) => `${venue} ${asset}`).values()].map(sumWagers);
}

/** @param forecasts at least those that were not public */
export function computePublicity(forecasts: readonly ForecastDoc[], at: Date): Publicity {
  const known = forecasts.map((doc) => forecastAsOf(doc, at));
  return { at, throughDay: computeLastPublicDay(known, at) };
}

function listPublicWagers(stakes: readonly WagerDoc[], forecasts: readonly ForecastDoc[], at: Date): WagerDoc[] {
  const { throughDay } = computePublicity(forecasts, at);
  return stakes.filter(({ day, settledAt }) => day <= throughDay && settledAt !== null && settledAt <= at);
}

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
