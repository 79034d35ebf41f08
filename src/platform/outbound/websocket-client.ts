import WebSocket from 'ws';

export interface WebSocketTarget {
  /** Of a server that the user of a command has named. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Until the connection is open, milliseconds. */
  handshakeTimeoutMs: number;
}

/** Largest message that is read. */
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

/** A WebSocket to a named server: no redirect is followed, no proxy used, and the size of a message is bounded. */
export function openWebSocket({ url, headers, handshakeTimeoutMs }: WebSocketTarget): WebSocket {
  return new WebSocket(url, { headers, handshakeTimeout: handshakeTimeoutMs, followRedirects: false, maxPayload: MAX_MESSAGE_BYTES });
}
