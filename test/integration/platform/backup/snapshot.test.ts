import { Timestamp } from 'mongodb';
import { expect, it } from 'vitest';
import { openDatabaseReader } from '../../../../src/platform/backup.ts';
import { connectMongo } from '../../../../src/platform/mongo.ts';
import { snapshotServer } from '../../../support/database/snapshot-server.ts';

it('reads every collection of a replica set at the instant of its first read, in one session', async () => {
  const clusterTime = new Timestamp({ t: 1_700_000_000, i: 7 });
  const server = await snapshotServer({ days: [{ _id: 'a' }], forecasts: [{ _id: 'b' }] }, clusterTime);
  const database = await connectMongo(server.uri, { serverApi: '1' });
  try {
    const reader = await openDatabaseReader(database);
    expect(reader.consistency).toBe('snapshot');
    const names = (await reader.listCollections()).map(({ name }) => name);
    expect(names).toEqual(['days', 'forecasts']);
    for (const name of names) {
      for await (const raw of reader.readDocuments(name)) expect(raw.length).toBeGreaterThan(5);
    }
    await reader.close();
    const [first, ...later] = server.commands.filter(({ find }) => find !== undefined);
    expect(first).toMatchObject({ find: 'backups', readConcern: { level: 'snapshot' } });
    expect(first!.readConcern).not.toHaveProperty('atClusterTime');
    expect(later.map(({ find, readConcern }) => ({ find, ...readConcern }))).toEqual(
      names.map((find) => ({ find, level: 'snapshot', atClusterTime: clusterTime })),
    );
    for (const { lsid } of later) expect(lsid).toEqual(first!.lsid);
    // Servers refuse a snapshot of catalogues.
    for (const command of server.commands) if (command.find === undefined) expect(command).not.toHaveProperty('readConcern');
    // Listed once the instant is set, so that no collection of it is missed.
    expect(server.commands.findIndex(({ listCollections }) => listCollections !== undefined)).toBeGreaterThan(
      server.commands.indexOf(first!),
    );
  } finally {
    await database.close();
    await server.close();
  }
});
