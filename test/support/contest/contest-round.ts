import { buildMarketId, type RoundDoc } from '../../../src/contest/rounds/round.ts';
import { buildRoundStrikes } from '../../../src/contest/rounds/strikes.ts';
import { getNextRoundWeek } from '../../../src/contest/rounds/week.ts';

/** A round as it is listed at an instant (ISO 8601) with a price. */
export function listedRound(at: string, spotUsd: number): RoundDoc {
  const { id, ...times } = getNextRoundWeek(Date.parse(at));
  return {
    _id: id,
    ...times,
    state: 'OPEN',
    listedAt: new Date(at),
    listing: { spotUsd, source: 'test', observedAt: new Date(at) },
    markets: buildRoundStrikes(spotUsd).map((strikeUsd) => ({
      id: buildMarketId(id, strikeUsd),
      strikeUsd,
      oracleBps: null,
      above: null,
      commitments: null,
      meanBps: null,
    })),
    pinned: null,
    outcome: null,
    voidBecause: null,
    scoredAt: null,
  };
}
