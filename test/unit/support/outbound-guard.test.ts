import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { takeUnexpectedConnections } from '../../support/network/outbound-guard.ts';

it('notes a connection to another machine, with its host, port and stack', async () => {
  const socket = connect({ host: '203.0.113.1', port: 9 }).on('error', () => undefined);
  await once(socket, 'connectionAttempt');
  socket.destroy();
  const found = takeUnexpectedConnections();
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^203\.0\.113\.1:9 .*opened here[\s\S]*outbound-guard\.test\.ts/);
});

it('notes one that a library opens', async () => {
  const ending = new AbortController();
  const asked = fetch('http://203.0.113.1:8009', { signal: ending.signal }).catch(() => undefined);
  await expect.poll(takeUnexpectedConnections).toEqual([expect.stringMatching(/^203\.0\.113\.1:8009 /)]);
  ending.abort();
  await asked;
});

it('ends a process that the suite starts, and says what it connected to', async () => {
  const script = "require('node:net').connect(9, '203.0.113.1').on('error', () => {}); setTimeout(() => {}, 10_000)";
  const ended = promisify(execFile)(process.execPath, ['-e', script]);
  await expect(ended).rejects.toMatchObject({ code: 86, stderr: expect.stringContaining('203.0.113.1:9 was attempted') });
});

it('lets connections to this machine pass, by address and by name', async () => {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) await once(connect({ host, port }).resume(), 'close');
  server.close();
  // The request of an earlier test may try its address again while it ends.
  expect(takeUnexpectedConnections().filter((found) => found.includes(`:${port} `))).toEqual([]);
});
