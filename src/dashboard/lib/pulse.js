import { ask, Problem } from './api.js';

/** @import { Answers, Setup } from './answers.ts' */
/** @import { Store } from './store.js' */

/**
 * How the service is: up, coming up with what it is at, or not to be reached, and why.
 * @typedef {{ state: 'up' | 'starting' | 'offline', detail: string, setup: Setup | null }} Health
 */

/** @type {readonly (keyof Answers)[]} what changes with the record */
const OF_THE_RECORD = ['signal', 'scorecard', 'wagers', 'crowd'];
/** @type {readonly (keyof Answers)[]} */
const EVERYTHING = ['info', 'stats', 'price', 'selfTests', 'feeds', ...OF_THE_RECORD];
/** @type {readonly (keyof Answers)[]} what a replay fills */
const FILLING = ['signal', 'scorecard'];

/** Liveness counts against no limit; everything else does. */
const LOOK_MS = { up: 15_000, starting: 1_000, offline: 2_000 };
const FILL_MS = 6_000;
const MINUTE_MS = 60_000;

/** @typedef {ReturnType<typeof createPulse>} Pulse */

/**
 * Keeps the page up to date: looks whether the service is there, asks for what has changed, and for everything once it is back.
 * @param {Store} store
 */
export function createPulse(store) {
  /** @type {Set<(health: Health) => void>} */
  const listeners = new Set();
  /** @type {Health} */
  let health = { state: 'offline', detail: 'connecting', setup: null };
  let filledAt = 0;
  let minuteAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function look() {
    clearTimeout(timer);
    const before = health;
    health = await healthNow();
    for (const listener of listeners) listener(health);
    // A page that nobody sees asks for nothing.
    if (!document.hidden) await follow(before);
    timer = setTimeout(look, LOOK_MS[health.state]);
  }

  /** @param {Health} before */
  async function follow(before) {
    if (health.state === 'offline') return;
    const now = Date.now();
    if (health.state === 'up' && (before.state !== 'up' || filledAt === 0)) {
      filledAt = minuteAt = now;
      await store.refreshAll(EVERYTHING);
    } else if (health.state === 'starting' && now - filledAt >= FILL_MS) {
      const first = filledAt === 0;
      filledAt = now;
      await store.refreshAll(first ? EVERYTHING : FILLING);
    } else if (health.state === 'up' && now - minuteAt >= MINUTE_MS) {
      minuteAt = now;
      await minute();
    }
  }

  /** The counts of attestations tell whether the record has moved. */
  async function minute() {
    const { answer: before } = store.get('stats');
    await store.refreshAll(['stats', 'price']);
    const { answer: after } = store.get('stats');
    if (before?.totalAttestations !== after?.totalAttestations) await store.refreshAll([...OF_THE_RECORD, 'selfTests', 'feeds']);
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
    const { setup } = await ask('health');
    return setup === null ? { state: 'up', detail: 'up to date', setup } : { state: 'starting', detail: setup.what, setup };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { state: 'offline', detail: error.message, setup: null };
  }
}
