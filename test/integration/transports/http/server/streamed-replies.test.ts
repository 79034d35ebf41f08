import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Route, route } from '../../../../../src/http/route.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

const PART = Buffer.alloc(65_536, 'x');
const PARTS = 200;

let service: TestService;
let served: Served;
let read = 0;
let ended = 0;
beforeAll(async () => {
  service = await testService(0);
  served = await serve(service, [streamRoute('/whole', PARTS), streamRoute('/broken', 3)]);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

/** Announces `PARTS` parts and fails after `count` unless all are there. */
function streamRoute(path: string, count: number): Route {
  async function* readParts() {
    try {
      for (let number = 0; number < count; number++) {
        read++;
        yield PART;
      }
      if (count < PARTS) throw new Error('a part is missing');
    } finally {
      ended++;
    }
  }
  return route(`GET ${path}`, path.slice(1), {
    tag: 'record',
    reply: null,
    summary: 'A stream',
    handle: () => ({
      headers: { 'Content-Type': 'application/octet-stream' },
      streamed: { bytes: PART.length * PARTS, encoding: null, read: readParts },
    }),
  });
}

it('sends all parts under the announced length', async () => {
  const response = await fetch(`${served.url}/whole`);
  expect(response.headers.get('content-length')).toBe(String(PART.length * PARTS));
  expect((await response.arrayBuffer()).byteLength).toBe(PART.length * PARTS);
});

it('reads no further than the client, and ends with its connection', async () => {
  [read, ended] = [0, 0];
  const asked = request(`${served.url}/whole`, (response) => response.pause());
  asked.on('error', () => undefined).end();
  await vi.waitFor(() => expect(read).toBeGreaterThan(0));
  await sleep(300);
  expect(read).toBeLessThan(PARTS);
  asked.destroy();
  await vi.waitFor(() => expect(ended).toBe(1));
});

it('ends the connection when a part cannot be read', async () => {
  const response = await fetch(`${served.url}/broken`);
  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
});
