import { h } from '../lib/dom.js';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../lib/format.js';

/** @import { ApiResponses } from '../state/responses.ts' */

/** @typedef {ApiResponses['scorecard']} Scorecard */
/** @typedef {{ term: string, value: string, notes: readonly string[] }} RecordFact */

/** With fewer outcomes of non-overlapping windows, a percentage would mislead. */
export const MIN_OUTCOMES = 5;
export const TOO_FEW_TEXT = 'too few';

/** Key figures, each with its interval and benchmark. @param {Scorecard} scorecard */
export function renderRecordFacts(scorecard) {
  const facts = [...buildCallFacts(scorecard), buildBrierFact(scorecard), buildBandFact(scorecard), buildStreakFact(scorecard)];
  return h(
    'dl',
    { class: 'facts record-facts' },
    facts.map(({ term, value, notes }) =>
      h(
        'div',
        {},
        h('dt', {}, term),
        h('dd', {}, value),
        notes.map((note) => h('dd', { class: 'fact-note' }, note)),
      ),
    ),
  );
}

/** @param {Scorecard} scorecard @returns {RecordFact[]} */
function buildCallFacts({ summary }) {
  const enough = summary.dedupedTotal >= MIN_OUTCOMES;
  return [
    {
      term: 'Accuracy, all calls',
      value: enough ? formatPercent(summary.accuracy) : TOO_FEW_TEXT,
      notes: [
        `${formatCount(summary.wins)} of ${formatCount(summary.resolved)}`,
        ...(enough ? [formatInterval95(summary.accuracyInterval95)] : []),
      ],
    },
    {
      term: 'Accuracy, non-overlapping windows',
      value: enough ? formatPercent(summary.dedupedAccuracy) : TOO_FEW_TEXT,
      notes: [
        `${formatCount(summary.dedupedWins)} of ${formatCount(summary.dedupedTotal)}`,
        ...(enough ? [formatInterval95(summary.dedupedInterval95)] : []),
      ],
    },
    {
      term: 'Always UP, same calls',
      value: enough ? formatPercent(summary.alwaysUpAccuracy) : TOO_FEW_TEXT,
      notes: ['baseline without any model'],
    },
  ];
}

/** @param {{ low: number, high: number } | null} interval */
function formatInterval95(interval) {
  return `95\u00a0% interval ${formatPercentInterval(interval)}`;
}

/** @param {Scorecard} scorecard @returns {RecordFact} */
function buildBrierFact({ summary }) {
  const term = 'Brier score';
  if (summary.brier === null) return { term, value: TOO_FEW_TEXT, notes: ['no outcome or base rate yet'] };
  const { n, model, climatology } = summary.brier;
  return {
    term,
    value: formatDecimal(model, 4),
    notes: [`base rate ${formatDecimal(climatology, 4)}, lower is better`, `${formatCount(n)} outcomes, HOLD included`],
  };
}

/** @param {Scorecard} scorecard @returns {RecordFact} */
function buildBandFact({ statistics: { distribution } }) {
  const term = 'Outcomes inside the 80 % band';
  const held = distribution?.coverage.find(({ nominal }) => nominal === 0.8);
  if (!distribution || held === undefined) return { term, value: TOO_FEW_TEXT, notes: ['no resolved forecast with a band'] };
  if (distribution.effectiveN < MIN_OUTCOMES)
    return { term, value: TOO_FEW_TEXT, notes: [`${formatCount(distribution.n)} overlapping outcomes`] };
  return {
    term,
    value: formatPercent(held.observed),
    notes: [formatInterval95(held.interval95), `ideal 80\u00a0%, ${formatCount(distribution.n)} outcomes`],
  };
}

/** @param {Scorecard} scorecard @returns {RecordFact} */
function buildStreakFact({ summary: { streak: run }, stats }) {
  const labels = { WIN: 'right in a row', LOSS: 'wrong in a row' };
  const value = run.count === 0 ? 'none' : `${formatCount(run.count)} ${labels[run.type]}`;
  return { term: 'Streak', value, notes: [`longest winning streak: ${formatCount(stats.longestStreak)}`] };
}
