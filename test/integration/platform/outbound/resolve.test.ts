import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createResolver, LOOKUP_LIMITS } from '../../../../src/platform/outbound/guarded.ts';

const A = 1;
const [NO_ERROR, NO_NAME] = [0, 3];
const ADDRESSES: Record<number, Buffer> = {
  1: Buffer.from([93, 184, 215, 14]),
  28: Buffer.from('2606280002200001024818930c25ab01', 'hex'),
};

/** A local name server, which responds on request; it resolves every name that does not begin with `no`. */
async function nameServer() {
  const questions: { name: string; answer(): void }[] = [];
  const [asked, answered] = [new Set<string>(), new Set<string>()];
  const seen = { most: 0 };
  let talks = false;
  let onQuestion = () => {};
  const socket = createSocket('udp4', (packet, { port, address }) => {
    const end = packet.indexOf(0, 12);
    const name = packet.subarray(13, 13 + packet[12]!).toString();
    const type = packet.readUInt16BE(end + 1);
    const known = !name.startsWith('no') && !(name.startsWith('v4') && type !== A);
    const answer = () => {
      answered.add(name);
      socket.send(answerTo(packet, end + 5, known ? type : null, name.startsWith('no') ? NO_NAME : NO_ERROR), port, address);
    };
    asked.add(name);
    seen.most = Math.max(seen.most, asked.size - answered.size);
    questions.push({ name, answer });
    onQuestion();
    if (talks) answer();
  }).bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return {
    server: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    seen,
    talk() {
      talks = true;
      for (const { answer } of questions) answer();
    },
    until: (names: number) =>
      new Promise<void>((done) => {
        onQuestion = () => void (asked.size >= names && done());
        onQuestion();
      }),
  };
}

function answerTo(query: Buffer, end: number, type: number | null, code: number): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(type === null ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  if (type === null) return head;
  const data = ADDRESSES[type]!;
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, record, data]);
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `x${index}.example.com`);

test('a name leads to its addresses of both kinds, or to those it has', async () => {
  const { server, talk } = await nameServer();
  talk();
  const resolve = createResolver({ servers: [server] });
  expect(await resolve('hooks.example.com')).toEqual(['93.184.215.14', '2606:2800:220:1:248:1893:c25:ab01']);
  expect(await resolve('v4.example.com')).toEqual(['93.184.215.14']);
  await expect(resolve('no.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('resolves localhost without a query', async () => {
  const { server, asked } = await nameServer();
  expect(await createResolver({ servers: [server] })('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(asked.size).toBe(0);
});

test('a server that is silent is waited for as long as is said', async () => {
  const { server } = await nameServer();
  await expect(createResolver({ servers: [server], timeoutMs: 50 })('hooks.example.com')).rejects.toMatchObject({ code: 'ETIMEOUT' });
});

test('silent servers keep no other look-up of the process waiting', async () => {
  const { server, until, talk } = await nameServer();
  const resolve = createResolver({ servers: [server] });
  const slow = numbered(LOOKUP_LIMITS.maxConcurrent).map(resolve);
  await until(LOOKUP_LIMITS.maxConcurrent);
  expect(await lookup('localhost')).toMatchObject({ address: expect.stringMatching(/^(127\.|::1$)/) });
  talk();
  expect(await Promise.all(slow)).toHaveLength(LOOKUP_LIMITS.maxConcurrent);
});

test('so many names at once, some more in their turn, and no further ones', async () => {
  const { server, until, talk, seen } = await nameServer();
  const resolve = createResolver({ servers: [server] });
  const all = numbered(LOOKUP_LIMITS.maxConcurrent + LOOKUP_LIMITS.maxQueued).map(resolve);
  await expect(resolve('late.example.com')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await until(LOOKUP_LIMITS.maxConcurrent);
  talk();
  expect(await Promise.all(all)).toEqual(Array(all.length).fill(['93.184.215.14', '2606:2800:220:1:248:1893:c25:ab01']));
  expect(seen.most).toBe(LOOKUP_LIMITS.maxConcurrent);
  expect(await resolve('late.example.com')).toHaveLength(2);
});
