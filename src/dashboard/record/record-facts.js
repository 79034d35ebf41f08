import { h } from '../lib/dom.js';
import { count, decimal, percent, percentInterval } from '../lib/format.js';

/** @import { Answers } from '../state/answers.ts' */

/** @typedef {Answers['scorecard']} Scorecard */
/** A figure of the record: what it is, its value, what it rests on. @typedef {{ term: string, value: string, notes: readonly string[] }} Fact */

/** Below so many outcomes whose windows do not overlap, a share would only mislead. */
export const LEAST_OUTCOMES = 5;
export const TOO_FEW = 'too few to tell';

/**
 * The figures of a record, each with its interval and what it is held against.
 * @param {Scorecard} scorecard
 */
export function recordFacts(scorecard) {
  const facts = [...calls(scorecard), brier(scorecard), band(scorecard), streak(scorecard)];
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

/** @param {Scorecard} scorecard @returns {Fact[]} */
function calls({ summary }) {
  const enough = summary.dedupedTotal >= LEAST_OUTCOMES;
  return [
    {
      term: 'Right, of all calls',
      value: enough ? percent(summary.accuracy) : TOO_FEW,
      notes: [`${count(summary.wins)} of ${count(summary.resolved)}`, ...(enough ? [intervalOf(summary.accuracyInterval95)] : [])],
    },
    {
      term: 'Right, of windows that do not overlap',
      value: enough ? percent(summary.dedupedAccuracy) : TOO_FEW,
      notes: [
        `${count(summary.dedupedWins)} of ${count(summary.dedupedTotal)}`,
        ...(enough ? [intervalOf(summary.dedupedInterval95)] : []),
      ],
    },
    {
      term: 'Always saying UP, on the same calls',
      value: enough ? percent(summary.alwaysUpAccuracy) : TOO_FEW,
      notes: ['what a rule without any knowledge scores'],
    },
  ];
}

/** @param {{ low: number, high: number } | null} interval */
function intervalOf(interval) {
  return `95\u00a0% interval ${percentInterval(interval)}`;
}

/** @param {Scorecard} scorecard @returns {Fact} */
function brier({ summary }) {
  const term = 'Brier score of the probabilities';
  if (summary.brier === null) return { term, value: TOO_FEW, notes: ['no outcome yet, or the base rate is not known'] };
  const { n, model, climatology } = summary.brier;
  return {
    term,
    value: decimal(model, 4),
    notes: [`base rate ${decimal(climatology, 4)}, lower is better`, `${count(n)} outcomes, HOLD included`],
  };
}

/** @param {Scorecard} scorecard @returns {Fact} */
function band({ statistics: { distribution } }) {
  const term = 'Outcomes inside the 80 % band';
  const held = distribution?.coverage.find(({ nominal }) => nominal === 0.8);
  if (!distribution || held === undefined) return { term, value: TOO_FEW, notes: ['no forecast with a band is over'] };
  if (distribution.effectiveN < LEAST_OUTCOMES)
    return { term, value: TOO_FEW, notes: [`${count(distribution.n)} outcomes, which overlap`] };
  return {
    term,
    value: percent(held.observed),
    notes: [intervalOf(held.interval95), `exact would be 80\u00a0%, ${count(distribution.n)} outcomes`],
  };
}

/** @param {Scorecard} scorecard @returns {Fact} */
function streak({ summary: { streak: run }, stats }) {
  const words = { WIN: 'right in a row', LOSS: 'wrong in a row' };
  const value = run.count === 0 ? 'none' : `${count(run.count)} ${words[run.type]}`;
  return { term: 'Streak', value, notes: [`longest run of right calls: ${count(stats.longestStreak)}`] };
}
