import { connect, createServer } from 'node:net';
import { privateKeyToAccount } from 'viem/accounts';
import { createOracleClient, type OracleClient, type OracleClientOptions } from '../../../clients/typescript/src/client.ts';
import type { DemoWallet } from '../auth/login.ts';
import type { ExampleWorld } from '../docs/example-world.ts';
import { listening } from '../webhooks/receiver.ts';

/** A client of clients/typescript, with the account of a demonstration wallet. */
export function openClient(world: ExampleWorld, wallet?: DemoWallet, options: Partial<OracleClientOptions> = {}): OracleClient {
  const account = wallet === undefined ? undefined : privateKeyToAccount(world.keyOf(wallet));
  return createOracleClient({ url: world.url, account, ...options });
}

export async function take<T>(events: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

/** A network that resets WebSocket n once so many bytes of `limits` came over it; later ones and other requests stay. */
export async function droppingRelay(url: string, limits: readonly number[]) {
  const target = new URL(url);
  let accepted = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    let left = Number.POSITIVE_INFINITY;
    client.on('data', (data) => {
      if (/sec-websocket-key/i.test(data.toString('latin1'))) left = limits[accepted++] ?? left;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      left -= data.length;
      if (left > 0) client.write(data);
      else client.resetAndDestroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, count: () => accepted, close };
}
