import { createServer, type Socket } from 'node:net';
import { BSON, type Document, Long, type Timestamp } from 'mongodb';

export interface SnapshotServer {
  /** Needs the option `serverApi`, with which the driver speaks OP_MSG from the start. */
  uri: string;
  /** All but the handshake, in order. */
  commands: Document[];
  close(): Promise<void>;
}

const HEADER_BYTES = 16;
const OP_MSG = 2013;

/**
 * A member of a replica set as far as reading a snapshot goes, by MongoDB's wire protocol: the embedded engine has no sessions, and no server that
 * has them can be installed with the packages of the project. @param clusterTime the instant that its first read answers with
 */
export async function snapshotServer(collections: Readonly<Record<string, Document[]>>, clusterTime: Timestamp): Promise<SnapshotServer> {
  const commands: Document[] = [];
  const sockets = new Set<Socket>();
  let port = 0;
  const hello = () => ({
    ...{ isWritablePrimary: true, setName: 'rs0', hosts: [`127.0.0.1:${port}`], me: `127.0.0.1:${port}`, logicalSessionTimeoutMinutes: 30 },
    ...{ maxBsonObjectSize: 2 ** 24, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, minWireVersion: 0, maxWireVersion: 25 },
  });
  const cursor = (name: string, firstBatch: readonly Document[], more: Document = {}) => ({
    cursor: { id: Long.ZERO, ns: `oracle.${name}`, firstBatch, ...more },
  });
  function answer(command: Document): Document {
    if (command.hello !== undefined) return hello();
    commands.push(command);
    if (command.find !== undefined) return cursor(command.find, collections[command.find] ?? [], { atClusterTime: clusterTime });
    if (command.listCollections !== undefined)
      return cursor(
        '$cmd.listCollections',
        Object.keys(collections).map((name) => ({ name, type: 'collection', options: {} })),
      );
    return command.listIndexes === undefined ? {} : cursor('$cmd.listIndexes', [{ v: 2, key: { _id: 1 }, name: '_id_' }]);
  }
  const server = createServer((socket) => {
    sockets.add(socket);
    let pending = Buffer.alloc(0);
    socket.on('data', (data) => {
      pending = Buffer.concat([pending, data]);
      for (; pending.length >= 4 && pending.length >= pending.readInt32LE(); pending = pending.subarray(pending.readInt32LE())) {
        const command = BSON.deserialize(pending.subarray(HEADER_BYTES + 5, pending.readInt32LE()));
        socket.write(encodeReply(pending.readInt32LE(4), { ok: 1, ...answer(command) }));
      }
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  ({ port } = server.address() as { port: number });
  return {
    uri: `mongodb://127.0.0.1:${port}/oracle?directConnection=true`,
    commands,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function encodeReply(responseTo: number, document: Document): Buffer {
  const body = Buffer.from(BSON.serialize(document));
  const head = Buffer.alloc(HEADER_BYTES + 5);
  for (const [index, value] of [head.length + body.length, 1, responseTo, OP_MSG].entries()) head.writeInt32LE(value, 4 * index);
  return Buffer.concat([head, body]);
}
