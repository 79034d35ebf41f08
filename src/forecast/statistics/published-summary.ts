import { formatHorizonName } from '../model.ts';
import type { RecordSummary } from './record-summary.ts';

/** Replaces null figures by the interface's defaults (section 2.3); intervals stay null, and the verdict states that nothing was scored. */
export function toPublishedSummary(source: Omit<RecordSummary, 'longestWinStreak'>) {
  const { accuracy, dedupedAccuracy, streak, ...summary } = source;
  return {
    ...summary,
    /** Equals `resolved`; 0 marks the shares as placeholders. */
    scored: summary.resolved,
    /** Share of wins, 0 to 1; 0 where nothing is scored. */
    accuracy: accuracy ?? 0,
    dedupedAccuracy: dedupedAccuracy ?? 0,
    streak: { count: streak.count, type: streak.type ?? 'WIN' },
  };
}

/** One horizon of an overview of all. */
export function publishHorizonRow(horizonDays: number, summary: RecordSummary, effectiveN: number) {
  const { totalPredictions: total, resolved, wins, accuracy, dedupedTotal, accuracyInterval95, brier } = summary;
  const { holds, voids, missed, pending, verdict } = summary;
  const share = { total, resolved, wins, accuracy, effectiveN, dedupedTotal, accuracyInterval95, brier };
  return { horizon: formatHorizonName(horizonDays), ...share, holds, voids, missed, pending, verdict };
}

/** Summary and statistics of a scorecard. */
export function publishRecordSummary({ longestWinStreak: longestStreak, ...source }: RecordSummary) {
  const summary = toPublishedSummary(source);
  const { totalPredictions: total, scored, wins, losses, accuracy, streak } = summary;
  const currentStreak = streak.type === 'WIN' ? streak.count : 0;
  return { summary, stats: { total, scored, wins, losses, accuracy, currentStreak, longestStreak } };
}
