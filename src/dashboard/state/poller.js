import { ApiProblem, requestApi } from './api.js';
import { notifyAll } from './notify.js';

/** @import { ApiResponses, StartupStatus } from './responses.ts' */
/** @import { Store } from './store.js' */

/**
 * @typedef {{ state: 'up' | 'starting' | 'offline', detail: string, setup: StartupStatus | null, uptimeSeconds: number, isOpen: boolean }}
 * ServiceHealth `isOpen`: resources other than `health` are served; before that they return 503
 */

/** @typedef {keyof ApiResponses} Name */

/** @type {readonly Name[]} change with the record */
const RECORD_RESOURCES = ['signal', 'scorecard', 'wagers', 'crowd'];
/** @type {readonly Name[]} */
const ALL_RESOURCES = ['info', 'stats', 'price', 'selfTests', 'feeds', ...RECORD_RESOURCES];
/** @type {readonly Name[]} filled during a replay */
const REPLAY_RESOURCES = ['signal', 'scorecard'];
/** @type {readonly Name[]} */
const MINUTE_RESOURCES = ['stats', 'price'];

/** `health` is not rate limited; other resources are. */
const POLL_INTERVAL_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const REPLAY_REFRESH_MS = 6_000;
const MINUTE_MS = 60_000;
/** Maximum age of resources that change independently of the record. @type {readonly (readonly [Name, number])[]} */
const MAX_AGE_MS = [
  ['feeds', 5 * MINUTE_MS],
  ['selfTests', 60 * MINUTE_MS],
];

/** @typedef {ReturnType<typeof createPoller>} Poller */

/** Polls the health of the service and refreshes resources that changed; all of them after an outage. @param {Store} store */
export function createPoller(store) {
  /** @type {Set<(health: ServiceHealth) => void>} */
  const listeners = new Set();
  /** @type {ServiceHealth} */
  let health = { state: 'offline', detail: 'connecting', setup: null, uptimeSeconds: 0, isOpen: false };
  // The service was down or has restarted since the last full refresh, possibly while the page was hidden.
  let wasUnavailable = true;
  let filledAt = 0;
  let minuteAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

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
      await store.refreshAll(ALL_RESOURCES);
    } else if (health.state === 'starting' && health.isOpen && now - filledAt >= REPLAY_REFRESH_MS) {
      const first = filledAt === 0;
      filledAt = now;
      await store.refreshAll(first ? ALL_RESOURCES : REPLAY_RESOURCES);
    } else if (health.state === 'up' && now - minuteAt >= MINUTE_MS) {
      minuteAt = now;
      await refreshEachMinute(now);
    }
  }

  /** A changed attestation count means that the record has changed. @param {number} now */
  async function refreshEachMinute(now) {
    const { answer: before } = store.get('stats');
    const names = new Set([...MINUTE_RESOURCES, ...store.inTrouble(), ...listStale(now)]);
    // Respects Retry-After.
    await store.refreshAll([...names].filter((name) => store.get(name).retryAt <= now));
    const { answer: after } = store.get('stats');
    if (before?.totalAttestations !== after?.totalAttestations) await store.refreshAll([...RECORD_RESOURCES, 'selfTests', 'feeds']);
  }

  /** @param {number} now */
  function listStale(now) {
    return MAX_AGE_MS.filter(([name, ms]) => now - (store.get(name).at?.getTime() ?? now) >= ms).map(([name]) => name);
  }

  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void poll();
  });

  return {
    start: poll,
    /** Refreshes the resources that change with the record. */
    recordMoved: () => store.refreshAll(['stats', ...RECORD_RESOURCES]),
    /** @param {(health: ServiceHealth) => void} listener called after each poll */
    onLook(listener) {
      listeners.add(listener);
    },
  };
}

/** `health` always returns 200; browsers log other statuses as errors. @returns {Promise<ServiceHealth>} */
async function fetchHealth() {
  try {
    const { status, setup, uptimeSeconds = 0 } = await requestApi('health');
    if (setup === null) return { state: 'up', detail: 'up to date', setup, uptimeSeconds, isOpen: true };
    return { state: 'starting', detail: setup.what, setup, uptimeSeconds, isOpen: status === 'ok' };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return { state: 'offline', detail: error.message, setup: null, uptimeSeconds: 0, isOpen: false };
  }
}
