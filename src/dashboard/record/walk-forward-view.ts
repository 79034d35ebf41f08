import { renderFoldsChart } from '../charts/over-time/folds-chart.ts';
import { createTimeFigure } from '../charts/over-time/time-figure.ts';
import { h } from '../lib/dom.ts';
import { formatDecimal, formatPercent, shortenHex } from '../lib/format.ts';
import { toSentence } from '../lib/format-text.ts';
import { renderTable } from '../lib/table.ts';
import type { WalkForward } from '../state/responses.ts';
import { renderVersionsTable } from './versions-table.ts';

type Canary = WalkForward['report']['canaries'][number];

/** Folds and leak canaries of the walk-forward test. */
export function renderWalkForward({ report, dataDigest, firstDay, lastDay, simulated }: WalkForward) {
  // The longest horizon is the reference.
  const horizon = report.horizons.at(-1);
  return [
    h('p', { class: 'quiet' }, [
      `Computed from ${firstDay} to ${lastDay}${simulated ? ' of a simulated market' : ''}; history digest `,
      h('code', { title: dataDigest }, shortenHex(dataDigest)),
      '.',
    ]),
    horizon === undefined || horizon.folds.length === 0
      ? h('p', { class: 'empty' }, 'The history is too short for one fold.')
      : createFoldsFigure(horizon),
    horizon === undefined ? null : h('p', {}, toSentence(horizon.verdict)),
    // Reports that were stored before there were versions have none.
    report.versions === undefined ? null : renderVersionsTable(report.versions),
    renderTable({
      caption: 'Canaries: tests that fail if future data leaks, each validated on deliberately leaking pipelines',
      columns: CANARY_COLUMNS,
      rows: report.canaries,
    }),
  ];
}

function createFoldsFigure({ folds, horizonDays }: WalkForward['report']['horizons'][number]) {
  const better = folds.filter(({ accuracy, base }) => accuracy > base).length;
  const equal = folds.filter(({ accuracy, base }) => accuracy === base).length;
  const points = folds.map((fold, index) => ({ ...fold, day: index + 1 }));
  return createTimeFigure({
    title: `Accuracy against always UP by fold, ${horizonDays} days ahead`,
    points: () => points,
    hasRanges: false,
    summary: () =>
      `Out of sample over ${folds.length} folds, the model was better in ${better}, equal in ${equal} and worse in ${folds.length - better - equal}.`,
    legend: () => [
      { label: 'model', mark: 'mark-oracle' },
      { label: 'always UP', mark: 'mark-always-up' },
    ],
    draw: renderFoldsChart,
    read: ({ fold, from, to, accuracy, base }) =>
      `Fold ${fold}, ${from} to ${to}: model ${formatPercent(accuracy)}, always UP ${formatPercent(base)}.`,
    columns: [
      { heading: 'Fold', cell: ({ fold }) => fold },
      { heading: 'From', cell: ({ from }) => h('span', { class: 'one-line' }, from) },
      { heading: 'To', cell: ({ to }) => h('span', { class: 'one-line' }, to) },
      { heading: 'Days', cell: ({ n }) => n, numeric: true },
      { heading: 'Model', cell: ({ accuracy }) => formatPercent(accuracy), numeric: true },
      { heading: 'Always UP', cell: ({ base }) => formatPercent(base), numeric: true },
      { heading: 'Brier', cell: ({ brier }) => formatDecimal(brier, 4), numeric: true },
      { heading: 'Base rate Brier', cell: ({ climatologyBrier }) => formatDecimal(climatologyBrier, 4), numeric: true },
      { heading: 'In the 80 % band', cell: ({ coverage80 }) => formatPercent(coverage80), numeric: true },
    ],
  }).element;
}

const CANARY_COLUMNS: import('../lib/table.ts').Column<Canary>[] = [
  { heading: 'Canary', cell: ({ name }) => h('span', { class: 'one-line' }, name) },
  { heading: 'Versions', cell: ({ versions = [] }) => h('span', { class: 'one-line' }, versions.join(', ')) },
  { heading: 'Found', cell: ({ passed }) => renderPassed(passed) },
  {
    heading: 'Planted leaks caught',
    cell: ({ mutants }) => (mutants.length === 0 ? '–' : `${mutants.filter(({ caught }) => caught).length} of ${mutants.length}`),
  },
  { heading: 'Method', cell: ({ what }) => h('span', { class: 'long' }, what) },
];

function renderPassed(passed: boolean | null) {
  if (passed === null) return 'not run';
  return h('span', { class: passed ? 'is-fresh' : 'is-failed' }, passed ? '✓ no leak' : '✗ a leak');
}
