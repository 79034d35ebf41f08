import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { forgetConnection } from './client-connection.ts';

/** A request that asks for a WebSocket, as the server of HTTP hands it out. */
export interface Handshake {
  request: IncomingMessage;
  socket: Duplex;
  /** What came after the head of the request. */
  head: Buffer;
}

const pendingHandshakes = new WeakMap<IncomingMessage, Handshake & { response: ServerResponse }>();

/** RFC 6455, section 4.2.1. */
export function isHandshake({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/** Lets an app answer a handshake like any request; the connection ends with the answer, unless its socket is taken. */
export function answerHandshake(app: RequestListener, handshake: Handshake): void {
  const { request } = handshake;
  // A server of HTTP has no other kind.
  const socket = handshake.socket as Socket;
  // Until somebody takes it nobody else hears of its errors.
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // The answer to a request before it on the same connection is not complete: nobody waits for both at once.
    return void socket.destroy();
  }
  response.once('finish', () => socket.destroySoon());
  pendingHandshakes.set(request, { ...handshake, response });
  app(request, response);
}

/** Takes the socket away from the answer, which is not sent then; null when there is none to take. */
export function takeHandshake(request: IncomingMessage): Handshake | null {
  const known = pendingHandshakes.get(request);
  if (known === undefined) return null;
  pendingHandshakes.delete(request);
  const { response, ...handshake } = known;
  if (response.socket !== null) response.detachSocket(response.socket);
  forgetConnection(handshake.socket);
  return handshake;
}
