import type { ContestDeps } from '../deps.ts';
import { scoreCommitment } from '../scoring/score.ts';
import type { RoundDoc } from './round.ts';

/** Scores all commitments of a decided round; one that was killed in the middle goes on with those that have no score. */
export async function scoreRound({ commitments, rounds, now }: ContestDeps, round: RoundDoc): Promise<string> {
  for (const { id, oracleBps, above } of round.markets) {
    await commitments.scoreMarket(id, (walletBps) => scoreCommitment({ walletBps, oracleBps: oracleBps!, above: above! }));
  }
  await rounds.markScored(round._id, now());
  return 'scored';
}
