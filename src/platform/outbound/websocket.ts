import WebSocket from 'ws';

interface WebSocketTarget {
  /** Of a server named by the user of a command. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  handshakeTimeoutMs: number;
}

const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

export function openWebSocket({ url, headers, handshakeTimeoutMs }: WebSocketTarget): WebSocket {
  return new WebSocket(url, { headers, handshakeTimeout: handshakeTimeoutMs, followRedirects: false, maxPayload: MAX_MESSAGE_BYTES });
}
