/** Both ends of the axis. */
export interface Axis {
  min: number;
  max: number;
}

const BAR_CHARS = 21;

/** `    |---o------|      `: an estimate with its interval on a common axis; empty without one. */
export function formatErrorBar(
  value: number | null,
  range: { low: number | null; high: number | null } | null,
  { min, max }: Axis,
): string {
  if (value === null || range === null || range.low === null || range.high === null || !(max > min)) return '';
  const place = (at: number) => Math.round((Math.min(max, Math.max(min, at)) - min) * ((BAR_CHARS - 1) / (max - min)));
  const [low, middle, high] = [place(range.low), place(value), place(range.high)];
  return Array.from({ length: BAR_CHARS }, (_, at) => {
    if (at === middle) return 'o';
    if (at === low || at === high) return '|';
    return at > low && at < high ? '-' : ' ';
  }).join('');
}
