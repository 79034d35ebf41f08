import { formatPercentOrDash, formatRange, NONE } from '../text/amounts.ts';
import { formatErrorBar } from '../text/error-bar.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import type { TerminalWriter } from '../text/style.ts';
import { formatRecords, type RecordColumn } from '../text/table.ts';
import type { HorizonScores } from './horizon-scores.ts';

const HORIZON_COLUMNS: readonly RecordColumn<HorizonScores>[] = [
  { title: 'horizon', cell: ({ horizon }) => horizon },
  { title: 'forecasts', right: true, spare: 3, cell: ({ total }) => String(total) },
  { title: 'scored', right: true, cell: ({ resolved }) => String(resolved) },
  { title: 'right', right: true, cell: ({ wins }) => String(wins) },
  { title: 'accuracy', right: true, cell: ({ accuracy }) => formatPercentOrDash(accuracy) },
  { title: '95 % interval', right: true, spare: 0, cell: ({ accuracyInterval95 }) => formatRange(accuracyInterval95) },
  {
    title: '0 %      50 %   100 %',
    spare: 1,
    cell: ({ accuracy, accuracyInterval95, resolved }) =>
      formatErrorBar(resolved === 0 ? null : accuracy, accuracyInterval95, { min: 0, max: 1 }),
  },
  { title: 'HOLD', right: true, spare: 4, cell: ({ holds }) => String(holds) },
  { title: 'committed', right: true, spare: 5, cell: ({ pending }) => String(pending) },
  { title: 'Brier', right: true, spare: 2, cell: ({ brier }) => (brier === null ? NONE : brier.model.toFixed(4)) },
  { title: 'base rate', right: true, spare: 6, cell: ({ brier }) => (brier === null ? NONE : brier.climatology.toFixed(4)) },
];

export function formatHorizonTable(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return formatRecords(HORIZON_COLUMNS, scores, writer);
}

/** The record of all horizons: a table with error bars, and the verdict of each. */
export function formatHorizonScores(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return [
    writer.paint('bold', 'Record of all horizons'),
    '',
    ...formatHorizonTable(scores, writer),
    '',
    ...formatFacts(
      scores.map(({ horizon, verdict }) => [horizon, `${verdict}.`]),
      writer,
    ),
    '',
    ...wrapText('svc scorecard --horizon 7d lists its forecasts', writer.width).map((line) => writer.paint('dim', line)),
  ];
}
