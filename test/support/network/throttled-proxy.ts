import { connect, createServer, type Socket } from 'node:net';

export interface Cable {
  /** Names the same database through the cable. */
  uri: string;
  /** Resets all connections, open ones too. */
  cut(): void;
  /** Accepts connections and never answers. */
  hang(): void;
  mend(): void;
  close(): Promise<void>;
}

/** A connection to the MongoDB on a unix socket or a port that can be cut and mended. */
export async function cable(target: string): Promise<Cable> {
  const [, host, database] = /^mongodb:\/\/([^/]+)\/([^?]*)/.exec(target)!;
  const [name, port] = decodeURIComponent(host).split(':');
  let state: 'whole' | 'cut' | 'hanging' = 'whole';
  const sockets = new Set<Socket>();
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy();
    const upstream = port === undefined ? connect(name) : connect(Number(port), name);
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
    client.on('data', (data) => {
      if (state === 'whole') upstream.write(data);
    });
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    uri: `mongodb://127.0.0.1:${(server.address() as { port: number }).port}/${database}?directConnection=true`,
    cut() {
      state = 'cut';
      destroyAll();
    },
    hang() {
      state = 'hanging';
    },
    mend() {
      state = 'whole';
      destroyAll();
    },
    async close() {
      destroyAll();
      await new Promise((done) => server.close(done));
    },
  };
}
