import { s } from '../lib/dom.js';
import { regimeName } from '../record/record-rows.js';
import { canvas, dayTicks, scale, verticalGrid } from './chart.js';
import { textWidth } from './text.js';

/** @import { Run } from '../record/record-rows.js' */

/**
 * A lane of the timeline: a regime and its risk.
 * @typedef {{ regime: Run['regime'], riskLevel: NonNullable<Run['riskLevel']> }} Lane
 */

/** Riskiest above. The levels are those of the interface, section 2.4. @type {readonly Lane[]} */
export const LANES = [
  { regime: 'CRISIS', riskLevel: 'Extreme' },
  { regime: 'BEAR_TREND', riskLevel: 'High' },
  { regime: 'EUPHORIA', riskLevel: 'Elevated' },
  { regime: 'BEAR_RECOVERY', riskLevel: 'Elevated' },
  { regime: 'CHOP', riskLevel: 'Moderate' },
  { regime: 'DEFAULT', riskLevel: 'Moderate' },
  { regime: 'BULL_TREND', riskLevel: 'Low' },
];

/** The colour of a risk. @param {Lane['riskLevel']} riskLevel */
export function riskClass(riskLevel) {
  return `risk-${riskLevel.toLowerCase()}`;
}

const LANE = 26;
const BAR = 16;
const TOP = 4;
const WIDE = 560;

/**
 * A timeline: a lane for each regime, the riskiest above, with a bar while it lasted, and lines where one follows another.
 * @param {{ width: number, runs: readonly Run[] }} options runs: at least one, ascending
 */
export function regimeLanes({ width, runs }) {
  const wide = width >= WIDE;
  const left = Math.max(...LANES.map((lane) => textWidth(nameOf(lane, wide)))) + 12;
  const right = width - 8;
  const bottom = TOP + LANES.length * LANE;
  const [first, last] = [runs[0].first, runs[runs.length - 1].last];
  const x = scale([first, last + 1], [left, right]);
  const ticks = dayTicks(first, last, Math.max(2, Math.floor((right - left) / 84))).map(({ day, label }) => ({ at: x(day), label }));
  return canvas(
    { width, height: bottom + 26 },
    LANES.flatMap((lane, index) => laneOf({ lane, wide, y: TOP + index * LANE, right })),
    verticalGrid({ ticks, top: TOP, bottom, width }),
    runs
      .slice(1)
      .map((run, index) =>
        s('line', { class: 'change', x1: x(run.first), x2: x(run.first), y1: middleOf(runs[index]), y2: middleOf(run) }),
      ),
    runs.map((run) =>
      s('rect', {
        class: `run ${riskClass(LANES[laneIndex(run)].riskLevel)}`,
        x: x(run.first).toFixed(1),
        y: middleOf(run) - BAR / 2,
        width: Math.max(2, x(run.last + 1) - x(run.first)).toFixed(1),
        height: BAR,
        rx: 2,
      }),
    ),
  );
}

/** @param {Run} run */
function laneIndex({ regime }) {
  return LANES.findIndex((lane) => lane.regime === regime);
}

/** @param {Run} run */
function middleOf(run) {
  return TOP + laneIndex(run) * LANE + LANE / 2;
}

/** @param {Lane} lane @param {boolean} wide */
function nameOf({ regime, riskLevel }, wide) {
  return wide ? `${regimeName(regime)}, ${riskLevel.toLowerCase()} risk` : regimeName(regime);
}

/** @param {{ lane: Lane, wide: boolean, y: number, right: number }} options */
function laneOf({ lane, wide, y, right }) {
  return [
    s('line', { class: 'lane', x1: 0, x2: right, y1: y + LANE, y2: y + LANE }),
    s('text', { x: 0, y: y + LANE / 2, dy: '0.35em', 'aria-hidden': 'true' }, nameOf(lane, wide)),
  ];
}
