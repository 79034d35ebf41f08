import type { Day } from '../day.ts';
import type { EProcess } from './e-process.ts';

export const CHALLENGE_VERDICTS = ['not proven', 'proven better at 5 %', 'proven worse'] as const;

export interface ChallengeVerdict {
  verdict: (typeof CHALLENGE_VERDICTS)[number];
  /** Day whose outcome first proved it; null while nothing is proven. */
  since: Day | null;
}

/** From the maximum of the process, as what was proven once stays so; of both directions the one proven first. */
export function judgeChallenge({ better, worse }: Pick<EProcess, 'better' | 'worse'>): ChallengeVerdict {
  const [betterSince, worseSince] = [better.provenDay, worse.provenDay];
  if (betterSince === null && worseSince === null) return { verdict: 'not proven', since: null };
  const isBetter = worseSince === null || (betterSince !== null && betterSince < worseSince);
  return isBetter ? { verdict: 'proven better at 5 %', since: betterSince } : { verdict: 'proven worse', since: worseSince };
}
