import { DAY_MS } from '../../forecast/day.ts';
import type { ReachedInstant } from '../../platform/time/trusted-time.ts';
import type { ContestDeps } from '../deps.ts';
import { addCrowdFigures } from './add-crowd.ts';
import type { RoundDoc } from './round.ts';

/** How long after its end a round waits for what decides it. */
export const VOID_AFTER_DAYS = 7;

export function isOverdue(round: RoundDoc, now: Date): boolean {
  return now.getTime() >= getOverdueMs(round);
}

/** Proves that a round is overdue. Errors as `TrustedTime.reach`. */
export function reachOverdue(round: RoundDoc, time: ContestDeps['time']): Promise<ReachedInstant> {
  return time.requireReached(getOverdueMs(round), `The end of waiting for what decides round ${round._id}`);
}

/** Milliseconds since 1970. */
function getOverdueMs({ resolvesAt }: RoundDoc): number {
  return resolvesAt.getTime() + VOID_AFTER_DAYS * DAY_MS;
}

/** Ends a round that cannot be decided; it is shown and scored for nobody. */
export async function voidRound(deps: ContestDeps, round: RoundDoc, over: ReachedInstant, voidBecause: string): Promise<string> {
  const change = { markets: await addCrowdFigures(deps, round.markets), voidBecause };
  await deps.rounds.transition(round._id, { from: round.state, to: 'VOID' }, change, over);
  return `void: ${voidBecause}`;
}
