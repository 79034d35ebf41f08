import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { forgetConnection } from './client-connection.ts';

interface Handshake {
  request: IncomingMessage;
  socket: Duplex;
  /** First bytes after the head of the request. */
  head: Buffer;
}

const pendingHandshakes = new WeakMap<IncomingMessage, Handshake & { response: ServerResponse }>();

/** RFC 6455, section 4.2.1. */
export function isHandshake({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.trim().toLowerCase() === 'websocket';
}

/** Passes a handshake to an app as a request; the response closes the connection unless `takeHandshake` claims the socket. */
export function answerHandshake(app: RequestListener, handshake: Handshake): void {
  const { request } = handshake;
  // An HTTP server emits net.Socket only.
  const socket = handshake.socket as Socket;
  // After `upgrade` Node no longer handles errors of the socket.
  socket.on('error', () => socket.destroy());
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(socket);
  } catch {
    // A pipelined handshake: the response before it on this connection is incomplete. Browsers never pipeline one.
    return void socket.destroy();
  }
  response.once('finish', () => socket.destroySoon());
  pendingHandshakes.set(request, { ...handshake, response });
  app(request, response);
}

/** Claims the socket of a handshake, whose response is not sent then; null where it was answered or claimed. */
export function takeHandshake(request: IncomingMessage): Handshake | null {
  const pending = pendingHandshakes.get(request);
  if (pending === undefined) return null;
  pendingHandshakes.delete(request);
  const { response, ...handshake } = pending;
  if (response.socket !== null) response.detachSocket(response.socket);
  forgetConnection(handshake.socket);
  return handshake;
}
