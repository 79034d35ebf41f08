/** A table of Markdown, its columns padded as the formatter of this project has them. */
export function renderMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((cells) => cells[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** One point a line. */
export function renderMarkdownList(points: readonly string[]): string {
  return points.map((point) => `- ${point}`).join('\n');
}

/** `53.4 %`. */
export function renderPercent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** What is not there is told as `none`. */
export function renderNumber(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? 'none' : value.toFixed(digits);
}

/** A difference or skill in hundredths with its interval: `0.17 (-0.32 to 0.68)`. */
export function renderWithInterval({ value, low, high }: { value: number; low: number | null; high: number | null }): string {
  const hundredths = (share: number) => (100 * share).toFixed(2).replace(/^-(0\.00)$/, '$1');
  return low === null || high === null ? hundredths(value) : `${hundredths(value)} (${hundredths(low)} to ${hundredths(high)})`;
}
