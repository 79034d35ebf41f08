import { SERIES_MEASURE_NAMES } from '../../forecast/statistics/series/score-series.ts';
import type { RecordSeriesPoint } from './record-series.ts';

const WINDOWS = ['cumulative', 'rolling'] as const;
const BOUNDS = ['value', 'low', 'high'] as const;

/** Header and a line a point; an unknown number is an empty cell. Cells are dates, numbers and names, which need no quotes. */
export function renderSeriesCsv(points: readonly RecordSeriesPoint[]): string {
  const figures = WINDOWS.flatMap((window) =>
    SERIES_MEASURE_NAMES.flatMap((measure) => BOUNDS.map((bound) => ({ window, measure, bound, name: `${window}_${measure}_${bound}` }))),
  );
  const pairs = (points[0]?.evidence ?? []).map(({ challenger, against }) => `${challenger}_against_${against}`);
  const header = ['date', 'n', ...figures.map(({ name }) => name), ...pairs.flatMap((pair) => [`e_better_${pair}`, `e_worse_${pair}`])];
  const lines = points.map((point) => [
    point.date,
    point.n,
    ...figures.map(({ window, measure, bound }) => point[window][measure][bound] ?? ''),
    ...point.evidence.flatMap(({ eBetter, eWorse }) => [eBetter, eWorse]),
  ]);
  return `${[header, ...lines].map((cells) => cells.join(',')).join('\r\n')}\r\n`;
}
