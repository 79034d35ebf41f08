import type { StabilityReport } from '../../../forecast/backtest/stability/report.ts';
import { formatCell, formatCells, formatPercentCell, formatTextTable, wrapParagraph } from './table.ts';

const MAX_ROWS = 12;

export function formatStability(report: StabilityReport): string {
  const { draws, seed, scheme, note, verdict } = report;
  return [
    `Stability: ${report.result ?? 'not known'}, ${draws} draws of each level, seed ${seed}`,
    scheme,
    ...(note === null ? [] : [wrapParagraph(note)]),
    formatJointTable(report),
    formatSingleTable(report),
    wrapParagraph(verdict),
  ].join('\n\n');
}

function formatJointTable({ horizons }: StabilityReport): string {
  const rows = horizons.flatMap(({ horizonDays, calls, accuracy, result, joint }) =>
    joint.map(({ levelPct, p50Points, p95Points, maxPoints }) => {
      const changes = formatCells([p50Points, p95Points, maxPoints], 2);
      return [`${horizonDays}d`, String(calls), formatPercentCell(accuracy), `${levelPct} %`, ...changes, result ?? '-'];
    }),
  );
  const titles = ['horizon', 'calls', 'right', 'level', 'median', '95th percentile', 'largest', 'result'];
  return `All thresholds together: change in the accuracy of calls, points\n${formatTextTable(titles, rows)}`;
}

function formatSingleTable({ single }: StabilityReport): string {
  const horizons = single[0]?.horizons ?? [];
  const columns = horizons.flatMap(({ horizonDays }) => [`${horizonDays}d points`, `${horizonDays}d calls`]);
  const rows = single.slice(0, MAX_ROWS).map(({ threshold, value, changePct, horizons: effects }) => {
    const changes = effects.flatMap(({ accuracyChangePoints, callsChange }) => [formatCell(accuracyChangePoints, 2), String(callsChange)]);
    return [threshold, String(value), `${changePct} %`, ...changes];
  });
  const titles = ['threshold', 'value', 'moved', ...columns];
  return `One threshold at a time, the ${MAX_ROWS} largest effects\n${formatTextTable(titles, rows)}`;
}
