import { OracleError } from '../errors.ts';
import { DAY_MS, dayOf, formatDay } from '../forecast/day.ts';
import type { ContestParts } from './parts.ts';
import { type MarketDoc, marketId, type RoundDoc } from './round.ts';
import { strikesAround } from './strikes.ts';
import { nextWeek, type RoundWeek } from './week.ts';

const WEEK_MS = 7 * DAY_MS;

/**
 * Lists the round that opens next, its strikes fixed by the price of this moment, unless it is listed. The id, or null when it was
 * there.
 * @throws OracleError PRICE_UNAVAILABLE while there is no fresh price, or where the market data has ended, and as `TrustedTime.reach`.
 */
export async function listRound(parts: ContestParts): Promise<string | null> {
  const now = parts.now();
  const week = nextWeek(now.getTime());
  if ((await parts.rounds.find(week.id)) !== null) return null;
  await parts.time.reach(week.opensAt.getTime() - WEEK_MS, `The opening of the round before ${week.id}`);
  const ahead = await parts.time.precede(week.opensAt.getTime());
  if (ahead === null) return null;
  return (await parts.rounds.list(await newRound(parts, week, now), ahead)) ? week.id : null;
}

async function newRound({ market }: ContestParts, week: RoundWeek, now: Date): Promise<RoundDoc> {
  const { lastDay } = await market.coverage();
  // A folder of files that has ended would give a price of long ago, and no close ever.
  if (lastDay !== null && lastDay < dayOf(now.getTime()) - 1) {
    throw new OracleError('PRICE_UNAVAILABLE', `The market data (${market.source}) ends on ${formatDay(lastDay)}`);
  }
  const { priceUsd, source, observedAtMs } = await market.spot(now.getTime());
  const { id, ...times } = week;
  return {
    _id: id,
    ...times,
    state: 'OPEN',
    listedAt: now,
    listing: { spotUsd: priceUsd, source, observedAt: new Date(observedAtMs) },
    markets: strikesAround(priceUsd).map((strikeUsd) => newMarket(id, strikeUsd)),
    pinned: null,
    outcome: null,
    voidBecause: null,
    scoredAt: null,
  };
}

function newMarket(roundId: string, strikeUsd: number): MarketDoc {
  return { id: marketId(roundId, strikeUsd), strikeUsd, oracleBps: null, above: null, commitments: null, meanBps: null };
}
