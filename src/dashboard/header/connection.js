import { byId, h, replaceChildren } from '../lib/dom.js';
import { formatUtcTime } from '../lib/format.js';
import { startTimeUpdates } from '../lib/relative-time.js';

/** @import { ServiceHealth } from '../state/poller.js' */
/** @import { Page } from '../parts/main.js' */

/** Connection status. Screen readers announce changes only; the time of the last poll is visual. @param {Page} page */
export function mountConnection({ poller }) {
  const element = byId('connection');
  const label = h('span', {}, 'Connecting…');
  const checked = h('span', { class: 'checked', 'aria-hidden': 'true' });
  element.dataset.state = 'starting';
  replaceChildren(element, h('span', { class: 'dot', 'aria-hidden': 'true' }), label, checked);
  /** @type {string | null} */
  let lostAt = null;
  startTimeUpdates();
  poller.onLook((health) => {
    const now = new Date().toISOString();
    lostAt = health.state === 'offline' ? (lostAt ?? now) : null;
    element.dataset.state = health.state;
    const next = formatHealth(health, lostAt);
    if (label.textContent !== next) label.textContent = next;
    checked.textContent = health.state === 'up' ? now.slice(11, 16).concat(' UTC') : '';
  });
}

/** @param {ServiceHealth} health @param {string | null} lostAt */
function formatHealth({ state }, lostAt) {
  if (state === 'up') return 'Connected';
  if (state === 'starting') return 'Starting up';
  return `Offline since ${formatUtcTime(lostAt).slice(11)}. Showing earlier data; reconnecting`;
}
