import { h } from '../lib/dom.ts';
import { formatPercent } from '../lib/format.ts';
import { formatDayAndMonth } from '../lib/format-text.ts';
import { createRelativeTime } from '../lib/relative-time.ts';
import type { ApiResponses } from '../state/responses.ts';

/** Progress from commitment to the end of the outcome window. The opening is drawn in the middle, whatever the lengths. */
export function renderCallWindow(
  { timestamp, windowOpensAt, resolvesAt }: Pick<ApiResponses['signal'], 'timestamp' | 'windowOpensAt' | 'resolvesAt'>,
  now = Date.now(),
) {
  const [made, opens, ends] = [timestamp, windowOpensAt, resolvesAt].map((time) => Date.parse(time));
  const [waited, passed] = [computePassedShare(made, opens, now), computePassedShare(opens, ends, now)];
  return h('div', { class: 'window' }, [
    h('progress', {
      max: 1,
      value: (waited + passed) / 2,
      'aria-label': 'Progress from commitment to the end of the window',
      'aria-valuetext': waited < 1 ? 'The window has not opened yet' : `${formatPercent(passed, 0)} of the window has passed`,
    }),
    h('ol', {}, [
      renderWindowStop('Made', timestamp, now),
      renderWindowStop('Window opens', windowOpensAt, now),
      renderWindowStop('Window ends', resolvesAt, now),
    ]),
  ]);
}

/** 0 to 1. */
export function computePassedShare(from: number, to: number, now: number) {
  if (now >= to) return 1;
  return Math.max(0, (now - from) / (to - from));
}

function renderWindowStop(what: string, time: string, now: number) {
  const over = Date.parse(time) <= now;
  return h('li', { class: over ? 'over' : null }, [
    h('strong', {}, what),
    h('span', {}, createRelativeTime(time)),
    h('span', { class: 'quiet' }, `${formatDayAndMonth(time)}, ${time.slice(11, 16)} UTC`),
  ]);
}
