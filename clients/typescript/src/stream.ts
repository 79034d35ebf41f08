import { OracleError, type ServiceProblem, StreamEnded, TransportError, toServiceProblem } from './errors.ts';
import type { EventName, EventTypes } from './events.ts';
import { type Credentials, readJson, type Send } from './http.ts';
import type { Horizon, MoveSize } from './types.ts';

const MAX_WAIT_MS = 60_000;
const DEFAULT_RECONNECT_MS = 1_000;
/** Too many messages, and a balance below the Basic tier. */
const FINAL_CLOSE_CODES = [1008, 4003];

/**
 * Events without end, each once and in order, through drops and restarts: a new connection continues after the last event.
 * @throws StreamEnded; ServiceProblem, and OracleError INPUT_INVALID, where another connection would be rejected, too
 */
export async function* streamEvents<Name extends EventName>(
  deps: StreamDeps,
  options: StreamOptions<Name>,
): AsyncGenerator<EventTypes[Name], void, undefined> {
  const { signal, onReconnect, reconnectMs = DEFAULT_RECONNECT_MS } = options;
  const position = { lastId: options.since };
  let failures = 0;
  while (!signal?.aborted) {
    const end: ConnectionEnd = yield* followConnection(deps, options, position);
    if (signal?.aborted) return;
    if (FINAL_CLOSE_CODES.includes(end.closeCode)) throw new StreamEnded(end.closeCode, end.reason);
    failures = end.wasConnected ? 0 : failures + 1;
    const waitMs = chooseWaitMs(end, reconnectMs * 2 ** failures);
    onReconnect?.({ reason: end.reason || `closed with ${end.closeCode}`, waitMs });
    await wait(waitMs, signal);
  }
}

/** With a random part, so that the clients of a restarted service do not come back at the same instant. */
function chooseWaitMs({ minWaitMs }: ConnectionEnd, backoffMs: number): number {
  return Math.round(Math.max(minWaitMs, Math.min(MAX_WAIT_MS, backoffMs) * (0.5 + Math.random() / 2)));
}

/** Ends early when the signal is aborted. */
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
  });
}

export interface StreamDeps {
  url: string;
  /** With credentials. */
  send: Send;
  credentials: Credentials;
}

export interface ConnectionEnd extends SocketEnd {
  wasConnected: boolean;
  minWaitMs: number;
}

interface Position {
  /** Undefined before the first connection without `since`. */
  lastId: number | undefined;
}

const NO_CONNECTION = 1006;
const ABORTED = { closeCode: NO_CONNECTION, reason: 'aborted', wasConnected: false, minWaitMs: 0 };
const TRY_LATER = { closeCode: 1013, minWaitMs: 30_000 };

/** Events of one connection. @returns why it ended @throws ServiceProblem, OracleError INPUT_INVALID that another connection would get, too */
export async function* followConnection<Name extends EventName>(
  deps: StreamDeps,
  options: StreamOptions<Name>,
  position: Position,
): AsyncGenerator<EventTypes[Name], ConnectionEnd, undefined> {
  const { signal } = options;
  const ticket = await issueTicket(deps, signal);
  if (typeof ticket !== 'string') return ticket;
  const socket = new EventSocket(buildStreamUrl(deps.url.replace(/^http/, 'ws'), options, position, { ticket }));
  const stop = () => socket.close();
  signal?.addEventListener('abort', stop, { once: true });
  let wasConnected = false;
  try {
    for (;;) {
      const next = await socket.next();
      if (signal?.aborted) return { ...ABORTED, wasConnected };
      if ('closeCode' in next) {
        if (!wasConnected) await explainRejection(deps, options, position);
        return { ...next, wasConnected, minWaitMs: next.closeCode === TRY_LATER.closeCode ? TRY_LATER.minWaitMs : 0 };
      }
      wasConnected = true;
      if (next.id === undefined) await handleNotice(next, { socket, position, deps, options });
      else if (position.lastId === undefined || next.id > position.lastId) {
        position.lastId = next.id;
        yield next as unknown as EventTypes[Name];
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    socket.close();
  }
}

/** A ticket, which opens one connection: neither Node nor browsers send headers with a WebSocket. The end of the attempt where one may come later. */
async function issueTicket({ url, send }: StreamDeps, signal: AbortSignal | undefined): Promise<string | ConnectionEnd> {
  try {
    const init = { method: 'POST', headers: { Accept: 'application/json' }, signal: signal ?? null };
    const { ticket } = (await readJson(await send(new Request(`${url}/api/svc/ws/ticket`, init)))) as { ticket: string };
    return signal?.aborted ? ABORTED : ticket;
  } catch (error) {
    if (signal?.aborted) return ABORTED;
    if (!(error instanceof OracleError) || !error.retryable) throw error;
    return { closeCode: NO_CONNECTION, reason: error.message, wasConnected: false, minWaitMs: (error.retryAfterSeconds ?? 0) * 1_000 };
  }
}

function buildStreamUrl(base: string, options: StreamOptions, { lastId }: Position, more: Record<string, string>): string {
  const { events, horizons, moveSize } = options;
  const query = new URLSearchParams(more);
  if (events !== undefined) query.set('events', events.join(','));
  if (moveSize !== undefined) query.set('moveSize', moveSize.join(','));
  if (horizons !== undefined) query.set('horizons', horizons === 'all' ? horizons : horizons.join(','));
  if (lastId !== undefined) query.set('since', String(lastId));
  return `${base}/ws/signal?${query}`;
}

interface NoticeContext {
  socket: EventSocket;
  position: Position;
  deps: StreamDeps;
  options: StreamOptions;
}

async function handleNotice({ type, data }: SocketMessage, { socket, position, deps, options }: NoticeContext): Promise<void> {
  // From here on, also when the connection drops before the first event.
  if (type === 'connected') {
    const lastEventId = Number(data.lastEventId);
    if (Number.isInteger(lastEventId)) position.lastId ??= lastEventId;
    options.onConnected?.({ tier: String(data.tier), lastEventId });
  }
  if (type === 'replay.gap') options.onGap?.({ from: Number(data.from), to: Number(data.to) });
  else if (type === 'token.expiring') {
    // Without a new token the service closes the connection, and the next one reports why there is none.
    const token = await deps.credentials.token().catch(() => null);
    if (token !== null) socket.send({ type: 'authenticate', data: { token } });
  }
}

/** Why a handshake was rejected: the WebSocket of Node and browsers hides the response. Returns where another try may succeed. */
async function explainRejection(deps: StreamDeps, options: StreamOptions, position: Position): Promise<void> {
  const request = new Request(buildStreamUrl(deps.url, options, position, {}), { headers: { Accept: 'application/json' } });
  const problem = await deps.send(request).then(toProblem, (error: unknown) => {
    if (error instanceof TransportError) return null;
    throw error;
  });
  if (problem === null || problem.retryable) return;
  if (problem.code !== 'UPGRADE_REQUIRED') throw problem;
  await requireKnownPosition(deps, options, position);
}

async function toProblem(response: Response): Promise<ServiceProblem | null> {
  if (response.ok) return null;
  return toServiceProblem(response, await response.json().catch(() => null));
}

/** @throws OracleError INPUT_INVALID when the service has no event with an id as high as `since` */
async function requireKnownPosition(deps: StreamDeps, { signal }: StreamOptions, { lastId }: Position): Promise<void> {
  const ticket = lastId === undefined ? null : await issueTicket(deps, signal);
  if (typeof ticket !== 'string') return;
  const socket = new EventSocket(buildStreamUrl(deps.url.replace(/^http/, 'ws'), {}, { lastId: undefined }, { ticket }));
  const first = await socket.next();
  socket.close();
  const newest = 'closeCode' in first || first.type !== 'connected' ? null : Number(first.data.lastEventId);
  if (newest === null || lastId === undefined || lastId <= newest) return;
  throw new OracleError('INPUT_INVALID', `since is ${lastId}, and the newest event of this service is ${newest}`, {
    field: 'since',
    suggestedAction: 'Start with 0 for all events that are kept, or look whether this is the service of that id.',
  });
}

/** A message of the service. Events have an `id`; messages about the connection do not. */
export interface SocketMessage {
  id?: number;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export interface SocketEnd {
  closeCode: number;
  reason: string;
}

const PING_MS = 30_000;
/** The service answers each `ping`; after a longer silence the connection counts as lost. */
const MAX_SILENCE_MS = 75_000;
/** Of unread messages: a consumer that is slower drops the connection and gets the rest from the log of the service. */
const MAX_UNREAD = 1_000;
const ABNORMAL_CLOSE = 1006;

/** A WebSocket of Node or of browsers as a queue of messages with an end. */
export class EventSocket {
  readonly #socket: WebSocket;
  readonly #unread: SocketMessage[] = [];
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #end: SocketEnd | null = null;
  #lastHeardAt = performance.now();
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#receive(String(data));
    this.#socket.onclose = ({ code, reason }) => this.#finish({ closeCode: code, reason });
    this.#timers.push(setInterval(() => this.#ping(), PING_MS));
  }

  /** The next message; once the connection has ended and all are read, its end. */
  async next(): Promise<SocketMessage | SocketEnd> {
    for (;;) {
      const message = this.#unread.shift();
      if (message !== undefined) return message;
      if (this.#end !== null) return this.#end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  send(message: { type: string; data: object }): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Ends the queue at once; the closing handshake may take longer. */
  close(reason = 'closed by the client'): void {
    this.#socket.close();
    this.#finish({ closeCode: ABNORMAL_CLOSE, reason });
  }

  #receive(text: string): void {
    if (this.#end !== null) return;
    this.#lastHeardAt = performance.now();
    const message = parseMessage(text);
    if (message === null) return void this.close('the server sends no messages of this service');
    this.#unread.push(message);
    this.#wake();
    if (this.#unread.length > MAX_UNREAD) this.close('too many unread events');
  }

  #ping(): void {
    if (performance.now() - this.#lastHeardAt > MAX_SILENCE_MS) this.close('no message for too long');
    else this.send({ type: 'ping', data: {} });
  }

  #finish(end: SocketEnd): void {
    this.#end ??= end;
    for (const timer of this.#timers) clearInterval(timer);
    this.#wake();
  }
}

function parseMessage(text: string): SocketMessage | null {
  try {
    const message = JSON.parse(text) as SocketMessage | null;
    const { id, type, timestamp, data } = message ?? {};
    const isMessage = typeof type === 'string' && typeof timestamp === 'string' && typeof data === 'object' && data !== null;
    return isMessage && (id === undefined || Number.isInteger(id)) ? message : null;
  } catch {
    return null;
  }
}

export interface StreamOptions<Name extends EventName = EventName> {
  /** `id` of the last event that you have, 0 for everything that is kept. Default: from now on. Store it with what you do with the event. */
  since?: number | undefined;
  /** Default: every kind. */
  events?: readonly Name[] | undefined;
  /** Default: `7d`, or `1d` with `moveSize`. Events without a horizon come with any. */
  horizons?: readonly Horizon[] | 'all' | undefined;
  /** Of `signal.new` only those whose size has changed to one of these since the day before. Default: all. */
  moveSize?: readonly MoveSize[] | undefined;
  /** Ends the loop without an error. */
  signal?: AbortSignal | undefined;
  /** A connection is open: the tier of its token, and the newest event of the service. */
  onConnected?(connection: { tier: string; lastEventId: number }): void;
  /** Events of the range are older than 90 days and no longer kept. */
  onGap?(gap: { from: number; to: number }): void;
  /** The connection was lost, and is opened again after the wait. */
  onReconnect?(lost: { reason: string; waitMs: number }): void;
  /** First wait before another connection, doubled up to a minute while there is none; default 1,000. */
  reconnectMs?: number | undefined;
}
