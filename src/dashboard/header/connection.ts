import { byId, h, replaceChildren } from '../lib/dom.ts';
import { createTime } from '../lib/local-time.ts';
import { startTimeUpdates } from '../lib/relative-time.ts';
import { watchLimitWait } from '../state/api.ts';
import type { Page } from '../state/page.ts';
import type { ServiceHealth } from '../state/poller.ts';
import { RESOURCE_PATHS } from '../state/resources.ts';
import type { ApiResponses } from '../state/responses.ts';

type ConnectionState = ServiceHealth['state'] | 'failing' | 'limited';

/** Connection status: of the service, and of the requests of this page. Screen readers announce changes only. */
export function mountConnection({ poller, store }: Page) {
  const element = byId('connection');
  const label = h('span', { class: 'connection-label' }, 'Connecting…');
  replaceChildren(element, h('span', { class: 'dot', 'aria-hidden': 'true' }), label);
  let health: ServiceHealth['state'] | null = null;
  let lostAt: string | null = null;
  let limitedUntil: string | null = null;
  let shown = '';
  function draw() {
    if (health === null) return;
    const count = store.countFailing();
    const working = limitedUntil !== null ? 'limited' : count.failing > 0 ? 'failing' : 'up';
    const state: ConnectionState = health === 'up' ? working : health;
    const next = `${state} ${state === 'failing' ? `${count.failing} ${count.of}` : ''} ${limitedUntil}`;
    if (next === shown) return;
    shown = next;
    element.dataset.state = state;
    replaceChildren(label, renderState(state, count, { lostAt, limitedUntil }));
  }
  startTimeUpdates();
  poller.onLook(({ state }) => {
    lostAt = state === 'offline' ? (lostAt ?? new Date().toISOString()) : null;
    health = state;
    draw();
  });
  watchLimitWait((until) => {
    limitedUntil = until?.toISOString() ?? null;
    draw();
  });
  for (const name of Object.keys(RESOURCE_PATHS) as (keyof ApiResponses)[]) store.watch(name, draw);
}

interface Times {
  lostAt: string | null;
  limitedUntil: string | null;
}

function renderState(state: ConnectionState, { failing, of }: { failing: number; of: number }, { lostAt, limitedUntil }: Times) {
  if (state === 'up') return 'Connected';
  if (state === 'starting') return 'Starting up';
  if (state === 'limited') return ['Limit of requests reached; goes on at ', createTime(limitedUntil, 'clock')];
  if (state === 'failing') return `Service has errors: ${failing} of ${of} requests fail`;
  return ['Offline since ', createTime(lostAt, 'clock'), '. Showing earlier data; reconnecting'];
}
