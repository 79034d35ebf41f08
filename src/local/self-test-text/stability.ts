import type { StabilityReport } from '../../forecast/backtest/stability.ts';
import { figure, paragraph, percent, textTable } from './table.ts';

/** So many single thresholds are shown: the rest changes less. */
const SHOWN = 12;

/** What moving the thresholds does, as a person reads it. */
export function stabilityText(report: StabilityReport): string {
  const { draws, seed, scheme, note, verdict } = report;
  return [
    `Stability: ${report.result ?? 'not known'}, ${draws} draws of each level, seed ${seed}`,
    scheme,
    ...(note === null ? [] : [paragraph(note)]),
    jointTable(report),
    singleTable(report),
    paragraph(verdict),
  ].join('\n\n');
}

function jointTable({ horizons }: StabilityReport): string {
  const rows = horizons.flatMap(({ horizonDays, calls, accuracy, result, joint }) =>
    joint.map(({ levelPct, p50Points, p95Points, maxPoints }) => [
      ...[`${horizonDays}d`, String(calls), percent(accuracy), `${levelPct} %`],
      ...[figure(p50Points, 2), figure(p95Points, 2), figure(maxPoints, 2), result ?? '-'],
    ]),
  );
  const titles = ['horizon', 'calls', 'right', 'level', 'median', '95th percentile', 'largest', 'result'];
  return `All thresholds together: change in the accuracy of calls, points\n${textTable(titles, rows)}`;
}

function singleTable({ single }: StabilityReport): string {
  const horizons = single[0]?.horizons ?? [];
  const titles = [
    'threshold',
    'value',
    'moved',
    ...horizons.flatMap(({ horizonDays }) => [`${horizonDays}d points`, `${horizonDays}d calls`]),
  ];
  const rows = single
    .slice(0, SHOWN)
    .map((effect) => [
      ...[effect.threshold, String(effect.value), `${effect.changePct} %`],
      ...effect.horizons.flatMap(({ accuracyChangePoints, callsChange }) => [figure(accuracyChangePoints, 2), String(callsChange)]),
    ]);
  return `One threshold at a time, the ${SHOWN} largest effects\n${textTable(titles, rows)}`;
}
