import { el } from '../../views/markup.ts';
import { formatPercent } from '../lib/format.ts';
import { buildLinePath, createChartSvg, createScale, renderHorizontalGrid, renderVerticalGrid } from './chart.ts';
import { measureTextWidth } from './text-layout.ts';

/** Predicted and observed frequency, 0 to 1, with the interval of the observed one. `label` is drawn where there is room. */
interface CalibrationPoint {
  said: number;
  happened: number;
  low: number;
  high: number;
  label: string;
}

const MAX_WIDTH = 400;
const MARGIN = { top: 24, right: 30, bottom: 40, left: 46 };

interface CalibrationDiagramOptions {
  width: number;
  points: readonly CalibrationPoint[];
  saidTitle: string;
  happenedTitle: string;
}

/** Calibration diagram: predicted frequency on x, observed on y, perfect calibration on the diagonal. */
export function renderCalibrationDiagram({ width, points, saidTitle, happenedTitle }: CalibrationDiagramOptions) {
  const side = Math.min(width, MAX_WIDTH) - MARGIN.left - MARGIN.right;
  const left = MARGIN.left;
  const bottom = MARGIN.top + side;
  const x = createScale([0, 1], [left, left + side], 4);
  const y = createScale([0, 1], [bottom, MARGIN.top], 4);
  const ticks = x.ticks.map((value) => ({ at: x(value), label: formatPercent(value, 0) }));
  return createChartSvg(
    { width: Math.min(width, MAX_WIDTH), height: bottom + MARGIN.bottom },
    renderHorizontalGrid({ y, left, right: left + side, label: (value) => formatPercent(value, 0) }),
    renderVerticalGrid({ ticks, top: MARGIN.top, bottom, width: Math.min(width, MAX_WIDTH) }),
    el('text', { class: 'axis-title', x: 0, y: 12 }, happenedTitle),
    el('text', { class: 'axis-title', x: left + side, y: bottom + 34, 'text-anchor': 'end' }, saidTitle),
    el('path', {
      class: 'diagonal',
      d: buildLinePath([
        [x(0), y(0)],
        [x(1), y(1)],
      ]),
    }),
    points.length < 2
      ? null
      : el('path', { class: 'line thin', d: buildLinePath(points.map(({ said, happened }) => [x(said), y(happened)])) }),
    points.map((point) => renderPoint({ point, at: x(point.said), y })),
    renderLabels({ points, x, y, right: left + side + MARGIN.right }),
  );
}

function renderPoint({ point: { low, high, happened }, at, y }: { point: CalibrationPoint; at: number; y: (value: number) => number }) {
  return el('g', { class: 'estimate' }, [
    el('line', { class: 'interval', x1: at, x2: at, y1: y(low), y2: y(high) }),
    [low, high].map((end) => el('line', { class: 'interval', x1: at - 4, x2: at + 4, y1: y(end), y2: y(end) })),
    el('circle', { class: 'dot', cx: at, cy: y(happened), r: 5 }),
  ]);
}

interface LabelsOptions {
  points: readonly CalibrationPoint[];
  x: (value: number) => number;
  y: (value: number) => number;
  right: number;
}

/** Leaves out labels that would overlap; the table has them all. */
function renderLabels({ points, x, y, right }: LabelsOptions) {
  return points.map(({ said, happened, label }, index) => {
    const at = x(said) + 10;
    const next = index + 1 < points.length ? x(points[index + 1].said) - 6 : right;
    return at + measureTextWidth(label) > next ? null : el('text', { class: 'halo', x: at, y: y(happened), dy: '0.35em' }, label);
  });
}
