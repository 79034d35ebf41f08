import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeExpired } from '../../../../src/app/retention.ts';
import { composeApplications, composeOAuth } from '../../../../src/app/transports.ts';
import { CLIENT_INDEXES, ClientStore, DOCUMENT_LIMITS, REGISTRATION_LIMITS } from '../../../../src/auth/oauth-clients.ts';
import { createChain } from '../../../../src/chain/client.ts';
import { loadConfig } from '../../../../src/config.ts';
import { createListener } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { connectMongo, type Database, ensureIndexes } from '../../../../src/platform/mongo.ts';
import { serveDocuments } from '../../../support/auth/client-document.ts';
import { demoWallets } from '../../../support/auth/login.ts';
import { OAuthTestClient, REDIRECT_URI } from '../../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../../support/auth/oauth-service.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { serveApp } from '../../../support/http/serve.ts';

let oauth: OAuthService;
beforeAll(async () => {
  oauth = await serveOAuthService(0, { TRUST_PROXY: '1', RATE_LIMIT_TASKS: '300', PUSH_LOCAL_TARGETS: 'allow' });
});
afterAll(() => oauth?.close());

const clients = () => oauth.service.database.db.collection('oauth_clients');
const from = (address: string) => new OAuthTestClient(oauth.url, { 'X-Forwarded-For': address });
const register = (address: string) => from(address).register();

/** Statuses of registrations, in order: eight at a time while they are far from a bound, then one by one. */
async function registerFrom(addresses: string[], room = addresses.length): Promise<number[]> {
  const statuses: number[] = [];
  for (let start = 0; start < addresses.length; ) {
    const step = start + 16 <= room ? 8 : 1;
    const replies = await Promise.all(addresses.slice(start, start + step).map(register));
    statuses.push(...replies.map(({ status }) => status));
    start += step;
  }
  return statuses;
}

/** For hundreds of requests. */
const SLOW_MS = 240_000;

const count = (statuses: number[], status: number) => statuses.filter((one) => one === status).length;

describe('registrations without a consent', () => {
  it(
    'of 20 addresses leave room for a new client of another range',
    async () => {
      const addresses = Array.from({ length: 600 }, (_, index) => `203.0.${index % 20}.7`);
      const statuses = await registerFrom(addresses);
      expect(count(statuses, 201) + count(statuses, 429)).toBe(600);
      for (const address of ['198.51.100.1', '2001:db8:77::1']) expect((await register(address)).status, address).toBe(201);
    },
    SLOW_MS,
  );

  it(
    'have a share per address and per range, whose rejection names it and when it opens again',
    async () => {
      const { address, '/24': per24 } = REGISTRATION_LIMITS;
      const statuses = await registerFrom(Array(address + 3).fill('192.0.2.1'), address);
      expect([count(statuses, 201), count(statuses, 429)]).toEqual([address, 3]);
      const { status, body } = await register('192.0.2.1');
      expect(status).toBe(429);
      expect(body).toMatchObject({
        error: 'temporarily_unavailable',
        code: 'RATE_LIMITED',
        retryAfterSeconds: expect.any(Number),
        details: { scope: 'address', limit: address },
        suggestedAction: expect.stringMatching(/\w/),
      });
      expect(body.retryAfterSeconds).toBeGreaterThan(3_500);
      const neighbours = await registerFrom(
        Array.from({ length: per24 - address + 4 }, (_, index) => `192.0.2.${2 + (index % 9)}`),
        per24 - address,
      );
      expect(count(neighbours, 201)).toBe(per24 - address);
      expect((await register('192.0.3.1')).status).toBe(201);
      expect((await register('2001:db8:2::1')).status).toBe(201);
    },
    SLOW_MS,
  );

  it(
    'give their units back by consents: an assistant connects 120 users from one address within an hour',
    async () => {
      const connect = async (user: number) => {
        const client = from('198.18.0.1');
        const { status } = await client.register();
        // The browser of the user.
        client.headers = { 'X-Forwarded-For': `198.18.${1 + user}.9` };
        await client.getCode(demoWallets(oauth.service)[user % 2 === 0 ? 'basic' : 'premium']);
        return status;
      };
      const statuses: number[] = [];
      for (let user = 0; user < 120; user += 4) statuses.push(...(await Promise.all([0, 1, 2, 3].map((next) => connect(user + next)))));
      expect(count(statuses, 201)).toBe(120);
      expect((await register('198.18.0.1')).status).toBe(201);
    },
    SLOW_MS,
  );

  it('vanish after an hour, and those of consents do not', async () => {
    const clock = { ms: Date.now() };
    const now = () => new Date(clock.ms);
    const { database, appOptions, http } = oauth.service;
    const [config, log] = [loadConfig({ PUSH_LOCAL_TARGETS: 'allow' }), createLog({ level: 'silent', secrets: [] })];
    const chain = await createChain({
      rpcUrl: oauth.service.infrastructure.rpcUrl,
      chainId: http.chain.chainId,
      confirmations: 1,
      pollingIntervalMs: 20,
      addresses: http.chain.addresses,
    });
    const context = { ...http, config, log, chain, publicUrl: oauth.url, now };
    const applications = composeApplications(context)!;
    const adapter = composeOAuth(context, { ...applications, access: http.access, hasDemoWallets: false });
    const served = await serveApp(createListener([], appOptions, [adapter]));
    const register = async (address: string) => {
      const client = new OAuthTestClient(served.url, { 'X-Forwarded-For': address });
      await client.register();
      return client;
    };
    const authorize = async (client: OAuthTestClient) => (await client.authorize({ resource: `${oauth.url}/mcp` })).status;
    const [unused, used] = [await register('203.0.113.1'), await register('203.0.113.2')];
    const { location } = await used.authorize({ resource: `${oauth.url}/mcp` });
    const { json } = await used.sign(location!, demoWallets(oauth.service).basic);
    expect((await used.send('POST', location!.pathname, { json: { decision: 'allow', ...json } })).status).toBe(200);
    clock.ms += 3_599_000;
    expect(await authorize(unused)).toBe(303);
    clock.ms += 1_000;
    expect(await authorize(unused)).toBe(400);
    expect(await authorize(used)).toBe(303);
    await purgeExpired(database.db, now());
    const kept = await database.db
      .collection<{ _id: string }>('oauth_clients')
      .find({ _id: { $in: [unused.clientId, used.clientId] } })
      .toArray();
    expect(kept.map(({ _id }) => _id)).toEqual([used.clientId]);
    await served.close();
  });

  it('that two wallets have allowed 120 of are kept 50 for each, and those of the consents of one moment', async () => {
    const used = await clients().countDocuments({ usedBy: { $type: 'string' } });
    expect(used).toBeGreaterThanOrEqual(100);
    expect(used).toBeLessThanOrEqual(104);
  });
});

describe('documents of clients', () => {
  it('have a share per address, which consents do not use up', async () => {
    const documents = await serveDocuments((path, url) => ({
      body: JSON.stringify({ client_id: url, client_name: path, redirect_uris: [REDIRECT_URI] }),
    }));
    const authorize = async (address: string, path: string) => {
      const client = from(address);
      client.clientId = `${documents.url}${path}`;
      return { client, ...(await client.authorize()) };
    };
    const statuses: number[] = [];
    for (let index = 0; index < DOCUMENT_LIMITS.address + 2; index++)
      statuses.push((await authorize('198.51.100.9', `/client-${index}.json`)).status);
    expect([count(statuses, 303), count(statuses, 429)]).toEqual([DOCUMENT_LIMITS.address, 2]);
    const { client, location, status } = await authorize('198.51.101.9', '/allowed.json');
    expect(status).toBe(303);
    expect((await client.decide(location!, demoWallets(oauth.service).basic)).status).toBe(303);
    await documents.close();
  });
});

describe('storage of registrations', () => {
  let database: TestDatabase;
  let others: Database[];
  beforeAll(async () => {
    database = await testDatabase();
    others = await Promise.all([connectMongo(database.uri), connectMongo(database.uri)]);
  });
  afterAll(async () => {
    await Promise.all(others.map((other) => other.close()));
    await database.drop();
  });

  const limits = { ...REGISTRATION_LIMITS, address: 30, '/24': 60 };

  async function stores(shares: Partial<typeof limits> = {}) {
    await database.db.collection('oauth_clients').deleteMany({});
    await ensureIndexes(database.db, CLIENT_INDEXES);
    const clock = { ms: Date.now() };
    const now = () => new Date(clock.ms++);
    return others.map(
      ({ client }) => new ClientStore({ db: client.db(database.db.databaseName), now, limits: { ...limits, ...shares }, maxUnused: 40 }),
    );
  }

  it('is bounded over all processes: the oldest unused one goes first, and never a used one', async () => {
    const [one, two] = (await stores()) as [ClientStore, ClientStore];
    const wallet = `0x${'a'.repeat(40)}` as const;
    await one.insert('used', {}, '10.0.0.1');
    await one.markUsed('used', wallet, new Date(Date.now() + 86_400_000));
    await one.insert('oldest', {}, '10.0.1.1');
    for (let index = 0; index < 80; index++) await [one, two][index % 2]!.insert(`client-${index}`, {}, `10.1.${index}.1`);
    const kept = await database.db.collection<{ _id: string }>('oauth_clients').find().toArray();
    expect(kept).toHaveLength(41);
    expect(kept.map(({ _id }) => _id)).toEqual(expect.arrayContaining(['used', 'client-79', 'client-40']));
    expect(await one.find('oldest')).toBeUndefined();
  });

  it('is not used up by a range: one that has many replaces its own oldest', async () => {
    const [one, two] = (await stores()) as [ClientStore, ClientStore];
    await one.insert('new client', {}, '10.9.9.9');
    for (let index = 0; index < 60; index++)
      await [one, two][index % 2]!.insert(`flood-${index}`, {}, `10.2.${index % 2}.${1 + (index % 30)}`).catch(() => undefined);
    expect(await one.find('new client')).toBeDefined();
    expect(await database.db.collection('oauth_clients').countDocuments()).toBe(40);
  });

  it('is shared by the /64s of a /56, and by the /56s of a /48', async () => {
    const [one, two] = (await stores({ address: 2, '/56': 3, '/48': 5 })) as [ClientStore, ClientStore];
    const insert = (id: string, range: string) =>
      [one, two][id.length % 2]!.insert(id, {}, `${range}::/64`).then(
        () => 'kept',
        ({ details }) => details.scope,
      );
    const outcomes: string[] = [];
    const ranges = ['2001:db8:1:0', '2001:db8:1:0', '2001:db8:1:0', '2001:db8:1:1', '2001:db8:1:2'];
    ranges.push('2001:db8:1:100', '2001:db8:1:200', '2001:db8:1:300', '2001:db8:2:0');
    for (const [index, range] of ranges.entries()) outcomes.push(await insert(`${'x'.repeat(index)}-client`, range));
    expect(outcomes).toEqual(['kept', 'kept', 'address', 'kept', '/56', 'kept', 'kept', '/48', 'kept']);
  });

  it('never exceeds a share when registrations of several processes arrive together', async () => {
    const [one, two] = (await stores()) as [ClientStore, ClientStore];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => [one, two][index % 2]!.insert(`client-${index}`, {}, '10.3.3.3')),
    );
    const accepted = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(accepted).toBeLessThanOrEqual(30);
    expect(await database.db.collection('oauth_clients').countDocuments()).toBe(accepted);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'RATE_LIMITED' });
  });
});
