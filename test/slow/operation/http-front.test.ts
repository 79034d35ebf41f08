import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ownService } from '../../support/service/own-service.ts';

const SEED = Number(process.env.FRONT_SEED ?? 20261123);
const FUZZ_MS = 30_000;
/** Hostile connections that are kept open at a time. */
const MAX_OPEN = 300;
const MAX_HEALTH_MS = 1_000;
/** Above the memory before: what clients may leave unread, the sockets, and a heap that grows under load. It stays level from 20 s on. */
const MAX_GROWTH_MB = 450;

const PATHS = [
  '/',
  '/docs/swagger-ui-bundle.js',
  '/.well-known/openapi.json',
  '/api/svc/open/signal',
  '/page/page-0000000000000000.js',
  '/nothing',
];

/** Mulberry32: numbers from 0 to 1 that a seed determines. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Attack {
  url: URL;
  random(): number;
}

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;

const get = (path: string, ...headers: string[]) => `${[`GET ${path} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;

/** A connection from one of twenty loopback addresses, paused until the test reads it. */
function open({ url, random }: Attack): Socket {
  const localAddress = `127.0.0.${10 + Math.floor(random() * 20)}`;
  const socket = connect({ host: url.hostname, port: Number(url.port), localAddress, allowHalfOpen: true });
  return socket.on('error', () => socket.destroy());
}

/** Each leaves its connection as it is; the caller resets it later. */
const ATTACKS: Record<string, (socket: Socket, attack: Attack) => void> = {
  halfRequest: (socket, { random }) => socket.write(get(pick(PATHS, random)).slice(0, -1 - Math.floor(random() * 20))),
  pipeline: (socket, { random }) => socket.write(get(pick(PATHS, random)).repeat(1 + Math.floor(random() * 2_000))),
  unread: (socket, { random }) => socket.write(get(pick(PATHS, random), pick(['Connection: close', 'Accept-Encoding: br'], random))),
  slowRead(socket, { random }) {
    socket.write(get(pick(PATHS, random)));
    const timer = setInterval(() => socket.read(1), 500);
    socket.once('close', () => clearInterval(timer));
  },
  slowWrite(socket, { random }) {
    const bytes = get(pick(PATHS, random));
    let sent = 0;
    const timer = setInterval(() => socket.write(bytes[sent++ % bytes.length]!), 200);
    socket.once('close', () => clearInterval(timer));
  },
  reset: (socket, { random }) => socket.write(get(pick(PATHS, random)).repeat(3), () => socket.resetAndDestroy()),
  oversizedHead: (socket) => socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(100_000)}`),
  brokenChunks: (socket, { random }) =>
    socket.write(
      `POST /api/svc/oracle/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${pick(['zz\r\n', 'ffffffffff\r\n', '5\r\nabc', '1\r\nab\r\n', '-1\r\n'], random)}`,
    ),
  upgradeGarbage: (socket, { random }) =>
    socket.write(get('/ws/signal', 'Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Key: ${random()}`) + '\0\xff'.repeat(1_000)),
  halfClosed: (socket, { random }) => socket.end(get(pick(PATHS, random)).repeat(2)),
  garbage: (socket, { random }) => socket.write(Buffer.from(Array.from({ length: 300 }, () => Math.floor(random() * 256)))),
};

/** Milliseconds until `/health` has answered an address that attacks nothing. */
function askHealth(url: URL): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request({ host: url.hostname, port: url.port, path: '/health', agent: false, localAddress: '127.0.0.2' }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`/health answered ${response.statusCode}`));
      });
    });
    asked.on('error', reject).end();
  });
}

/** Resident memory of a process in megabytes. */
function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_000;
}

describe.runIf(process.platform === 'linux')(`the HTTP front under hostile sockets, seed ${SEED}`, () => {
  const own = ownService(0);

  it('answers /health within a second throughout, in bounded memory that it gives back', async () => {
    // What attackers are refused by, as in production.
    const { url: address, child } = await own.start({ RATE_LIMIT_PUBLIC: '60' });
    const attack = { url: new URL(address), random: randomNumbers(SEED) };
    for (const path of PATHS) await fetch(`${address}${path}`).then((response) => response.arrayBuffer());
    const memoryBefore = residentMb(child.pid!);
    const attackers: Socket[] = [];
    const healthMs: number[] = [];
    let maxMemory = memoryBefore;
    for (const until = performance.now() + FUZZ_MS; performance.now() < until; ) {
      for (let n = 0; n < 20; n++) {
        const socket = open(attack);
        ATTACKS[pick(Object.keys(ATTACKS), attack.random)]!(socket, attack);
        attackers.push(socket);
        if (attackers.length > MAX_OPEN) attackers.splice(Math.floor(attack.random() * MAX_OPEN), 1)[0]!.resetAndDestroy();
      }
      healthMs.push(await askHealth(attack.url));
      maxMemory = Math.max(maxMemory, residentMb(child.pid!));
      await delay(50);
    }
    for (const socket of attackers) socket.destroy();
    process.stdout.write(`/health: ${healthMs.length} answers, slowest ${Math.max(...healthMs).toFixed(0)} ms; `);
    process.stdout.write(`memory ${memoryBefore.toFixed(0)} MB, at most ${maxMemory.toFixed(0)} MB\n`);
    expect(Math.max(...healthMs)).toBeLessThan(MAX_HEALTH_MS);
    expect(maxMemory).toBeLessThan(memoryBefore + MAX_GROWTH_MB);
    await expect.poll(() => residentMb(child.pid!), { timeout: 60_000, interval: 1_000 }).toBeLessThan(memoryBefore + 120);
  });
});
