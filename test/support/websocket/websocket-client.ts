import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';

// biome-ignore lint/suspicious/noExplicitAny: messages are what is tested
type Message = any;

export interface Client {
  socket: WebSocket;
  /** Everything that came, in order. */
  messages: Message[];
  /** The first message of a type, now or later. @throws Error when the connection ends before */
  first(type: string): Promise<Message>;
  /** Resolves once what came satisfies a condition. @throws Error when the connection ends before */
  until(isEnough: (messages: readonly Message[]) => boolean): Promise<void>;
  /** Ids of the events that came. */
  eventIds(): number[];
  send(message: unknown): void;
  closed: Promise<{ code: number; reason: string }>;
}

/** A client of the real library; resolves once it is open, and has said what it hears by then. */
export async function openClient(url: string, options: ClientOptions = {}): Promise<Client> {
  const client = clientOf(new WebSocket(url, options));
  await once(client.socket, 'open');
  return client;
}

function clientOf(socket: WebSocket): Client {
  const messages: Message[] = [];
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  // Each who waits listens.
  socket.setMaxListeners(100);
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const until = (isEnough: (messages: readonly Message[]) => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => isEnough(messages) && resolve();
      socket.on('message', look);
      void closed.then(({ code }) => reject(new Error(`closed with ${code} after ${JSON.stringify(messages).slice(-2_000)}`)));
      look();
    });
  return {
    ...{ socket, messages, closed, until },
    async first(type) {
      await until((all) => all.some((message) => message.type === type));
      return messages.find((message) => message.type === type);
    },
    eventIds: () => messages.flatMap(({ id }) => (id === undefined ? [] : [id])),
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  };
}

export interface Refusal {
  status: number;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  body: any;
}

/** The answer of HTTP to a handshake that is refused. @throws Error when it is not */
export function refusalOf(url: string, options: ClientOptions = {}): Promise<Refusal> {
  const socket = new WebSocket(url, options);
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('it was let in')));
    socket.once('error', reject);
    socket.once('unexpected-response', async (_, response) => {
      const chunks = await response.setEncoding('utf8').toArray();
      resolve({ status: response.statusCode!, headers: response.headers, body: JSON.parse(chunks.join('')) });
    });
  });
}
