import { el } from '../../../views/markup.ts';
import { formatRegime } from '../../lib/format-text.ts';
import type { RegimeRun } from '../../record/record-rows.ts';
import { createChartSvg, createScale, placeDayTicks, renderVerticalGrid } from '../chart.ts';
import { measureTextWidth } from '../text-layout.ts';
import type { Plot } from './time-frame.ts';

/** A lane of the timeline. */
interface Lane {
  regime: RegimeRun['regime'];
  riskLevel: NonNullable<RegimeRun['riskLevel']>;
}

/** Riskiest first. Interface, section 2.4. */
export const LANES: readonly Lane[] = [
  { regime: 'CRISIS', riskLevel: 'Extreme' },
  { regime: 'BEAR_TREND', riskLevel: 'High' },
  { regime: 'EUPHORIA', riskLevel: 'Elevated' },
  { regime: 'BEAR_RECOVERY', riskLevel: 'Elevated' },
  { regime: 'CHOP', riskLevel: 'Moderate' },
  { regime: 'DEFAULT', riskLevel: 'Moderate' },
  { regime: 'BULL_TREND', riskLevel: 'Low' },
];

export function getRiskClass(riskLevel: Lane['riskLevel']) {
  return `risk-${riskLevel.toLowerCase()}`;
}

const LANE_HEIGHT = 26;
const BAR_HEIGHT = 16;
const TOP = 4;
const WIDE_FROM_PX = 560;

interface RegimeTimelineOptions {
  width: number;
  /** At least one, ascending. */
  runs: readonly RegimeRun[];
  /** First day to draw; earlier ones are cut off. */
  from: number;
}

/** A lane per regime, with a bar for each period and lines at the changes. */
export function renderRegimeTimeline({ width, runs, from }: RegimeTimelineOptions): Plot {
  const wide = width >= WIDE_FROM_PX;
  const left = Math.max(...LANES.map((lane) => measureTextWidth(formatLaneName(lane, wide)))) + 12;
  const right = width - 8;
  const bottom = TOP + LANES.length * LANE_HEIGHT;
  const [first, last] = [Math.max(from, runs[0].first), runs[runs.length - 1].last];
  const x = createScale([first, last + 1], [left, right]);
  const starts = runs.map((run) => x(Math.max(first, run.first)));
  const svg = createChartSvg(
    { width, height: bottom + 26 },
    LANES.flatMap((lane, index) => renderLane({ lane, wide, y: TOP + index * LANE_HEIGHT, right })),
    renderVerticalGrid({ ticks: placeDayTicks(x, [left, right], [first, last]), top: TOP, bottom, width }),
    runs.slice(1).map((run, index) => renderChange(starts[index + 1], runs[index], run)),
    runs.map((run, index) => renderRun({ run, start: starts[index], end: x(run.last + 1), className: getRunClass(run) })),
  );
  return {
    svg,
    xs: starts,
    isStepped: true,
    mark: (index) => renderRun({ run: runs[index], start: starts[index], end: x(runs[index].last + 1), className: 'ring' }),
  };
}

function renderChange(x: number, before: RegimeRun, after: RegimeRun) {
  return el('line', { class: 'change', x1: x, x2: x, y1: computeLaneMiddle(before), y2: computeLaneMiddle(after) });
}

function getRunClass(run: RegimeRun) {
  return `run ${getRiskClass(LANES[findLaneIndex(run)].riskLevel)}`;
}

/** A bar of at least two pixels. @param options pixels */
function renderRun({ run, start, end, className }: { run: RegimeRun; start: number; end: number; className: string }) {
  const width = Math.max(2, end - start);
  return el('rect', {
    class: className,
    x: Math.min(start, end - width).toFixed(1),
    y: computeLaneMiddle(run) - BAR_HEIGHT / 2,
    width: width.toFixed(1),
    height: BAR_HEIGHT,
    rx: 2,
  });
}

function findLaneIndex({ regime }: RegimeRun) {
  return LANES.findIndex((lane) => lane.regime === regime);
}

function computeLaneMiddle(run: RegimeRun) {
  return TOP + findLaneIndex(run) * LANE_HEIGHT + LANE_HEIGHT / 2;
}

function formatLaneName({ regime, riskLevel }: Lane, wide: boolean) {
  return wide ? `${formatRegime(regime)}, ${riskLevel.toLowerCase()} risk` : formatRegime(regime);
}

function renderLane({ lane, wide, y, right }: { lane: Lane; wide: boolean; y: number; right: number }) {
  return [
    el('line', { class: 'lane', x1: 0, x2: right, y1: y + LANE_HEIGHT, y2: y + LANE_HEIGHT }),
    el('text', { x: 0, y: y + LANE_HEIGHT / 2, dy: '0.35em', 'aria-hidden': 'true' }, formatLaneName(lane, wide)),
  ];
}
