import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let receiver: Promise<string> | undefined;

/** A callback on this machine that takes whatever comes: one a process, which keeps no process from ending. Its URL. */
export function openReceiver(): Promise<string> {
  receiver ??= startReceiver();
  return receiver;
}

async function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
