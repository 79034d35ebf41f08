import type { EraFigures } from '../../forecast/backtest/contamination/eras.ts';
import type { ContaminationReport } from '../../forecast/backtest/contamination/report.ts';
import type { HorizonAgreement } from '../../forecast/backtest/horizon-agreement.ts';
import { RECENT_RETURN_DAYS } from '../../forecast/backtest/out-of-sample.ts';
import type { OverfittingReport } from '../../forecast/backtest/overfitting/report.ts';
import type { StabilityReport } from '../../forecast/backtest/stability/report.ts';
import type { PooledReport } from '../../forecast/backtest/walk-forward/pooled-report.ts';
import type { HorizonWalkForward, WalkForwardReport } from '../../forecast/backtest/walk-forward/report.ts';
import { STATEMENTS_PER_HORIZON } from '../../forecast/backtest/walk-forward/verdict.ts';
import { formatPercent } from '../../forecast/math/format-percent.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import { renderMarkdownTable, renderNumber, renderWithInterval } from './markdown.ts';
import { renderVersionResults } from './version-results.ts';

export function renderWalkForwardResults(report: WalkForwardReport): string {
  const { folds, expectedFolds, foldDays, note, verdict, horizons } = report;
  const complete = horizons.filter(({ pooled }) => pooled !== null);
  return [
    `Walk-forward: ${folds} of ${expectedFolds} folds of ${foldDays} days each, each forecast by a model fitted before it.${note === null ? '' : ` ${note}.`}`,
    renderMarkdownTable(
      [
        'Horizon',
        'Days',
        'BUY / SELL / HOLD',
        'Right',
        'Always UP',
        'Difference, points (95 %)',
        'Brier skill, % (95 %)',
        'CRPS skill, all returns, % (95 %)',
        'CRPS skill, recent returns, % (95 %)',
        'CRPS skill, GARCH(1,1)-t, % (95 %)',
        '80 % holds, % (95 %)',
        'Independent a year, measured (95 %) / by overlap',
        'Years to prove 3 / 10 points',
      ],
      complete.map(formatPooledRow),
    ),
    'Right: share of days on which the likelier direction came true, HOLD included. Brier skill: of P(up), against the base rate known at the time. CRPS skill: of the distribution, against the returns of all training days, the last ' +
      `${RECENT_RETURN_DAYS} of them, which shape it, and GARCH(1,1)-t. 80 % holds: share of outcomes within the central 80 %. Independent a year: effective number of daily calls, estimated from the variance of the hit rate, and from the overlap of the windows alone. Years to prove: time until an advantage of so many points is significant. Intervals are not adjusted for multiple tests: of ${complete.length * STATEMENTS_PER_HORIZON}, some are expected to exclude zero by chance.`,
    renderFoldTable(complete),
    renderVersionResults(report.versions),
    `Leak canaries: ${verdict}.`,
  ].join('\n\n');
}

function formatPooledRow({ horizon, pooled }: HorizonWalkForward): string[] {
  const { n, signals, direction, directions, statistics, crpsSkill, recentCrpsSkill, garchCrpsSkill, coverage80, worth } = pooled!;
  const skill = statistics.probabilities!.climatologySkill;
  return [
    horizon,
    `${n}`,
    `${signals.buy} / ${signals.sell} / ${signals.hold}`,
    formatPercent(direction.accuracy!),
    formatPercent(direction.alwaysUp!.accuracy),
    directions.down === 0 ? SAME_CALLS : renderWithInterval(direction.alwaysUp!.difference),
    skill === null ? 'none' : renderWithInterval(skill),
    renderWithInterval(crpsSkill),
    renderWithInterval(recentCrpsSkill),
    renderWithInterval(garchCrpsSkill),
    renderWithInterval(coverage80),
    formatIndependence(worth),
    worth.proof.map(({ years }) => renderNumber(years, 1)).join(' / '),
  ];
}

/** For calls equal to always calling UP. */
const SAME_CALLS = 'same calls';

function formatIndependence({
  independentPerYear,
  independentPerYear95: range,
  independentPerYearByOverlap,
}: PooledReport['worth']): string {
  const bounds = range === null ? '' : ` (${renderNumber(range.low, 0)} to ${renderNumber(range.high, 0)})`;
  return `${renderNumber(independentPerYear, 0)}${bounds} / ${renderNumber(independentPerYearByOverlap, 0)}`;
}

function renderFoldTable(horizons: readonly HorizonWalkForward[]): string {
  const longest = horizons.at(-1);
  const rows = (longest?.folds ?? []).map(({ fold, from, to, base, brier, climatologyBrier }, index) => [
    `${fold}`,
    `${from} to ${to}`,
    formatPercent(base),
    ...horizons.map(({ folds }) => (folds[index] === undefined ? 'none' : formatPercent(folds[index].accuracy))),
    brier.toFixed(4),
    climatologyBrier.toFixed(4),
  ]);
  const { horizon = '' } = longest ?? {};
  return renderMarkdownTable(
    ['Fold', 'Days', `Rose, ${horizon}`, ...horizons.map((one) => `Right, ${one.horizon}`), `Brier, ${horizon}`, 'Of the base rate'],
    rows,
  );
}

/** What shorter horizons, which are revealed earlier, imply about the longest; empty without a fold. */
export function renderAgreement(agreements: readonly HorizonAgreement[]): string[] {
  if (agreements.length === 0) return [];
  const { longest, n, mostFrequentDirection, mostFrequentSignal } = agreements[0];
  const rows = agreements.map(({ horizon, sameDirection, sameSignal, correlation }) => [
    horizon,
    formatPercent(sameDirection),
    formatPercent(sameSignal),
    renderNumber(correlation, 2),
  ]);
  return [
    `Agreement of shorter horizons with the ${longest} forecast of the same day, on ${n} days. They are revealed while it is still open. A guess of the most frequent value matches its direction on ${formatPercent(mostFrequentDirection)} of days and its signal on ${formatPercent(mostFrequentSignal)}. P(up) is revealed too and is more informative than the signal.`,
    renderMarkdownTable(['Horizon', 'Same direction', 'Same signal', 'Correlation of P(up)'], rows),
  ];
}

export function renderContaminationResults({ horizons, splitDay, verdict }: ContaminationReport): string {
  const rows = horizons.flatMap(({ horizonDays, preEtf, postEtf }) =>
    [preEtf, postEtf].map((era, index) => [
      formatHorizonName(horizonDays),
      index === 0 ? `before ${splitDay}` : `since ${splitDay}`,
      `${era.n}`,
      renderNumber(era.effectiveN, 0),
      era.accuracy === null ? 'none' : formatPercent(era.accuracy),
      era.n > 0 && era.downs === 0 ? SAME_CALLS : formatEstimate(era.edge),
      ...[era.brierSkill, era.crpsSkill, era.recentCrpsSkill].map(formatEstimate),
    ]),
  );
  const head = [
    'Horizon',
    'Days',
    'n',
    'Worth',
    'Right',
    'Less always UP, points (95 %)',
    'Brier skill, % (95 %)',
    'CRPS skill, all returns, % (95 %)',
    'CRPS skill, recent returns, % (95 %)',
  ];
  return [`Contamination: ${verdict}.`, renderMarkdownTable(head, rows)].join('\n\n');
}

function formatEstimate(found: EraFigures['edge']): string {
  return found === null ? 'none' : renderWithInterval(found);
}

export function renderOverfittingResults({ horizons, trials, ledger, verdict }: OverfittingReport): string {
  const recomputable = ledger.filter((row) => row.recomputable).length;
  const head = `Trials: ${trials} are deflated for. ${verdict}`;
  const rows = horizons.map(({ horizonDays, pbo, modelRank, deflatedSharpe }) => [
    formatHorizonName(horizonDays),
    renderNumber(pbo?.probability, 2),
    `${modelRank ?? 'none'} of ${recomputable}`,
    renderNumber(deflatedSharpe?.probability, 2),
  ]);
  const titles = ['Horizon', 'Probability of backtest overfitting', 'Rank of the model by Brier score', 'Deflated Sharpe ratio'];
  return [head, renderMarkdownTable(titles, rows)].join('\n\n');
}

export function renderStabilityResults({ horizons, verdict, draws, scheme }: StabilityReport): string {
  const levels = horizons[0].joint.map(({ levelPct }) => levelPct);
  const rows = horizons.map(({ horizonDays, calls, accuracy, joint, result }) => [
    formatHorizonName(horizonDays),
    `${calls}`,
    accuracy === null ? 'none' : formatPercent(accuracy),
    ...joint.map(({ p95Points }) => renderNumber(p95Points, 1)),
    result ?? 'none',
  ]);
  const head = ['Horizon', 'Calls', 'Right', ...levels.map((level) => `Moved by ${level} %, points`), 'Result'];
  return [`Stability: ${verdict}.`, renderMarkdownTable(head, rows), `${scheme}. 95th percentile of ${draws} draws.`].join('\n\n');
}
