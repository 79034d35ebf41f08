import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface FrameParts {
  opcode: number;
  payload?: string | Buffer;
  fin?: boolean;
  masked?: boolean;
  /** Three bits. */
  reserved?: number;
}

const MASK = Buffer.from([1, 2, 3, 4]);

/** A frame as it goes over the wire, right or wrong (RFC 6455, section 5.2). */
export function frame({ opcode, payload = '', fin = true, masked = true, reserved = 0 }: FrameParts): Buffer {
  const data = Buffer.from(payload);
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const bit = masked ? 0x80 : 0;
  const head =
    data.length < 126 ? Buffer.from([first, bit | data.length]) : Buffer.from([first, bit | 126, data.length >> 8, data.length & 255]);
  return Buffer.concat([head, ...(masked ? [MASK, data.map((byte, index) => byte ^ MASK[index % 4])] : [data])]);
}

/** A frame as the server sent it. */
interface Frame {
  opcode: number;
  payload: Buffer;
}

export interface RawSocket {
  socket: Socket;
  /** The head of the answer to the handshake. */
  head: string;
  /** Resolves with a text that the server has sent, now or later. @throws Error when the connection ends before */
  text(pattern: RegExp): Promise<string>;
  /** What the server has sent so far. */
  received(): Frame[];
  /** The code of the server's close frame once the connection is over; null where it sent none. */
  closeCode: Promise<number | null>;
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** Sends a handshake as bytes, with what follows it in the same write. */
export async function rawSocket(url: string, { behind = '' as string | Buffer, headers = [] as string[] } = {}): Promise<RawSocket> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${KEY}`,
    ...headers,
  ];
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), Buffer.from(behind)]));
  const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  while (!bytes.includes('\r\n\r\n')) await Promise.race([once(socket, 'data'), over.then(() => Promise.reject(new Error('no answer')))]);
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const frames = () => framesOf(bytes.subarray(end));
  return {
    socket,
    head: bytes.subarray(0, end).toString(),
    text: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = frames().find(({ opcode, payload }) => opcode === 1 && pattern.test(payload.toString()));
          if (found !== undefined) resolve(found.payload.toString());
        };
        socket.on('data', look);
        void over.then(() => reject(new Error('it was closed')));
        look();
      }),
    received: frames,
    closeCode: over.then(
      () =>
        frames()
          .find(({ opcode }) => opcode === 8)
          ?.payload.readUInt16BE() ?? null,
    ),
  };
}

/** The whole frames in what a server has sent: it masks none. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1] & 0x7f;
    const from = at + (short === 126 ? 4 : 2);
    const length = short === 126 ? bytes.readUInt16BE(at + 2) : short;
    if (from + length > bytes.length) break;
    frames.push({ opcode: bytes[at] & 0x0f, payload: bytes.subarray(from, from + length) });
    at = from + length;
  }
  return frames;
}
