import type { ArchiveHealth, ArchiveReport } from '../../../market/archive/archive-report.ts';

const MAX_LISTED_GAPS = 10;

/** One line a series and provider, the gaps, and the state of each collection. */
export function formatArchive(series: readonly ArchiveReport[], collection: readonly ArchiveHealth[]): string {
  const lines = [
    formatRow(['series', 'provider', 'first', 'last', 'count', 'revised', 'gaps', 'masked last']),
    ...series.map(({ gaps, revisions, first, last, masked, count, ...row }) =>
      formatRow([row.series, row.provider, first ?? '-', last ?? '-', count, revisions, gaps.length, masked]),
    ),
    ...series.filter(({ gaps }) => gaps.length > 0).map(formatGaps),
    '',
    ...collection.map(formatHealth),
  ];
  return `${lines.join('\n')}\n`;
}

const WIDTHS = [13, 17, 12, 12, 7, 9, 6, 0];

function formatRow(cells: readonly (string | number)[]): string {
  return cells
    .map((cell, index) => String(cell).padEnd(WIDTHS[index]))
    .join('')
    .trimEnd();
}

function formatGaps({ series, provider, gaps }: ArchiveReport): string {
  const more = gaps.length > MAX_LISTED_GAPS ? `, and ${gaps.length - MAX_LISTED_GAPS} more` : '';
  return `no ${series} of ${provider}: ${gaps.slice(0, MAX_LISTED_GAPS).join(', ')}${more}`;
}

function formatHealth({ series, title, lastOkAt, failures, lastError }: ArchiveHealth): string {
  const state = lastError === null ? `collected ${lastOkAt?.toISOString() ?? 'never'}` : `failed ${failures} times in a row: ${lastError}`;
  return `${series} (${title}): ${state}`;
}
