import { DAY_MS } from '../forecast/day.ts';
import type { ReachedInstant } from '../trusted-time.ts';
import type { ContestParts } from './parts.ts';
import type { RoundDoc } from './round.ts';
import { withCrowd } from './with-crowd.ts';

/** How long after its end a round waits for what decides it. */
export const VOID_AFTER_DAYS = 7;

export function isOverdue(round: RoundDoc, now: Date): boolean {
  return now.getTime() >= overdueAt(round);
}

/** Proves that a round is overdue. Errors as `TrustedTime.reach`. */
export function reachOverdue(round: RoundDoc, time: ContestParts['time']): Promise<ReachedInstant> {
  return time.reach(overdueAt(round), `The end of waiting for what decides round ${round._id}`);
}

/** Milliseconds since 1970. */
function overdueAt({ resolvesAt }: RoundDoc): number {
  return resolvesAt.getTime() + VOID_AFTER_DAYS * DAY_MS;
}

/** Ends a round that cannot be decided; it is shown and scored for nobody. */
export async function voidRound(parts: ContestParts, round: RoundDoc, over: ReachedInstant, voidBecause: string): Promise<string> {
  const change = { markets: await withCrowd(parts, round.markets), voidBecause };
  await parts.rounds.move(round._id, { from: round.state, to: 'VOID' }, change, over);
  return `void: ${voidBecause}`;
}
