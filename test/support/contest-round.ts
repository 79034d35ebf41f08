import { marketId, type RoundDoc } from '../../src/contest/round.ts';
import { strikesAround } from '../../src/contest/strikes.ts';
import { nextWeek } from '../../src/contest/week.ts';

/** A round as it is listed at an instant (ISO 8601) with a price. */
export function listedRound(at: string, spotUsd: number): RoundDoc {
  const { id, ...times } = nextWeek(Date.parse(at));
  return {
    _id: id,
    ...times,
    state: 'OPEN',
    listedAt: new Date(at),
    listing: { spotUsd, source: 'test', observedAt: new Date(at) },
    markets: strikesAround(spotUsd).map((strikeUsd) => ({
      id: marketId(id, strikeUsd),
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
