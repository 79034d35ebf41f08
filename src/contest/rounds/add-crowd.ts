import type { ContestDeps } from '../deps.ts';
import type { MarketDoc } from './round.ts';

/** Markets with how many committed to each and the mean of what they said; for rounds that take no more commitments. */
export async function addCrowdFigures(
  { commitments }: Pick<ContestDeps, 'commitments'>,
  markets: readonly MarketDoc[],
): Promise<MarketDoc[]> {
  const crowd = await commitments.readCrowdFigures(markets.map(({ id }) => id));
  return markets.map((market) => ({ ...market, commitments: 0, meanBps: null, ...crowd.get(market.id) }));
}
