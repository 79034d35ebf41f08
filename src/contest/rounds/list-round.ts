import { DAY_MS, formatDay, toDay } from '../../forecast/day.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ContestDeps } from '../deps.ts';
import { buildMarketId, type MarketDoc, type RoundDoc } from './round.ts';
import { buildRoundStrikes } from './strikes.ts';
import { getNextRoundWeek, type RoundWeek } from './week.ts';

const WEEK_MS = 7 * DAY_MS;

/** The id of the next round, or null when it is listed already. @throws OracleError PRICE_UNAVAILABLE without a fresh price */
export async function listRound(deps: ContestDeps): Promise<string | null> {
  const now = deps.now();
  const week = getNextRoundWeek(now.getTime());
  if ((await deps.rounds.find(week.id)) !== null) return null;
  await deps.time.requireReached(week.opensAt.getTime() - WEEK_MS, `The opening of the round before ${week.id}`);
  const ahead = await deps.time.proveUnreached(week.opensAt.getTime());
  if (ahead === null) return null;
  return (await deps.rounds.insert(await buildRound(deps, week, now), ahead)) ? week.id : null;
}

async function buildRound({ market }: ContestDeps, week: RoundWeek, now: Date): Promise<RoundDoc> {
  const { lastDay } = await market.coverage();
  // A CSV feed past its end would return an old price, and never a close.
  if (lastDay !== null && lastDay < toDay(now.getTime()) - 1) {
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
    markets: buildRoundStrikes(priceUsd).map((strikeUsd) => buildMarket(id, strikeUsd)),
    pinned: null,
    outcome: null,
    voidBecause: null,
    scoredAt: null,
  };
}

function buildMarket(roundId: string, strikeUsd: number): MarketDoc {
  return { id: buildMarketId(roundId, strikeUsd), strikeUsd, oracleBps: null, above: null, commitments: null, meanBps: null };
}
