import { connect, type Socket } from 'node:net';

/** Where a connection of a benchmark comes from: each call names another address of the loopback network. */
export function createAddresses(): () => string {
  let last = 256;
  return () => {
    last += 1;
    return `127.${1 + (last >> 16)}.${(last >> 8) & 255}.${last & 255}`;
  };
}

export interface Opened {
  socket: Socket;
  /** Resolves when the connection is over, for whatever reason. */
  closed: Promise<void>;
}

/** A connection from an address of this machine. @param reads false: nothing that comes is ever read */
export function open(url: string, from: string, reads: boolean): Promise<Opened> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from, noDelay: true });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => socket.destroy());
  if (reads) socket.resume();
  else socket.pause();
  return new Promise((resolve) => {
    socket.once('connect', () => resolve({ socket, closed }));
    socket.once('close', () => resolve({ socket, closed }));
  });
}

/** The bytes of a GET. */
export function getRequest(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Sends requests of which the last says `Connection: close`, and reads until the server closes. Resolves to what came. */
export async function exchange(url: string, from: string, bytes: string): Promise<string> {
  const { socket, closed } = await open(url, from, true);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}
