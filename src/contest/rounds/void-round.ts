import { DAY_MS } from '../../forecast/day.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { ContestDeps } from '../deps.ts';
import type { MarketDoc, RoundDoc } from './round.ts';

export const VOID_AFTER_DAYS = 7;

export function isOverdue(round: RoundDoc, now: Date): boolean {
  return now.getTime() >= getOverdueMs(round);
}

export function reachOverdue(round: RoundDoc, time: ContestDeps['time']): Promise<ReachedInstant> {
  return time.requireReached(getOverdueMs(round), `The end of waiting for what decides round ${round._id}`);
}

function getOverdueMs({ resolvesAt }: RoundDoc): number {
  return resolvesAt.getTime() + VOID_AFTER_DAYS * DAY_MS;
}

/** Voids a round that cannot be resolved; it stays listed without scores. */
export async function voidRound(deps: ContestDeps, round: RoundDoc, over: ReachedInstant, voidBecause: string): Promise<string> {
  const change = { markets: await addCrowdFigures(deps, round.markets), voidBecause };
  await deps.rounds.transition(round._id, { from: round.state, to: 'VOID' }, change, over);
  return `void: ${voidBecause}`;
}

export async function addCrowdFigures({ commitments }: Pick<ContestDeps, 'commitments'>, markets: readonly MarketDoc[]) {
  const crowd = await commitments.readCrowdFigures(markets.map(({ id }) => id));
  return markets.map((market) => ({ ...market, commitments: 0, meanBps: null, ...crowd.get(market.id) }));
}
