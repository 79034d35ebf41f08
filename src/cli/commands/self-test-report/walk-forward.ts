import { RECENT_RETURN_DAYS } from '../../../forecast/backtest/out-of-sample.ts';
import type { FoldReport } from '../../../forecast/backtest/walk-forward/fold-report.ts';
import type { HorizonWalkForward, WalkForwardReport } from '../../../forecast/backtest/walk-forward/report.ts';
import { formatCell, formatIntervalCell, formatSkillCell, formatTextTable, wrapParagraph } from './table.ts';

/** The walk-forward as a person reads it: each fold, the folds together, the canaries. */
export function formatWalkForward(report: WalkForwardReport): string {
  const { model, firstDay, lastDay, folds, expectedFolds, foldDays, embargoDays, trainingStart, note } = report;
  return [
    `Walk-forward of ${model}: ${folds} of ${expectedFolds} folds of ${foldDays} days, history ${firstDay} to ${lastDay}, training from ${trainingStart}, embargo ${embargoDays} days, purge as long as the horizon`,
    ...(note === null ? [] : [wrapParagraph(note)]),
    ...report.horizons.map(formatHorizon),
    formatPooledTable(report.horizons),
    formatCanaryTable(report),
    wrapParagraph(report.verdict),
  ].join('\n\n');
}

function formatHorizon({ horizon, folds, verdict }: HorizonWalkForward): string {
  const titles = [
    'fold',
    'from',
    'to',
    'n',
    'base',
    'right',
    'calls',
    'hits',
    'Brier',
    'climatology',
    'log',
    'CRPS',
    'climatology',
    'recent',
    '80 %',
  ];
  return `Horizon ${horizon}\n${formatTextTable(titles, folds.map(formatFoldRow))}\n${wrapParagraph(verdict)}`;
}

function formatFoldRow(fold: FoldReport): string[] {
  return [
    ...[String(fold.fold), fold.from, fold.to, String(fold.n), formatCell(fold.base, 3), formatCell(fold.accuracy, 3)],
    ...[
      String(fold.calls),
      String(fold.hits),
      formatCell(fold.brier, 5),
      formatCell(fold.climatologyBrier, 5),
      formatCell(fold.logScore, 5),
    ],
    ...[formatCell(fold.crps, 6), formatCell(fold.climatologyCrps, 6), formatCell(fold.recentCrps, 6), formatCell(fold.coverage80, 3)],
  ];
}

/** Figure by figure, a column a horizon. */
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
    row('central 80 % holds', ({ coverage80 }) => formatSkillCell(coverage80)),
    row('independent calls a year', ({ worth }) => formatCell(worth.independentPerYear, 0)),
    row('95 %', ({ worth: { independentPerYear95: range } }) =>
      range === null ? '-' : `${formatCell(range.low, 0)} to ${formatCell(range.high, 0)}`,
    ),
  ];
  return `All folds together\n${formatTextTable(['', ...horizons.map(({ horizon }) => horizon)], rows)}`;
}

function formatCanaryTable({ canaries }: WalkForwardReport): string {
  const rows = canaries.flatMap(({ name, unit, figure: found, limit, passed, mutants }) => [
    [
      name,
      found === null ? '-' : found.toPrecision(3),
      limit === null ? '-' : String(limit),
      passed === null ? 'not run' : passed ? 'passed' : 'FAILED',
      unit,
    ],
    ...mutants.map((mutant) => [`  ${mutant.what}`, mutant.figure.toPrecision(3), '', mutant.caught ? 'caught' : 'NOT CAUGHT', '']),
  ]);
  return `Leak canaries, and what was broken on purpose\n${formatTextTable(['', 'figure', 'limit', '', 'unit'], rows)}`;
}
