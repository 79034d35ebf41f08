import { ApiProblem, requestApi } from './api.js';
import { notifyAll } from './notify.js';

/** @import { ApiResponses, StartupStatus } from './responses.ts' */
/** @import { Store } from './store.js' */

/**
 * How the service is: up, coming up with what it is at, or not to be reached, and why.
 * @typedef {{ state: 'up' | 'starting' | 'offline', detail: string, setup: StartupStatus | null, uptimeSeconds: number, isOpen: boolean }} ServiceHealth
 * `isOpen`: more than this is answered; before, every other path says 503
 */

/** @typedef {keyof ApiResponses} Name */

/** @type {readonly Name[]} what changes with the record */
const RECORD_RESOURCES = ['signal', 'scorecard', 'wagers', 'crowd'];
/** @type {readonly Name[]} */
const ALL_RESOURCES = ['info', 'stats', 'price', 'selfTests', 'feeds', ...RECORD_RESOURCES];
/** @type {readonly Name[]} what a replay fills */
const REPLAY_RESOURCES = ['signal', 'scorecard'];
/** @type {readonly Name[]} */
const MINUTE_RESOURCES = ['stats', 'price'];

/** Liveness counts against no limit; everything else does. */
const POLL_INTERVAL_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const REPLAY_REFRESH_MS = 6_000;
const MINUTE_MS = 60_000;
/** What changes without the record, and how old it may be. @type {readonly (readonly [Name, number])[]} */
const MAX_AGE_MS = [
  ['feeds', 5 * MINUTE_MS],
  ['selfTests', 60 * MINUTE_MS],
];

/** @typedef {ReturnType<typeof createPoller>} Poller */

/**
 * Keeps the page up to date: looks whether the service is there, asks for what has changed, and for everything once it is back.
 * @param {Store} store
 */
export function createPoller(store) {
  /** @type {Set<(health: ServiceHealth) => void>} */
  const listeners = new Set();
  /** @type {ServiceHealth} */
  let health = { state: 'offline', detail: 'connecting', setup: null, uptimeSeconds: 0, isOpen: false };
  // The service was away, or is another process, since everything was asked for; also when that was while nobody saw the page.
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
      // Whatever went wrong, it looks again.
      clearTimeout(timer);
      timer = setTimeout(poll, POLL_INTERVAL_MS[health.state]);
    }
  }

  async function pollOnce() {
    const before = health;
    health = await fetchHealth();
    if (health.state !== 'up' || health.uptimeSeconds < before.uptimeSeconds) wasUnavailable = true;
    notifyAll(listeners, health);
    // A page that nobody sees asks for nothing.
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

  /** The counts of attestations tell whether the record has moved. @param {number} now */
  async function refreshEachMinute(now) {
    const { answer: before } = store.get('stats');
    const names = new Set([...MINUTE_RESOURCES, ...store.inTrouble(), ...listStale(now)]);
    // Where the service has said when to come back, not before.
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
    /** Asks for what changes with the record: something has happened. */
    recordMoved: () => store.refreshAll(['stats', ...RECORD_RESOURCES]),
    /** @param {(health: ServiceHealth) => void} listener called at each look */
    onLook(listener) {
      listeners.add(listener);
    },
  };
}

/**
 * By the path that always answers with 200 while the process lives: browsers write every other status to their console.
 * @returns {Promise<ServiceHealth>}
 */
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
