import type { FoldReport } from '../../forecast/backtest/fold-report.ts';
import { RECENT_DAYS } from '../../forecast/backtest/out-of-sample.ts';
import type { HorizonReport, WalkForwardReport } from '../../forecast/backtest/walk-forward.ts';
import { figure, interval, paragraph, skill, textTable } from './table.ts';

/** The walk-forward as a person reads it: each fold, the folds together, the canaries. */
export function walkForwardText(report: WalkForwardReport): string {
  const { model, firstDay, lastDay, folds, expectedFolds, foldDays, embargoDays, trainingStart, note } = report;
  return [
    `Walk-forward of ${model}: ${folds} of ${expectedFolds} folds of ${foldDays} days, history ${firstDay} to ${lastDay}, training from ${trainingStart}, embargo ${embargoDays} days, purge as long as the horizon`,
    ...(note === null ? [] : [paragraph(note)]),
    ...report.horizons.map(horizonText),
    pooledTable(report.horizons),
    canaryTable(report),
    paragraph(report.verdict),
  ].join('\n\n');
}

function horizonText({ horizon, folds, verdict }: HorizonReport): string {
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
  return `Horizon ${horizon}\n${textTable(titles, folds.map(foldRow))}\n${paragraph(verdict)}`;
}

function foldRow(fold: FoldReport): string[] {
  return [
    ...[String(fold.fold), fold.from, fold.to, String(fold.n), figure(fold.base, 3), figure(fold.accuracy, 3)],
    ...[String(fold.calls), String(fold.hits), figure(fold.brier, 5), figure(fold.climatologyBrier, 5), figure(fold.logScore, 5)],
    ...[figure(fold.crps, 6), figure(fold.climatologyCrps, 6), figure(fold.recentCrps, 6), figure(fold.coverage80, 3)],
  ];
}

/** Figure by figure, a column a horizon. */
function pooledTable(horizons: readonly HorizonReport[]): string {
  const pooled = horizons.map((one) => one.pooled);
  type Pooled = NonNullable<(typeof pooled)[number]>;
  const row = (title: string, cell: (of: Pooled) => string) => [title, ...pooled.map((of) => (of === null ? '-' : cell(of)))];
  const rows = [
    row('days', ({ n }) => String(n)),
    row('BUY / SELL / HOLD', ({ signals }) => `${signals.buy} / ${signals.sell} / ${signals.hold}`),
    row('calls right', ({ statistics: { calls } }) => figure(calls.accuracy, 3)),
    row('95 % by bootstrap', ({ statistics: { calls } }) => interval(calls.bootstrap95)),
    row('direction right, every day', ({ direction }) => figure(direction.accuracy, 3)),
    row('95 % by bootstrap', ({ direction }) => interval(direction.bootstrap95)),
    row('always UP', ({ direction }) => figure(direction.alwaysUp?.accuracy, 3)),
    row('direction less always UP', ({ direction }) => (direction.alwaysUp === null ? '-' : skill(direction.alwaysUp.difference))),
    row('Brier', ({ statistics: { probabilities } }) => figure(probabilities?.brier, 5)),
    row('Brier skill, base rate', ({ statistics: { probabilities } }) => {
      const against = probabilities?.climatologySkill;
      return against ? skill(against) : '-';
    }),
    row('CRPS skill, all returns', ({ crpsSkill }) => skill(crpsSkill)),
    row(`CRPS skill, last ${RECENT_DAYS} days' returns`, ({ recentCrpsSkill }) => skill(recentCrpsSkill)),
    row('central 80 % holds', ({ coverage80 }) => skill(coverage80)),
    row('independent calls a year', ({ worth }) => figure(worth.independentPerYear, 0)),
    row('95 %', ({ worth: { independentPerYear95: range } }) =>
      range === null ? '-' : `${figure(range.low, 0)} to ${figure(range.high, 0)}`,
    ),
  ];
  return `All folds together\n${textTable(['', ...horizons.map(({ horizon }) => horizon)], rows)}`;
}

function canaryTable({ canaries }: WalkForwardReport): string {
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
  return `Leak canaries, and what was broken on purpose\n${textTable(['', 'figure', 'limit', '', 'unit'], rows)}`;
}
