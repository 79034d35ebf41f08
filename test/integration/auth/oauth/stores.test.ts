import { afterAll, beforeAll, expect, it } from 'vitest';
import { purgeExpired } from '../../../../src/app/retention.ts';
import { ArtifactStore, GrantStore } from '../../../../src/auth/oauth-clients.ts';
import { connectMongo, type Database } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let others: Database[];
const now = () => new Date();
beforeAll(async () => {
  database = await testDatabase();
  others = await Promise.all([connectMongo(database.uri), connectMongo(database.uri)]);
});
afterAll(async () => {
  await Promise.all(others.map((other) => other.close()));
  await database.drop();
});

it('a code is consumed by one of many requests at once over connections of several processes', async () => {
  const stores = others.map(({ client }) => new ArtifactStore({ db: client.db(database.db.databaseName), now }));
  const expiresAt = new Date(Date.now() + 60_000);
  await stores[0]!.put('AuthorizationCode', 'the code', { jti: 'the code', grantId: 'grant' }, expiresAt);
  const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => stores[index % 2]!.consume('AuthorizationCode', 'the code')));
  expect(taken.filter(Boolean)).toHaveLength(1);
  // Saved again, it stays consumed.
  await stores[1]!.put('AuthorizationCode', 'the code', { grantId: 'grant' }, expiresAt);
  expect(await stores[0]!.find('AuthorizationCode', 'the code')).toMatchObject({ jti: 'the code', consumed: expect.any(Number) });
});

it('the database has no code or token in the clear', async () => {
  const store = new ArtifactStore({ db: database.db, now });
  await store.put('AccessToken', 'a secret token', { jti: 'a secret token', grantId: 'other' }, new Date(Date.now() + 60_000));
  expect(JSON.stringify(await database.db.collection('oauth_artifacts').find().toArray())).not.toContain('a secret token');
});

it('what has expired is not found, and is purged', async () => {
  const store = new ArtifactStore({ db: database.db, now });
  await store.put('Interaction', 'old', {}, new Date(Date.now() - 1));
  expect(await store.find('Interaction', 'old')).toBeUndefined();
  await purgeExpired(database.db, new Date());
  expect(await database.db.collection('oauth_artifacts').countDocuments({ expiresAt: { $lte: new Date() } })).toBe(0);
});

it('a wallet keeps the 50 grants that it used last', async () => {
  const grants = new GrantStore({ db: database.db, now });
  const wallet = `0x${'a'.repeat(40)}` as const;
  for (let index = 0; index < 52; index++) {
    const createdAt = new Date(Date.now() - index * 1_000);
    const fields = { clientId: 'client', tier: 'basic', payload: {}, lastUsedAt: null } as const;
    await grants.put({ _id: `grant-${index}`, wallet, ...fields, createdAt, expiresAt: new Date(Date.now() + 60_000) });
  }
  expect(await grants.listExcess(wallet)).toEqual(['grant-50', 'grant-51']);
});
