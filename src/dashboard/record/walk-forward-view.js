import { figure } from '../charts/figure.js';
import { foldsChart } from '../charts/folds-chart.js';
import { h } from '../lib/dom.js';
import { decimal, percent, shortHex } from '../lib/format.js';
import { table } from '../lib/table.js';
import { sentence } from '../lib/words.js';

/** @import { z } from 'zod' */
/** @import { WALK_FORWARD_REPLY } from '../../http/schemas/self-tests.ts' */

/** @typedef {z.input<typeof WALK_FORWARD_REPLY>} WalkForward */
/** @typedef {WalkForward['report']['canaries'][number]} Canary */

/**
 * The walk-forward test in full: its folds, and the canaries that a leak would kill.
 * @param {WalkForward} answer
 */
export function walkForwardView({ report, dataDigest, firstDay, lastDay, simulated }) {
  // The longest is the one that the others are measured by.
  const horizon = report.horizons.at(-1);
  return [
    h(
      'p',
      { class: 'quiet' },
      `Computed from ${firstDay} to ${lastDay}${simulated ? ' of a market that is made up' : ''}; digest of that history `,
      h('code', { title: dataDigest }, shortHex(dataDigest)),
      '.',
    ),
    horizon === undefined || horizon.folds.length === 0
      ? h('p', { class: 'empty' }, 'The history is too short for a fold.')
      : foldsFigure(horizon),
    horizon === undefined ? null : h('p', {}, sentence(horizon.verdict)),
    table({
      caption: 'Canaries: tests that a leak of the future would fail, each tried on pipelines that leak on purpose',
      columns: CANARIES,
      rows: report.canaries,
    }),
  ];
}

/** @param {WalkForward['report']['horizons'][number]} horizon */
function foldsFigure({ folds, horizonDays }) {
  const better = folds.filter(({ accuracy, base }) => accuracy > base).length;
  const equal = folds.filter(({ accuracy, base }) => accuracy === base).length;
  return figure({
    title: `Accuracy against always saying UP, fold by fold, ${horizonDays} days ahead`,
    summary: `Of ${folds.length} folds, none of which its model had seen, the model was better in ${better}, equal in ${equal} and worse in ${folds.length - better - equal}.`,
    legend: [
      { label: 'model', mark: 'mark-oracle' },
      { label: 'always saying UP', mark: 'mark-always-up' },
    ],
    draw: (width) => foldsChart({ width, folds }),
    columns: [
      { heading: 'Fold', cell: ({ fold }) => fold },
      { heading: 'From', cell: ({ from }) => h('span', { class: 'one-line' }, from) },
      { heading: 'To', cell: ({ to }) => h('span', { class: 'one-line' }, to) },
      { heading: 'Days', cell: ({ n }) => n, numeric: true },
      { heading: 'Model', cell: ({ accuracy }) => percent(accuracy), numeric: true },
      { heading: 'Always UP', cell: ({ base }) => percent(base), numeric: true },
      { heading: 'Brier', cell: ({ brier }) => decimal(brier, 4), numeric: true },
      { heading: 'Brier of the base rate', cell: ({ climatologyBrier }) => decimal(climatologyBrier, 4), numeric: true },
      { heading: 'In the 80 % band', cell: ({ coverage80 }) => percent(coverage80), numeric: true },
    ],
    rows: folds,
  });
}

/** @type {import('../lib/table.js').Column<Canary>[]} */
const CANARIES = [
  { heading: 'Canary', cell: ({ name }) => h('span', { class: 'one-line' }, name) },
  { heading: 'Found', cell: ({ passed }) => passedMark(passed) },
  {
    heading: 'Planted leaks caught',
    cell: ({ mutants }) => (mutants.length === 0 ? '–' : `${mutants.filter(({ caught }) => caught).length} of ${mutants.length}`),
  },
  { heading: 'What it does', cell: ({ what }) => h('span', { class: 'long' }, what) },
];

/** @param {boolean | null} passed */
function passedMark(passed) {
  if (passed === null) return 'could not be run';
  return h('span', { class: passed ? 'is-fresh' : 'is-failed' }, passed ? '✓ no leak' : '✗ a leak');
}
