import type { Day } from '../../forecast/day.ts';
import { getErrorMessage, OracleError } from '../../platform/errors.ts';
import type { AuditPrices } from './audit-prices.ts';
import { CANDLE_VENUES, type CandleVenue, fetchVenueCloses } from './exchange-closes.ts';

export interface LivePricesOptions {
  toleranceBps: number;
  now: Date;
  /** Default: the public exchanges. */
  venues?: readonly CandleVenue[];
}

/** A close of a single venue is not independent. */
const MIN_VENUES = 2;

/** Median of the closes of public exchanges, without API keys. @throws OracleError FEED_UNAVAILABLE for fewer than two responses */
export function livePrices({ toleranceBps, now, venues = CANDLE_VENUES }: LivePricesOptions): AuditPrices {
  return {
    source: `median of ${venues.map(({ name }) => name).join(', ')}`,
    toleranceBps,
    endsOn: null,
    async closes(days) {
      // Closed candles only.
      const over = days.filter((day) => (day + 1) * 86_400_000 <= now.getTime());
      if (over.length === 0) return new Map();
      const found = await fetchAllCloses(venues, { from: Math.min(...over), to: Math.max(...over) });
      return new Map(over.flatMap((day) => computeMedianClose(found, day)));
    },
    history: async () => null,
  };
}

async function fetchAllCloses(venues: readonly CandleVenue[], range: { from: Day; to: Day }): Promise<ReadonlyMap<Day, number>[]> {
  const answers = await Promise.allSettled(venues.map((venue) => fetchVenueCloses(venue, range)));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  if (found.length >= MIN_VENUES) return found;
  const reasons = answers.flatMap((answer, index) =>
    answer.status === 'rejected' ? [`${venues[index].name}: ${getErrorMessage(answer.reason).slice(0, 100)}`] : [],
  );
  throw new OracleError('FEED_UNAVAILABLE', `Fewer than ${MIN_VENUES} exchanges returned closes (${reasons.join('; ')})`, {
    suggestedAction: 'Try again later, or give closes of your own with --prices <csv file>.',
  });
}

function computeMedianClose(found: readonly ReadonlyMap<Day, number>[], day: Day): [Day, number][] {
  const closes = found.flatMap((venue) => venue.get(day) ?? []).sort((a, b) => a - b);
  if (closes.length < MIN_VENUES) return [];
  const middle = closes.length >> 1;
  return [[day, closes.length % 2 === 1 ? closes[middle] : (closes[middle - 1] + closes[middle]) / 2]];
}
