import type { Credentials } from './credentials.ts';
import { OracleError, type ServiceProblem, TransportError, toServiceProblem } from './errors.ts';
import { EventSocket, type SocketEnd, type SocketMessage } from './event-socket.ts';
import type { EventName, EventTypes } from './events.ts';
import { readJson, type Send } from './http.ts';
import type { StreamOptions } from './stream-options.ts';

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

function buildStreamUrl(base: string, { events, horizons }: StreamOptions, { lastId }: Position, more: Record<string, string>): string {
  const query = new URLSearchParams(more);
  if (events !== undefined) query.set('events', events.join(','));
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
  if (type === 'connected') position.lastId ??= Number(data.lastEventId);
  else if (type === 'replay.gap') options.onGap?.({ from: Number(data.from), to: Number(data.to) });
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
