import { ApiProblem, requestApi } from '../state/api.ts';
import type { Session } from '../state/session.ts';
import { openSocket, type SocketMessage } from './live-socket.ts';

export interface PushedEvent {
  id: number;
  type: string;
  timestamp: string;
  data: object;
}

type LiveState = 'off' | 'connecting' | 'live' | 'waiting';

interface LiveEventsOptions {
  session: Session;
  onChange: () => void;
  /** New events have arrived, and none for `SETTLE_MS`. */
  onEvents: () => void;
}

const MAX_EVENTS = 50;
const SETTLE_MS = 300;
const RETRY_MS = { least: 1_000, most: 30_000, later: 30_000 };
const SOCKET_CLOSE_CODES = { tryLater: 1013, tokenEnded: 4001, tierLost: 4003 };

/**
 * Events for a logged-in reader over a WebSocket that reconnects and resumes after the last event. All events are dropped when the session
 * ends.
 */
export class LiveEvents {
  /** Newest first. */
  events: readonly PushedEvent[] = [];
  state: LiveState = 'off';
  /** Explains the state. */
  detail = '';
  /** True once the replay of earlier events is complete. */
  caughtUp = false;

  #options;
  #settleTimer: ReturnType<typeof setTimeout> | undefined;
  /** Id of the newest event that was received or skipped; null before the first connection. */
  #lastId: number | null = null;
  #failures = 0;
  #socket: ReturnType<typeof openSocket> | null = null;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Increments on each change; callbacks of an earlier generation are ignored. */
  #generation = 0;

  constructor(options: LiveEventsOptions) {
    this.#options = options;
    options.session.onChange(() => this.start());
    // Reconnects with the new token and resumes.
    options.session.onRenewal(() => void this.#connect());
  }

  /** Restarts with an empty list, as another reader may have logged in. */
  start() {
    this.events = [];
    this.caughtUp = false;
    this.#lastId = null;
    this.#failures = 0;
    void this.#connect();
  }

  /** Reconnects at once when the service is back. */
  retryNow() {
    if (this.state === 'waiting') void this.#connect();
  }

  async #connect() {
    const generation = this.#stop();
    const { current } = this.#options.session;
    if (current === null) return this.#setState('off');
    this.#setState('connecting');
    try {
      const { ticket } = await requestApi<{ ticket: string }>('api/svc/ws/ticket', { token: current.token, method: 'POST' });
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

  #open(ticket: string) {
    this.#socket = openSocket({
      ticket,
      since: this.#lastId,
      onMessage: (message) => this.#handleMessage(message),
      onClosed: (code) => this.#handleClose(code),
    });
  }

  #handleMessage({ id, type, timestamp, data }: SocketMessage) {
    if (typeof id === 'number') return this.#addEvent({ id, type, timestamp, data });
    if (type === 'connected') return this.#handleConnected(data.lastEventId ?? 0);
    if (type === 'replay.complete') {
      this.caughtUp = true;
      this.#setState('live');
    }
    if (type === 'token.expiring') this.#setState('live', 'The session expires within a minute. Renew it at the top of the page.');
  }

  /** The first connection only learns the newest id; the second one replays the last events. */
  #handleConnected(newestId: number) {
    this.#failures = 0;
    if (this.#lastId !== null) return;
    this.#lastId = Math.max(0, newestId - MAX_EVENTS);
    if (newestId > 0) return void this.#connect();
    this.caughtUp = true;
    this.#setState('live');
  }

  #addEvent(event: PushedEvent) {
    if (this.#lastId !== null && event.id <= this.#lastId) return;
    this.#lastId = event.id;
    this.events = [event, ...this.events].slice(0, MAX_EVENTS);
    // Replayed events are rendered together.
    if (!this.caughtUp) return;
    // Debounced: screen readers would announce the events of one change one by one.
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(this.#options.onEvents, SETTLE_MS);
  }

  #handleClose(code: number) {
    if (code === SOCKET_CLOSE_CODES.tokenEnded || code === SOCKET_CLOSE_CODES.tierLost) return this.#options.session.end();
    this.#scheduleReconnect('The connection was lost.', code === SOCKET_CLOSE_CODES.tryLater ? RETRY_MS.later : 0);
  }

  #handleTicketProblem({ code, message, retryAfterSeconds }: ApiProblem) {
    if (code === 'UNAUTHENTICATED') return this.#options.session.end();
    if (code === 'TIER_REQUIRED') return this.#setState('off', `${message}.`);
    this.#scheduleReconnect(`${message}.`, 1_000 * (retryAfterSeconds ?? 0));
  }

  /** Exponential backoff with jitter. */
  #scheduleReconnect(detail: string, leastMs: number) {
    this.#stop();
    const backoffMs = Math.min(RETRY_MS.most, RETRY_MS.least * 2 ** this.#failures) * (0.5 + Math.random());
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => void this.#connect(), Math.max(leastMs, backoffMs));
    this.#setState('waiting', detail);
  }

  #setState(state: LiveState, detail = '') {
    this.state = state;
    this.detail = detail;
    this.#options.onChange();
  }
}
