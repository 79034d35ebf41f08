import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

interface ClientOptions {
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

/** What a server's frames carry, read as they come in. */
interface FrameListener {
  text(payload: Buffer): void;
  ping(payload: Buffer): void;
  close(code: number): void;
}

/**
 * Reads unmasked frames (RFC 6455, section 5.2) from the pieces of a stream. Made for measuring: a client that costs little, and takes
 * no message in parts.
 */
function frameReader(listener: FrameListener): (piece: Buffer) => void {
  let rest: Buffer | null = null;
  return (piece) => {
    const bytes = rest === null ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (;;) {
      const frame = frameAt(bytes, at);
      if (frame === null) break;
      notify(listener, frame);
      at = frame.end;
    }
    rest = at === bytes.length ? null : bytes.subarray(at);
  };
}

interface Frame {
  opcode: number;
  payload: Buffer;
  end: number;
}

/** The frame that begins there; null while it is not there as a whole. */
function frameAt(bytes: Buffer, at: number): Frame | null {
  if (bytes.length < at + 2) return null;
  const short = bytes[at + 1] & 0x7f;
  const from = at + (short === 126 ? 4 : short === 127 ? 10 : 2);
  if (bytes.length < from) return null;
  const length = short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
  const end = from + length;
  return bytes.length < end ? null : { opcode: bytes[at] & 0x0f, payload: bytes.subarray(from, end), end };
}

function notify(listener: FrameListener, { opcode, payload }: Frame): void {
  if (opcode === 1) listener.text(payload);
  else if (opcode === 9) listener.ping(payload);
  else if (opcode === 8) listener.close(payload.length < 2 ? 1005 : payload.readUInt16BE(0));
}

/** A client's pong: masked, as a client's frames must be; under a mask of zeros the payload stands as it is. */
function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x8a, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
