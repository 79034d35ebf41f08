import { ApiProblem, requestApi } from '../state/api.js';
import { openSocket } from './live-socket.js';

/** @import { Session } from '../state/session.js' */

/**
 * @typedef {{ id: number, type: string, timestamp: string, data: Record<string, any> }} PushedEvent
 * @typedef {'off' | 'connecting' | 'live' | 'waiting'} LiveState
 */

/**
 * @typedef {{ session: Session, onChange: () => void, onEvents: () => void }} LiveEventsOptions `onEvents`: something has happened just now, and
 * nothing more for a moment
 */

const MAX_EVENTS = 50;
const SETTLE_MS = 300;
const RETRY_MS = { least: 1_000, most: 30_000, later: 30_000 };
const SOCKET_CLOSE_CODES = { tryLater: 1013, tokenEnded: 4001, tierLost: 4003 };

/**
 * Events of the service as they happen, for whoever has logged in: over a WebSocket that comes back after a drop, and brings what was
 * missed meanwhile. Nothing of them is kept once the session ends.
 */
export class LiveEvents {
  /** @type {readonly PushedEvent[]} newest first */
  events = [];
  /** @type {LiveState} */
  state = 'off';
  /** Why it is in that state, where there is something to say. */
  detail = '';
  /** True once what comes happens now. */
  caughtUp = false;

  #options;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settleTimer;
  /** @type {number | null} id of the newest event that was seen or skipped; null before the first connection */
  #lastId = null;
  #failures = 0;
  /** @type {ReturnType<typeof openSocket> | null} */
  #socket = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;
  /** What was begun before it last changed is void. */
  #generation = 0;

  /** @param {LiveEventsOptions} options */
  constructor(options) {
    this.#options = options;
    options.session.onChange(() => this.start());
    // With the new token, and from where it stands.
    options.session.onRenewal(() => void this.#connect());
  }

  /** Begins anew: another reader sees nothing of what was told to the one before. */
  start() {
    this.events = [];
    this.caughtUp = false;
    this.#lastId = null;
    this.#failures = 0;
    void this.#connect();
  }

  /** The service is there again: no need to wait longer. */
  retryNow() {
    if (this.state === 'waiting') void this.#connect();
  }

  async #connect() {
    const generation = this.#stop();
    const { current } = this.#options.session;
    if (current === null) return this.#setState('off');
    this.#setState('connecting');
    try {
      const { ticket } = await requestApi('api/svc/ws/ticket', { token: current.token, method: 'POST' });
      if (generation === this.#generation) this.#open(ticket);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (generation === this.#generation) this.#handleTicketProblem(error);
    }
  }

  #stop() {
    clearTimeout(this.#retryTimer);
    this.#socket?.close();
    this.#socket = null;
    this.#generation += 1;
    return this.#generation;
  }

  /** @param {string} ticket */
  #open(ticket) {
    this.#socket = openSocket({
      ticket,
      since: this.#lastId,
      onMessage: (message) => this.#handleMessage(message),
      onClosed: (code) => this.#handleClose(code),
    });
  }

  /** @param {any} message */
  #handleMessage({ id, type, timestamp, data }) {
    if (typeof id === 'number') return this.#addEvent({ id, type, timestamp, data });
    if (type === 'connected') return this.#handleConnected(data.lastEventId);
    if (type === 'replay.complete') {
      this.caughtUp = true;
      this.#setState('live');
    }
    if (type === 'token.expiring') this.#setState('live', 'The session ends within a minute: renew it at the top of the page.');
  }

  /** A first connection learns where the log stands, and goes back a little. @param {number} newestId */
  #handleConnected(newestId) {
    this.#failures = 0;
    if (this.#lastId !== null) return;
    this.#lastId = Math.max(0, newestId - MAX_EVENTS);
    if (newestId > 0) return void this.#connect();
    this.caughtUp = true;
    this.#setState('live');
  }

  /** @param {PushedEvent} event */
  #addEvent(event) {
    if (this.#lastId !== null && event.id <= this.#lastId) return;
    this.#lastId = event.id;
    this.events = [event, ...this.events].slice(0, MAX_EVENTS);
    // What was there before the page was is shown in one go.
    if (!this.caughtUp) return;
    // Several of one change come within a moment: one by one, they would be read aloud one by one.
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(this.#options.onEvents, SETTLE_MS);
  }

  /** @param {number} code */
  #handleClose(code) {
    if (code === SOCKET_CLOSE_CODES.tokenEnded || code === SOCKET_CLOSE_CODES.tierLost) return this.#options.session.end();
    this.#scheduleReconnect('The connection was lost.', code === SOCKET_CLOSE_CODES.tryLater ? RETRY_MS.later : 0);
  }

  /** @param {ApiProblem} problem */
  #handleTicketProblem({ code, message, retryAfterSeconds }) {
    if (code === 'UNAUTHENTICATED') return this.#options.session.end();
    if (code === 'TIER_REQUIRED') return this.#setState('off', `${message}.`);
    this.#scheduleReconnect(`${message}.`, 1_000 * (retryAfterSeconds ?? 0));
  }

  /** Later each time, and not all pages at once. @param {string} words @param {number} leastMs */
  #scheduleReconnect(words, leastMs) {
    this.#stop();
    const backoffMs = Math.min(RETRY_MS.most, RETRY_MS.least * 2 ** this.#failures) * (0.5 + Math.random());
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => void this.#connect(), Math.max(leastMs, backoffMs));
    this.#setState('waiting', words);
  }

  /** @param {LiveState} state */
  #setState(state, detail = '') {
    this.state = state;
    this.detail = detail;
    this.#options.onChange();
  }
}
