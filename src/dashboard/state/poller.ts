import { ApiProblem, requestApi } from './api.ts';
import { notifyAll } from './notify.ts';
import type { ApiResponses, HealthReport, StartupStatus } from './responses.ts';
import type { Store } from './store.ts';

export interface ServiceHealth {
  state: 'up' | 'starting' | 'offline';
  detail: string;
  setup: StartupStatus | null;
  uptimeSeconds: number;
  /** Resources other than `health` are served; before that they return 503. */
  isOpen: boolean;
}

type Name = keyof ApiResponses;

/** Change with the record. */
const RECORD_RESOURCES: readonly Name[] = ['signal', 'range', 'scorecard', 'series', 'challenge', 'wagers', 'crowd'];
const ALL_RESOURCES: readonly Name[] = ['info', 'stats', 'price', 'selfTests', 'feeds', ...RECORD_RESOURCES];
/** Filled during a replay. */
const REPLAY_RESOURCES: readonly Name[] = ['signal', 'range', 'scorecard', 'series'];
const MINUTE_RESOURCES: readonly Name[] = ['stats', 'price'];

/** `health` is not rate limited; other resources are. */
const POLL_INTERVAL_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const REPLAY_REFRESH_MS = 6_000;
const MINUTE_MS = 60_000;
/** Maximum age of resources that change independently of the record. */
const MAX_AGE_MS: readonly (readonly [Name, number])[] = [
  ['feeds', 5 * MINUTE_MS],
  ['selfTests', 60 * MINUTE_MS],
];

export type Poller = ReturnType<typeof createPoller>;

/** Polls the health of the service and refreshes resources that changed; all of them after an outage. */
export function createPoller(store: Store) {
  const listeners = new Set<(health: ServiceHealth) => void>();
  let health: ServiceHealth = { state: 'offline', detail: 'connecting', setup: null, uptimeSeconds: 0, isOpen: false };
  // The service was down or has restarted since the last full refresh, possibly while the page was hidden.
  let wasUnavailable = true;
  let filledAt = 0;
  let minuteAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function poll() {
    clearTimeout(timer);
    try {
      await pollOnce();
    } catch (error) {
      reportError(error);
    } finally {
      // Polling continues after any error.
      clearTimeout(timer);
      timer = setTimeout(poll, POLL_INTERVAL_MS[health.state]);
    }
  }

  async function pollOnce() {
    const before = health;
    health = await fetchHealth();
    if (health.state !== 'up' || health.uptimeSeconds < before.uptimeSeconds) wasUnavailable = true;
    notifyAll(listeners, health);
    // A hidden page does not refresh.
    if (!document.hidden) await refreshStale();
  }

  async function refreshStale() {
    const now = Date.now();
    if (health.state === 'up' && wasUnavailable) {
      wasUnavailable = false;
      filledAt = minuteAt = now;
      await store.refreshAll(listUnprimed(now));
    } else if (health.state === 'starting' && health.isOpen && now - filledAt >= REPLAY_REFRESH_MS) {
      const first = filledAt === 0;
      filledAt = now;
      await store.refreshAll(first ? ALL_RESOURCES : REPLAY_RESOURCES);
    } else if (health.state === 'up' && now - minuteAt >= MINUTE_MS) {
      minuteAt = now;
      await refreshEachMinute(now);
    } else if (health.state === 'up') {
      // The service answers again.
      await store.refreshAll(store.inTrouble().filter((name) => store.get(name).problem?.code === 'UNREACHABLE'));
    }
  }

  /** All but what came with the page just now, which the next minute requests. */
  function listUnprimed(now: number) {
    const fresh = store.listPrimed().filter((name) => now - (store.get(name).at?.getTime() ?? 0) < MINUTE_MS);
    return ALL_RESOURCES.filter((name) => !fresh.includes(name));
  }

  /** A changed attestation count means that the record has changed. */
  async function refreshEachMinute(now: number) {
    const { answer: before } = store.get('stats');
    const names = new Set([...MINUTE_RESOURCES, ...store.inTrouble(), ...store.listPrimed(), ...listStale(now)]);
    // Respects Retry-After.
    await store.refreshAll([...names].filter((name) => store.get(name).retryAt <= now));
    const { answer: after } = store.get('stats');
    if (before?.totalAttestations !== after?.totalAttestations) await store.refreshAll([...RECORD_RESOURCES, 'selfTests', 'feeds']);
  }

  function listStale(now: number) {
    return MAX_AGE_MS.filter(([name, ms]) => now - (store.get(name).at?.getTime() ?? now) >= ms).map(([name]) => name);
  }

  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void poll();
  });

  return {
    start: poll,
    /** Refreshes the resources that change with the record. */
    recordMoved: () => store.refreshAll(['stats', ...RECORD_RESOURCES]),
    /** @param listener called after each poll */
    onLook(listener: (health: ServiceHealth) => void) {
      listeners.add(listener);
    },
  };
}

/** `health` always returns 200; browsers log other statuses as errors. */
async function fetchHealth(): Promise<ServiceHealth> {
  try {
    const health = await requestApi<HealthReport>('health');
    const { status, setup } = health;
    const uptimeSeconds = health.status === 'ok' ? health.uptimeSeconds : 0;
    if (setup === null) return { state: 'up', detail: 'up to date', setup, uptimeSeconds, isOpen: true };
    return { state: 'starting', detail: setup.what, setup, uptimeSeconds, isOpen: status === 'ok' };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return { state: 'offline', detail: error.message, setup: null, uptimeSeconds: 0, isOpen: false };
  }
}
