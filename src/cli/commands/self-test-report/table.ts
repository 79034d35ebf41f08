export function formatTextTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, index) => Math.max(title.length, ...rows.map((row) => row[index].length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index]) : cell.padStart(widths[index])))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

export function formatCell(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? '-' : value.toFixed(digits);
}

export function formatCells(values: readonly (number | null | undefined)[], digits: number): string[] {
  return values.map((value) => formatCell(value, digits));
}

export function formatPercentCell(share: number | null | undefined, digits = 1): string {
  return share === null || share === undefined ? '-' : `${(100 * share).toFixed(digits)} %`;
}

/** A difference or skill in percent, with its 95 % interval if known. */
export function formatSkillCell({ value, low, high }: { value: number; low: number | null; high: number | null }): string {
  return low === null || high === null
    ? formatPercentCell(value, 2)
    : `${formatPercentCell(value, 2)} [${(100 * low).toFixed(2)}, ${(100 * high).toFixed(2)}]`;
}

export function formatIntervalCell(bounds: { low: number; high: number } | null): string {
  return bounds === null ? '-' : `[${bounds.low.toFixed(3)}, ${bounds.high.toFixed(3)}]`;
}

const WIDTH = 100;

export function wrapParagraph(text: string): string {
  return text.replaceAll(new RegExp(`(?=.{${WIDTH}})(.{1,${WIDTH - 1}})\\s+`, 'g'), '$1\n');
}
