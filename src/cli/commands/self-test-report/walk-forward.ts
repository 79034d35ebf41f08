import { RECENT_RETURN_DAYS } from '../../../forecast/backtest/out-of-sample.ts';
import type { FoldReport } from '../../../forecast/backtest/walk-forward/fold-report.ts';
import type { HorizonWalkForward, WalkForwardReport } from '../../../forecast/backtest/walk-forward/report.ts';
import { formatCell, formatIntervalCell, formatSkillCell, formatTextTable, wrapParagraph } from './table.ts';
import { formatVersions } from './versions.ts';

export function formatWalkForward(report: WalkForwardReport): string {
  const { model, firstDay, lastDay, folds, expectedFolds, foldDays, embargoDays, trainingStart, note } = report;
  return [
    `Walk-forward of ${model}: ${folds} of ${expectedFolds} folds of ${foldDays} days, history ${firstDay} to ${lastDay}, training from ${trainingStart}, embargo ${embargoDays} days, purge as long as the horizon`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    ...report.horizons.map(formatHorizon),
    formatPooledTable(report.horizons),
    formatVersions(report.versions),
    formatCanaryTable(report),
    wrapParagraph(report.verdict),
  ].join('\n\n');
}

const FOLD_COLUMNS: readonly [title: string, cell: (fold: FoldReport) => string][] = [
  ['fold', ({ fold }) => String(fold)],
  ['from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['n', ({ n }) => String(n)],
  ['base', ({ base }) => formatCell(base, 3)],
  ['right', ({ accuracy }) => formatCell(accuracy, 3)],
  ['calls', ({ calls }) => String(calls)],
  ['hits', ({ hits }) => String(hits)],
  ['Brier', ({ brier }) => formatCell(brier, 5)],
  ['climatology', ({ climatologyBrier }) => formatCell(climatologyBrier, 5)],
  ['log', ({ logScore }) => formatCell(logScore, 5)],
  ['CRPS', ({ crps }) => formatCell(crps, 6)],
  ['climatology', ({ climatologyCrps }) => formatCell(climatologyCrps, 6)],
  ['recent', ({ recentCrps }) => formatCell(recentCrps, 6)],
  ['80 %', ({ coverage80 }) => formatCell(coverage80, 3)],
];

function formatHorizon({ horizon, folds, verdict }: HorizonWalkForward): string {
  const titles = FOLD_COLUMNS.map(([title]) => title);
  const rows = folds.map((fold) => FOLD_COLUMNS.map(([, cell]) => cell(fold)));
  return `Horizon ${horizon}\n${formatTextTable(titles, rows)}\n${wrapParagraph(verdict)}`;
}

/** One row per figure, one column per horizon. */
function formatPooledTable(horizons: readonly HorizonWalkForward[]): string {
  const pooled = horizons.map((one) => one.pooled);
  type Pooled = NonNullable<(typeof pooled)[number]>;
  const row = (title: string, cell: (of: Pooled) => string) => [title, ...pooled.map((of) => (of === null ? '-' : cell(of)))];
  const rows = [
    row('days', ({ n }) => String(n)),
    row('BUY / SELL / HOLD', ({ signals }) => `${signals.buy} / ${signals.sell} / ${signals.hold}`),
    row('calls right', ({ statistics: { calls } }) => formatCell(calls.accuracy, 3)),
    row('95 % by bootstrap', ({ statistics: { calls } }) => formatIntervalCell(calls.bootstrap95)),
    row('direction right, every day', ({ direction }) => formatCell(direction.accuracy, 3)),
    row('95 % by bootstrap', ({ direction }) => formatIntervalCell(direction.bootstrap95)),
    row('always UP', ({ direction }) => formatCell(direction.alwaysUp?.accuracy, 3)),
    row('direction less always UP', ({ direction }) =>
      direction.alwaysUp === null ? '-' : formatSkillCell(direction.alwaysUp.difference),
    ),
    row('Brier', ({ statistics: { probabilities } }) => formatCell(probabilities?.brier, 5)),
    row('Brier skill, base rate', ({ statistics: { probabilities } }) => {
      const against = probabilities?.climatologySkill;
      return against ? formatSkillCell(against) : '-';
    }),
    row('CRPS skill, all returns', ({ crpsSkill }) => formatSkillCell(crpsSkill)),
    row(`CRPS skill, last ${RECENT_RETURN_DAYS} days' returns`, ({ recentCrpsSkill }) => formatSkillCell(recentCrpsSkill)),
    row('CRPS skill, GARCH(1,1)-t', ({ garchCrpsSkill }) => formatSkillCell(garchCrpsSkill)),
    row('central 80 % holds', ({ coverage80 }) => formatSkillCell(coverage80)),
    row('independent calls a year', ({ worth }) => formatCell(worth.independentPerYear, 0)),
    row('95 %', ({ worth: { independentPerYear95: range } }) =>
      range === null ? '-' : `${formatCell(range.low, 0)} to ${formatCell(range.high, 0)}`,
    ),
    row('the same by overlap alone', ({ worth }) => formatCell(worth.independentPerYearByOverlap, 0)),
  ];
  return `All folds together\n${formatTextTable(['', ...horizons.map(({ horizon }) => horizon)], rows)}`;
}

function formatCanaryTable({ canaries }: WalkForwardReport): string {
  const rows = canaries.flatMap(({ name, versions, unit, figure: found, limit, passed, mutants }) => [
    [
      name,
      versions.join(', '),
      found === null ? '-' : found.toPrecision(3),
      limit === null ? '-' : String(limit),
      passed === null ? 'not run' : passed ? 'passed' : 'FAILED',
      unit,
    ],
    ...mutants.map((mutant) => [`  ${mutant.what}`, '', mutant.figure.toPrecision(3), '', mutant.caught ? 'caught' : 'NOT CAUGHT', '']),
  ]);
  return `Leak canaries, and what was broken on purpose\n${formatTextTable(['', 'versions', 'figure', 'limit', '', 'unit'], rows)}`;
}
