import { connect, createServer, type Socket } from 'node:net';

export interface MongoProxy {
  /** Names the same database through the proxy. */
  uri: string;
  close(): Promise<void>;
}

/** The first command of this kind on this collection is the one that is written and never answered. */
export interface MongoWrite {
  command: 'insert' | 'update' | 'findAndModify';
  collection: string;
}

/**
 * A connection to MongoDB that fails at the worst moment: the server has written, and the answer never arrives.
 * `onWritten` is called instead of passing it on.
 */
export async function mongoProxy(target: string, { command, collection }: MongoWrite, onWritten: () => void): Promise<MongoProxy> {
  const [, host, database] = /^mongodb:\/\/([^/]+)\/([^?]*)/.exec(target)!;
  const socketPath = decodeURIComponent(host);
  // A BSON element such as `insert: "<collection>"`: its name, the length of its value, its value.
  const element = Buffer.concat([Buffer.from(`${command}\0`), int32(collection.length + 1), Buffer.from(`${collection}\0`)]);
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(socketPath);
    let written = false;
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => socket.destroy()));
    client.on('data', (data) => {
      written ||= data.includes(element);
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (written) onWritten();
      else client.write(data);
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  return {
    uri: `mongodb://127.0.0.1:${port}/${database}?directConnection=true`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
