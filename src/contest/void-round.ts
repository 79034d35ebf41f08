import { DAY_MS } from '../forecast/day.ts';
import type { ContestParts } from './parts.ts';
import type { RoundDoc } from './round.ts';
import { withCrowd } from './with-crowd.ts';

/** How long after its end a round waits for what decides it. */
export const VOID_AFTER_DAYS = 7;

export function isOverdue({ resolvesAt }: RoundDoc, now: Date): boolean {
  return now.getTime() >= resolvesAt.getTime() + VOID_AFTER_DAYS * DAY_MS;
}

/** Ends a round that cannot be decided; it is shown and scored for nobody. */
export async function voidRound(parts: ContestParts, round: RoundDoc, voidBecause: string): Promise<string> {
  await parts.rounds.move(round._id, round.state, 'VOID', { markets: await withCrowd(parts, round.markets), voidBecause });
  return `void: ${voidBecause}`;
}
