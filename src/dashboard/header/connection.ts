import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatUtcTime } from '../lib/format.ts';
import { startTimeUpdates } from '../lib/relative-time.ts';
import type { Page } from '../state/page.ts';
import type { ServiceHealth } from '../state/poller.ts';

/** Connection status. Screen readers announce changes only; the time of the last poll is visual. */
export function mountConnection({ poller }: Page) {
  const element = byId('connection');
  const label = h('span', {}, 'Connecting…');
  const checked = h('span', { class: 'checked', 'aria-hidden': 'true' });
  element.dataset.state = 'starting';
  replaceChildren(element, h('span', { class: 'dot', 'aria-hidden': 'true' }), label, checked);
  let lostAt: string | null = null;
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

function formatHealth({ state }: ServiceHealth, lostAt: string | null) {
  if (state === 'up') return 'Connected';
  if (state === 'starting') return 'Starting up';
  return `Offline since ${formatUtcTime(lostAt).slice(11)}. Showing earlier data; reconnecting`;
}
