import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimsOf } from '../../../src/cli/svc/audit-options.ts';
import { CANDLE_VENUES, fetchVenueCloses } from '../../../src/cli/svc/audit-prices.ts';
import { listening } from '../../support/webhooks/receiver.ts';

const CHUNK = Buffer.alloc(1 << 20, ' ');

/** Answers whatever it is asked with what does not end. */
const server = createServer((_, response) => {
  const write = () => {
    while (!response.destroyed && response.write(CHUNK));
  };
  response.on('drain', write).writeHead(200, { 'Content-Type': 'application/json' });
  write();
});

let url: string;
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const TOO_LONG = /the answer is longer than 16777216 bytes/;

it('are not read to their end from a service', async () => {
  const error = await claimsOf(url)
    .scorecard(1)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'SERVICE_UNREACHABLE', message: expect.stringMatching(TOO_LONG) });
});

it('are not followed over endless pages of a service', async () => {
  let pages = 0;
  const empty = createServer((_, response) => {
    pages += 1;
    response.end(JSON.stringify({ summary: {}, predictions: [], nextCursor: String(pages) }));
  });
  const { port, close } = await listening(empty);
  const error = await claimsOf(`http://127.0.0.1:${port}`)
    .scorecard(1)
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'SERVICE_UNREACHABLE', message: expect.stringContaining('scorecard of the service does not end') });
  expect(pages).toBe(1);
  await close();
});

it('are not read to their end from an exchange', async () => {
  await expect(fetchVenueCloses({ ...CANDLE_VENUES[0], baseUrl: url }, { from: 20_000, to: 20_001 })).rejects.toThrow(TOO_LONG);
});
