import { ago } from './ago.js';
import { h } from './dom.js';
import { dayAndMonth } from './words.js';

/** @import { Answers } from './answers.ts' */

/**
 * The life of a forecast: made, window opens, window ends; and how far it is.
 * @param {Pick<Answers['signal'], 'timestamp' | 'windowOpensAt' | 'resolvesAt'>} signal
 */
export function windowOf({ timestamp, windowOpensAt, resolvesAt }, now = Date.now()) {
  const [from, to] = [Date.parse(windowOpensAt), Date.parse(resolvesAt)];
  const passed = Math.min(1, Math.max(0, (now - from) / (to - from)));
  return h(
    'div',
    { class: 'window' },
    h('progress', { max: 1, value: passed, 'aria-label': `Part of the outcome window that has passed: ${Math.round(100 * passed)} %` }),
    h('ol', {}, stop('Made', timestamp, now), stop('Window opens', windowOpensAt, now), stop('Window ends', resolvesAt, now)),
  );
}

/** @param {string} what @param {string} time @param {number} now */
function stop(what, time, now) {
  const over = Date.parse(time) <= now;
  return h(
    'li',
    { class: over ? 'over' : null },
    h('strong', {}, what),
    h('span', {}, ago(time)),
    h('span', { class: 'quiet' }, `${dayAndMonth(time)}, ${time.slice(11, 16)} UTC`),
  );
}
