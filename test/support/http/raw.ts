import { connect, type Socket } from 'node:net';

export interface RawConnection {
  socket: Socket;
  /** Everything that came, once the server has closed the connection. */
  ended: Promise<string>;
  /** Resolves when what came so far matches. */
  until(pattern: RegExp): Promise<string>;
}

/** A connection on which bytes are sent as they are. */
export function rawConnection(url: string): RawConnection {
  const { hostname, port } = new URL(url);
  let text = '';
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  socket.on('error', () => socket.destroy());
  socket.on('data', (data: string) => {
    text += data;
  });
  const until = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => pattern.test(text) && resolve(text);
      socket.on('data', look).once('close', () => (pattern.test(text) ? resolve(text) : reject(new Error(`closed after: ${text}`))));
      look();
    });
  return { socket, ended, until };
}

/** Sends bytes and reads until the server closes. */
export function rawExchange(url: string, bytes: string): Promise<string> {
  const { socket, ended } = rawConnection(url);
  socket.write(bytes);
  return ended;
}

/** The body of the last answer in what came. */
export function bodyOf(answer: string): Record<string, unknown> {
  return JSON.parse(answer.slice(answer.lastIndexOf('\r\n\r\n') + 4));
}
