import { el } from '../../../views/markup.ts';
import type { ApiResponses } from '../../state/responses.ts';
import { buildLinePath, type Scale } from '../chart.ts';
import { createTimeFrame, type Plot, renderCrosshair, renderFrame, renderReference } from './time-frame.ts';

export type CrowdWeek = ApiResponses['crowd']['weeks'][number] & { day: number };

/** Pixels from the axis to the middle of a result's triangle, and half its height. */
const [RESULT_OFFSET, RESULT_RADIUS] = [9, 4];

/**
 * Both probabilities of each weekly question, and its result as a triangle at the top (YES) or bottom (NO).
 * @param options `points`: at least one, ascending
 */
export function renderCrowdChart({ width, points }: { width: number; points: readonly CrowdWeek[] }): Plot {
  const frame = createTimeFrame({
    width,
    height: 240,
    days: [points[0].day, points[points.length - 1].day],
    values: [0, 1],
    tick: (value) => `${Math.round(100 * value)} %`,
    padding: RESULT_OFFSET + RESULT_RADIUS + 1,
  });
  const { x, y } = frame;
  return {
    svg: renderFrame(
      frame,
      renderReference(frame, 0.5),
      points.map((week) => renderWeekMarks(week, { at: x(week.day), y })),
    ),
    xs: points.map(({ day }) => x(day)),
    mark: (index) => renderCrosshair(frame, x(points[index].day)),
  };
}

function renderWeekMarks({ marketProbability, oracleProbability, winner }: CrowdWeek, { at, y }: { at: number; y: Scale }) {
  const [crowd, oracle] = [y(marketProbability), oracleProbability === null ? null : y(oracleProbability)];
  return [
    oracle === null ? null : el('line', { class: 'between', x1: at.toFixed(1), x2: at.toFixed(1), y1: crowd, y2: oracle }),
    el('rect', { class: 'crowd-mark', x: (at - 4).toFixed(1), y: (crowd - 4).toFixed(1), width: 8, height: 8 }),
    oracle === null ? null : el('circle', { class: 'dot', cx: at.toFixed(1), cy: oracle.toFixed(1), r: 5 }),
    winner === null ? null : renderResult(at, winner === 'YES' ? y(1) - RESULT_OFFSET : y(0) + RESULT_OFFSET, winner === 'YES' ? -1 : 1),
  ];
}

/** A triangle that points up (-1) or down (1). */
function renderResult(x: number, y: number, way: 1 | -1) {
  const corners = [
    [x - 5, y - RESULT_RADIUS * way],
    [x + 5, y - RESULT_RADIUS * way],
    [x, y + RESULT_RADIUS * way],
  ] as const;
  return el('path', { class: 'came-true', d: `${buildLinePath(corners)}Z` });
}
