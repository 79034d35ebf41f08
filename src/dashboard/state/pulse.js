import { ask, Problem } from './api.js';
import { tellAll } from './tell.js';

/** @import { Answers, Setup } from './answers.ts' */
/** @import { Store } from './store.js' */

/**
 * How the service is: up, coming up with what it is at, or not to be reached, and why.
 * @typedef {{ state: 'up' | 'starting' | 'offline', detail: string, setup: Setup | null, uptimeSeconds: number, isOpen: boolean }} Health
 * `isOpen`: more than this is answered; before, every other path says 503
 */

/** @typedef {keyof Answers} Name */

/** @type {readonly Name[]} what changes with the record */
const OF_THE_RECORD = ['signal', 'scorecard', 'wagers', 'crowd'];
/** @type {readonly Name[]} */
const EVERYTHING = ['info', 'stats', 'price', 'selfTests', 'feeds', ...OF_THE_RECORD];
/** @type {readonly Name[]} what a replay fills */
const FILLING = ['signal', 'scorecard'];
/** @type {readonly Name[]} */
const EACH_MINUTE = ['stats', 'price'];

/** Liveness counts against no limit; everything else does. */
const LOOK_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const FILL_MS = 6_000;
const MINUTE_MS = 60_000;
/** What changes without the record, and how old it may be. @type {readonly (readonly [Name, number])[]} */
const OLD_AFTER_MS = [
  ['feeds', 5 * MINUTE_MS],
  ['selfTests', 60 * MINUTE_MS],
];

/** @typedef {ReturnType<typeof createPulse>} Pulse */

/**
 * Keeps the page up to date: looks whether the service is there, asks for what has changed, and for everything once it is back.
 * @param {Store} store
 */
export function createPulse(store) {
  /** @type {Set<(health: Health) => void>} */
  const listeners = new Set();
  /** @type {Health} */
  let health = { state: 'offline', detail: 'connecting', setup: null, uptimeSeconds: 0, isOpen: false };
  // The service was away, or is another process, since everything was asked for; also when that was while nobody saw the page.
  let wasAway = true;
  let filledAt = 0;
  let minuteAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function look() {
    clearTimeout(timer);
    try {
      await lookOnce();
    } catch (error) {
      reportError(error);
    } finally {
      // Whatever went wrong, it looks again.
      clearTimeout(timer);
      timer = setTimeout(look, LOOK_MS[health.state]);
    }
  }

  async function lookOnce() {
    const before = health;
    health = await healthNow();
    if (health.state !== 'up' || health.uptimeSeconds < before.uptimeSeconds) wasAway = true;
    tellAll(listeners, health);
    // A page that nobody sees asks for nothing.
    if (!document.hidden) await follow();
  }

  async function follow() {
    const now = Date.now();
    if (health.state === 'up' && wasAway) {
      wasAway = false;
      filledAt = minuteAt = now;
      await store.refreshAll(EVERYTHING);
    } else if (health.state === 'starting' && health.isOpen && now - filledAt >= FILL_MS) {
      const first = filledAt === 0;
      filledAt = now;
      await store.refreshAll(first ? EVERYTHING : FILLING);
    } else if (health.state === 'up' && now - minuteAt >= MINUTE_MS) {
      minuteAt = now;
      await minute(now);
    }
  }

  /** The counts of attestations tell whether the record has moved. @param {number} now */
  async function minute(now) {
    const { answer: before } = store.get('stats');
    const names = new Set([...EACH_MINUTE, ...store.inTrouble(), ...oldNow(now)]);
    // Where the service has said when to come back, not before.
    await store.refreshAll([...names].filter((name) => store.get(name).retryAt <= now));
    const { answer: after } = store.get('stats');
    if (before?.totalAttestations !== after?.totalAttestations) await store.refreshAll([...OF_THE_RECORD, 'selfTests', 'feeds']);
  }

  /** @param {number} now */
  function oldNow(now) {
    return OLD_AFTER_MS.filter(([name, ms]) => now - (store.get(name).at?.getTime() ?? now) >= ms).map(([name]) => name);
  }

  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void look();
  });

  return {
    start: look,
    /** Asks for what changes with the record: something has happened. */
    recordMoved: () => store.refreshAll(['stats', ...OF_THE_RECORD]),
    /** @param {(health: Health) => void} listener called at each look */
    onLook(listener) {
      listeners.add(listener);
    },
  };
}

/**
 * By the path that always answers with 200 while the process lives: browsers write every other status to their console.
 * @returns {Promise<Health>}
 */
async function healthNow() {
  try {
    const { status, setup, uptimeSeconds = 0 } = await ask('health');
    if (setup === null) return { state: 'up', detail: 'up to date', setup, uptimeSeconds, isOpen: true };
    return { state: 'starting', detail: setup.what, setup, uptimeSeconds, isOpen: status === 'ok' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { state: 'offline', detail: error.message, setup: null, uptimeSeconds: 0, isOpen: false };
  }
}
