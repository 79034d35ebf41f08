import type { Outcome } from '../scoring.ts';
import type { RecordSummary } from './record-summary.ts';

/** A summary in the types of the interface (section 2.3), which has numbers and one of WIN and LOSS where nothing is scored too. */
export interface PublishedSummary extends Omit<RecordSummary, 'longestWinStreak' | 'accuracy' | 'dedupedAccuracy' | 'streak'> {
  /** The same as `resolved`: 0 says that the shares are no measurement. */
  scored: number;
  /** Share of wins, 0 to 1; 0 where nothing is scored. */
  accuracy: number;
  dedupedAccuracy: number;
  streak: { count: number; type: Outcome };
}

/** The summary with the interface's numbers in place of null; intervals stay null, and the verdict says that nothing was scored. */
export function toPublishedSummary({
  accuracy,
  dedupedAccuracy,
  streak,
  ...summary
}: Omit<RecordSummary, 'longestWinStreak'>): PublishedSummary {
  return {
    ...summary,
    scored: summary.resolved,
    accuracy: accuracy ?? 0,
    dedupedAccuracy: dedupedAccuracy ?? 0,
    streak: { count: streak.count, type: streak.type ?? 'WIN' },
  };
}
