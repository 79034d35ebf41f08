import type { IntervalEstimate } from '../../forecast/math/block-bootstrap.ts';

/** A Markdown table with padded columns, as the formatter writes it. */
export function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((cells) => cells[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

export function renderMarkdownList(points: readonly string[]): string {
  return points.map((point) => `- ${point}`).join('\n');
}

export function renderNumber(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? 'none' : value.toFixed(digits);
}

/** A difference or skill in percent with its interval: `0.17 (-0.32 to 0.68)`. */
export function renderWithInterval({ value, low, high }: IntervalEstimate): string {
  const hundredths = (share: number) => (100 * share).toFixed(2).replace(/^-(0\.00)$/, '$1');
  return low === null || high === null ? hundredths(value) : `${hundredths(value)} (${hundredths(low)} to ${hundredths(high)})`;
}
