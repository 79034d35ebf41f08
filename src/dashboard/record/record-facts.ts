import { h } from '../lib/dom.ts';
import { formatCount, formatDecimal, formatPercent, formatPercentInterval } from '../lib/format.ts';
import type { ApiResponses } from '../state/responses.ts';

type Scorecard = ApiResponses['scorecard'];
interface RecordFact {
  term: string;
  value: string;
  notes: readonly string[];
}

/** With fewer outcomes of non-overlapping windows, a percentage would mislead. */
export const MIN_OUTCOMES = 5;
export const TOO_FEW_TEXT = 'too few';

/** Key figures, each with its interval and benchmark. */
export function renderRecordFacts(scorecard: Scorecard) {
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

function buildCallFacts({ summary }: Scorecard): RecordFact[] {
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

function formatInterval95(interval: { low: number; high: number } | null) {
  return `95\u00a0% interval ${formatPercentInterval(interval)}`;
}

function buildBrierFact({ summary }: Scorecard): RecordFact {
  const term = 'Brier score';
  if (summary.brier === null) return { term, value: TOO_FEW_TEXT, notes: ['no outcome or base rate yet'] };
  const { n, model, climatology } = summary.brier;
  return {
    term,
    value: formatDecimal(model, 4),
    notes: [`base rate ${formatDecimal(climatology, 4)}, lower is better`, `${formatCount(n)} outcomes, HOLD included`],
  };
}

function buildBandFact({ statistics: { distribution } }: Scorecard): RecordFact {
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

function buildStreakFact({ summary: { streak: run }, stats }: Scorecard): RecordFact {
  const labels = { WIN: 'right in a row', LOSS: 'wrong in a row' };
  const value = run.count === 0 ? 'none' : `${formatCount(run.count)} ${labels[run.type]}`;
  return { term: 'Streak', value, notes: [`longest winning streak: ${formatCount(stats.longestStreak)}`] };
}
