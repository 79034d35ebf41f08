import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../../../../src/http/server.ts';

const HOST = '127.0.0.1';
/** Fewer than one address may have. */
const CONNECTIONS = 200;

/** Connects from a thread of its own, and counts connections that the kernel has established. */
const CLIENT = `
  const { connect } = require('node:net');
  const { workerData: { port, count, established } } = require('node:worker_threads');
  for (let index = 0; index < count; index++) connect(port, '${HOST}', () => {
    Atomics.add(established, 0, 1);
    Atomics.notify(established, 0);
  });
`;

let server: HttpServer;
afterEach(() => server.close());

const open = (port = 0) => listen((_request, response) => void response.end('answered'), port, HOST);

describe('the listeners of a server', () => {
  it.runIf(process.platform === 'linux')('take several connections in a turn of the event loop', async () => {
    server = await open();
    const established = new Int32Array(new SharedArrayBuffer(4));
    const client = new Worker(CLIENT, { eval: true, workerData: { port: server.port, count: CONNECTIONS, established } });
    await once(client, 'online');
    // This thread accepts nothing meanwhile.
    for (let count = 0; count < CONNECTIONS; count = Atomics.load(established, 0)) Atomics.wait(established, 0, count);
    let turns = 0;
    while (server.listUse().reduce((sum, { used }) => sum + used, 0) < CONNECTIONS) {
      await nextTurn();
      turns += 1;
    }
    expect(turns).toBeLessThan(CONNECTIONS / 4);
    await client.terminate();
  });

  it('refuse the port of another server, which goes on', async () => {
    server = await open();
    await expect(open(server.port)).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'PORT' });
    for (let request = 0; request < 32; request++) {
      const response = await fetch(`http://${HOST}:${server.port}/`, { headers: { Connection: 'close' } });
      expect(await response.text()).toBe('answered');
    }
  });

  it('are all closed with their server', async () => {
    server = await open();
    const { port } = server;
    await server.close();
    for (let attempt = 0; attempt < 32; attempt++) {
      const socket = connect(port, HOST);
      const [error] = await once(socket, 'error');
      expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    }
  });
});
