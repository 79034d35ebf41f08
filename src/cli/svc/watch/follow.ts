import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import { isOracleError, type OracleError } from '../../../platform/errors.ts';
import { openWebSocket } from '../../../platform/outbound/websocket-client.ts';
import { parseProblemDetails } from '../../../platform/service-client/problem-details.ts';
import { parseJsonOrNull } from '../../../platform/validation/parse-json.ts';
import { parseAnswer } from '../service-request.ts';

const EVENT = z.looseObject({ id: z.number().optional(), type: z.string(), timestamp: z.string(), data: z.looseObject({}) });

/** Messages of the WebSocket about the connection itself have no id. */
export type WatchedEvent = z.infer<typeof EVENT> & { id: number };

export interface FollowStreamOptions {
  url: string;
  /** Query of the WebSocket. `since` advances with each event, so that a reconnect misses none. */
  query: { since?: string; events?: string; horizons?: string };
  /** @throws OracleError */
  getToken(): Promise<string>;
  /** A token to replace the one that is about to expire; null when there is none. */
  renewToken(): Promise<string | null>;
  /** Called when the token was rejected or has expired. @returns whether `getToken` may return another one */
  forgetToken(): boolean;
  onEvent(event: WatchedEvent): void;
  onConnected?(): void;
  onNotice(text: string): void;
  signal: AbortSignal;
}

type StreamClose = { code: number; reason: string };

/** The service pings every 30 seconds; after a longer silence the connection counts as lost. */
const MAX_SILENCE_MS = 75_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const MAX_REJECTION_BYTES = 65_536;
const NORMAL_CLOSE = 1000;

/** Follows one connection until it closes. @throws OracleError of the service on a rejected handshake; a socket error when it cannot connect */
export async function followStream(options: FollowStreamOptions): Promise<StreamClose> {
  const token = await options.getToken();
  if (options.signal.aborted) return { code: NORMAL_CLOSE, reason: '' };
  const headers = { authorization: `Bearer ${token}` };
  const socket = openWebSocket({ url: buildStreamUrl(options), headers, handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS });
  const silence = setTimeout(() => socket.terminate(), MAX_SILENCE_MS);
  const stop = () => socket.close(NORMAL_CLOSE);
  options.signal.addEventListener('abort', stop, { once: true });
  socket.on('ping', () => silence.refresh());
  socket.on('message', (text) => handleMessage(socket, String(text), options));
  try {
    return await waitForClose(socket, options.url);
  } finally {
    clearTimeout(silence);
    options.signal.removeEventListener('abort', stop);
  }
}

function buildStreamUrl({ url, query }: FollowStreamOptions): URL {
  const address = new URL(`${url.replace(/^http/, 'ws')}/ws/signal`);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  return address;
}

function waitForClose(socket: WebSocket, url: string): Promise<StreamClose> {
  return new Promise((done, fail) => {
    socket.on('unexpected-response', (_, response) =>
      readRejection(response).then((rejection) => fail(rejection ?? notServedError(url)), fail),
    );
    socket.on('error', fail);
    socket.on('close', (code, reason) => done({ code, reason: String(reason) }));
  });
}

/** The problem details (RFC 9457) of a rejected handshake. */
async function readRejection(response: IncomingMessage): Promise<OracleError | undefined> {
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MAX_REJECTION_BYTES) return undefined;
  }
  try {
    return parseProblemDetails(JSON.parse(text), response.headers['retry-after'] ?? null);
  } catch {
    return undefined;
  }
}

function notServedError(url: string): unknown {
  try {
    return parseAnswer(z.never(), null, { url, path: '/ws/signal' });
  } catch (error) {
    return error;
  }
}

function handleMessage(socket: WebSocket, text: string, options: FollowStreamOptions): void {
  const { data: message } = EVENT.safeParse(parseJsonOrNull(text));
  if (message === undefined) return;
  const { id, type, data } = message;
  if (id !== undefined) {
    options.onEvent({ ...message, id });
    options.query.since = String(id);
  } else if (type === 'connected') {
    // Resumes here, too, when the connection drops before the first event.
    options.query.since ??= String(data.lastEventId);
    options.onNotice(`connected as ${data.tier}; the newest event is ${data.lastEventId}`);
    options.onConnected?.();
  } else if (type === 'token.expiring') void renewToken(socket, options);
  else if (type === 'replay.gap') options.onNotice(`events ${data.from} to ${data.to} are no longer stored`);
  else if (type === 'error') options.onNotice(`${data.code}: ${data.message}`);
}

/** Without a new token the service closes the connection with 4001. */
async function renewToken(socket: WebSocket, { renewToken: renew, onNotice }: FollowStreamOptions): Promise<void> {
  try {
    const token = await renew();
    if (token !== null) socket.send(JSON.stringify({ type: 'authenticate', data: { token } }));
    else onNotice('the token expires within a minute: log in again with svc login');
  } catch (error) {
    onNotice(isOracleError(error) ? error.message : 'the token could not be renewed');
  }
}
