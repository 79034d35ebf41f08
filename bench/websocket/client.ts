import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { frameReader, pongFrame } from './frames.ts';

export interface ClientOptions {
  url: string;
  /** Access token; unset where the server requires none. */
  token?: string;
  /** Takes the id of every event in the order in which they come, with the message as it came. */
  onEvent(id: number, payload: Buffer): void;
  /** The connection has ended, with its close code, or null without one. */
  onEnd(code: number | null): void;
}

const HEAD_END = '\r\n\r\n';

/** A WebSocket with as little in it as can be; resolves once it is open. @throws Error with the head of another answer than 101 */
export function openClient({ url, token, onEvent, onEnd }: ClientOptions): Promise<Socket> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let closeCode: number | null = null;
  const read = frameReader({
    text: (payload) => {
      const id = idOf(payload);
      if (id !== null) onEvent(id, payload);
    },
    ping: (payload) => void socket.write(pongFrame(payload)),
    close: (code) => {
      closeCode = code;
      socket.end();
    },
  });
  let head: string | null = '';
  socket.on('data', (piece: Buffer) => {
    if (head === null) return read(piece);
    head += piece.toString('latin1');
    const end = head.indexOf(HEAD_END);
    if (end < 0) return;
    if (!head.startsWith('HTTP/1.1 101 ')) return reject(new Error(head));
    const after = Buffer.from(head.slice(end + HEAD_END.length), 'latin1');
    head = null;
    resolve(socket);
    if (after.length > 0) read(after);
  });
  socket.on('error', reject).on('close', () => onEnd(closeCode));
  const lines = [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  socket.write([`GET ${pathname}${search} HTTP/1.1`, `Host: ${host}`, ...lines, '', ''].join('\r\n'));
  return promise;
}

/** The id of an event, without parsing the rest; null for any other message. */
function idOf(payload: Buffer): number | null {
  const [, digits] = /^\{"id":(\d+),/.exec(payload.toString('latin1', 0, 24)) ?? [];
  return digits === undefined ? null : Number(digits);
}
