import { randomUUID } from 'node:crypto';
import type { Attack, Sent, Target } from './attack.ts';
import { type Opened, open } from './sockets.ts';

const REQUESTS = 240;
/** Streams that one address opens. */
const STREAMS_AN_ADDRESS = 8;
/** The trusted proxy: the service believes what it says of the address that it forwards. */
const PROXY = '127.0.0.1';
/** As long as a client waits for streams that the service leaves open. */
const OPEN_MS = 5_000;

/** `SendStreamingMessage` whose task waits for its caller's input, from an address. */
function streamRequest(forwardedFor: string): string {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
  const head = ['POST /a2a HTTP/1.1', 'Host: 127.0.0.1', `X-Forwarded-For: ${forwardedFor}`, 'A2A-Version: 1.0'];
  return `${[...head, 'Content-Type: application/json', `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** Opens all streams at once, and closes those that are left open. */
async function openStreams({ url, report }: Target, addressOf: (index: number) => string, whose: string): Promise<Sent> {
  const requests = Array.from({ length: REQUESTS }, (_, index) => streamRequest(addressOf(Math.floor(index / STREAMS_AN_ADDRESS))));
  const streams = await Promise.all(requests.map((request) => openStream(url, request)));
  const taken = streams.filter(({ isOpen }) => isOpen).length;
  report(`  streams that ${whose} opened: ${taken} of ${REQUESTS}`);
  for (const { socket } of streams) socket.destroy();
  return { requests: REQUESTS, bytes: requests.reduce((sum, { length }) => sum + length, 0) };
}

interface Stream extends Opened {
  /** False where an error, or nothing, was answered. */
  isOpen: boolean;
}

async function openStream(url: string, request: string): Promise<Stream> {
  const opened = await open(url, PROXY, true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), OPEN_MS);
  opened.socket.once('data', (head: Buffer) => resolve(/^content-type: text\/event-stream/im.test(head.toString('latin1'))));
  opened.socket.once('close', () => resolve(false));
  opened.socket.write(request);
  return { ...opened, isOpen: await promise.finally(() => clearTimeout(timer)) };
}

const hex = (value: number) => value.toString(16);

/** A2A streams from the subnets of one /48, which one subscriber may have, beside as many from unrelated networks. */
export const RANGES: Attack = {
  name: 'ranges',
  what: `${REQUESTS} A2A streams from ${REQUESTS / STREAMS_AN_ADDRESS} subnets of one IPv6 /48, beside as many from networks of their own`,
  honest: (target) => openStreams(target, (index) => `2001:db8:${hex(0x1000 + index)}::1`, 'networks of their own'),
  hostile: (target) => openStreams(target, (index) => `2001:db8:1:${hex(index)}::1`, 'subnets of one /48'),
};
