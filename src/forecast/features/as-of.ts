import type { Day } from '../day.ts';
import { type BusinessDaySeries, countUntil } from '../input-frame.ts';

/** Observations are read from the day after their date, since ETF flows are published after 21:35 UTC; all series share this lag. */
const LAG_DAYS = 1;
const STALE_DAYS = 7;

/** Fills a daily column from row `from` with `valueAt(values, last)` of the last observation known on the day; NaN if none or stale. */
export function fillAsOf(
  series: BusinessDaySeries,
  table: { firstDay: Day; length: number },
  column: Float64Array,
  from: number,
  valueAt: (values: Float64Array, last: number) => number,
): void {
  let last = countUntil(series.days, table.firstDay + from - LAG_DAYS) - 1;
  let value = last < 0 ? Number.NaN : valueAt(series.values, last);
  for (let row = from; row < table.length; row++) {
    const day = table.firstDay + row;
    const before = last;
    while (series.days[last + 1] <= day - LAG_DAYS) last++;
    if (last !== before) value = valueAt(series.values, last);
    column[row] = last >= 0 && day - series.days[last] <= STALE_DAYS ? value : Number.NaN;
  }
}
