import { h } from '../lib/dom.ts';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../lib/format.ts';
import type { ApiResponses } from '../state/responses.ts';

type Scorecard = ApiResponses['scorecard'];
type Interval = Scorecard['summary']['accuracyInterval95'];
type RecordFact = [term: string, value: string, ...notes: string[]];

/** With fewer outcomes of non-overlapping windows, a percentage would mislead. */
export const MIN_OUTCOMES = 5;
export const TOO_FEW_TEXT = 'too few';

/** Key figures, each with its interval and benchmark. */
export function renderRecordFacts(scorecard: Scorecard) {
  const facts = [...buildCallFacts(scorecard), buildBrierFact(scorecard), buildBandFact(scorecard), buildStreakFact(scorecard)];
  const entries = facts.map(([term, value, ...notes]) => {
    const below = notes.map((note) => h('dd', { class: 'fact-note' }, note));
    return h('div', {}, h('dt', {}, term), h('dd', {}, value), below);
  });
  return h('dl', { class: 'facts record-facts' }, entries);
}

function buildCallFacts({ summary }: Scorecard): RecordFact[] {
  const { wins, resolved, dedupedWins, dedupedTotal } = summary;
  const enough = dedupedTotal >= MIN_OUTCOMES;
  const format = (accuracy: number | null) => (enough ? formatPercent(accuracy) : TOO_FEW_TEXT);
  const listInterval = (interval: Interval) => (enough ? [formatInterval95(interval)] : []);
  const count = `${formatCount(wins)} of ${formatCount(resolved)}`;
  const dedupedCount = `${formatCount(dedupedWins)} of ${formatCount(dedupedTotal)}`;
  return [
    ['Accuracy, all calls', format(summary.accuracy), count, ...listInterval(summary.accuracyInterval95)],
    ['Accuracy, non-overlapping windows', format(summary.dedupedAccuracy), dedupedCount, ...listInterval(summary.dedupedInterval95)],
    ['Always UP, same calls', format(summary.alwaysUpAccuracy), 'baseline without any model'],
  ];
}

function formatInterval95(interval: Interval) {
  return `95\u00a0% interval ${formatPercentInterval(interval)}`;
}

function buildBrierFact({ summary: { brier } }: Scorecard): RecordFact {
  const term = 'Brier score';
  if (brier === null) return [term, TOO_FEW_TEXT, 'no outcome or base rate yet'];
  const benchmark = `base rate ${formatDecimal(brier.climatology, 4)}, lower is better`;
  return [term, formatDecimal(brier.model, 4), benchmark, `${formatCount(brier.n)} outcomes, HOLD included`];
}

function buildBandFact({ statistics: { distribution } }: Scorecard): RecordFact {
  const term = 'Outcomes inside the 80 % band';
  const held = distribution?.coverage.find(({ nominal }) => nominal === 0.8);
  if (!distribution || held === undefined) return [term, TOO_FEW_TEXT, 'no resolved forecast with a band'];
  const count = formatCount(distribution.n);
  if (distribution.effectiveN < MIN_OUTCOMES) return [term, TOO_FEW_TEXT, `${count} overlapping outcomes`];
  return [term, formatPercent(held.observed), formatInterval95(held.interval95), `ideal 80\u00a0%, ${count} outcomes`];
}

function buildStreakFact({ summary: { streak: run }, stats }: Scorecard): RecordFact {
  const labels = { WIN: 'right in a row', LOSS: 'wrong in a row' };
  const value = run.count === 0 ? 'none' : `${formatCount(run.count)} ${labels[run.type]}`;
  return ['Streak', value, `longest winning streak: ${formatCount(stats.longestStreak)}`];
}
