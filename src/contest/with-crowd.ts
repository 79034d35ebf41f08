import type { ContestParts } from './parts.ts';
import type { MarketDoc } from './round.ts';

/** Markets with how many committed to each and the mean of what they said; for rounds that take no more commitments. */
export async function withCrowd({ commitments }: Pick<ContestParts, 'commitments'>, markets: readonly MarketDoc[]): Promise<MarketDoc[]> {
  const crowd = await commitments.crowdOf(markets.map(({ id }) => id));
  return markets.map((market) => ({ ...market, commitments: 0, meanBps: null, ...crowd.get(market.id) }));
}
