import { encodeFunctionData, type Hex, parseAbi, parseUnits } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { composeWebSocket, type EventPublishing, type OpenWebSocket } from '../../../../src/app/events.ts';
import { AUTH_INDEXES, AuthService } from '../../../../src/auth/auth.ts';
import type { Context } from '../../../../src/context.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { WEBSOCKET } from '../../../../src/events/events.ts';
import { EVENT_INDEXES, EventLog, followEvents } from '../../../../src/events/log.ts';
import { SLOT_INDEXES } from '../../../../src/events/websocket/hub.ts';
import { createHandshakeHandler } from '../../../../src/http/routes/websocket.ts';
import { createHandshakeApp, type HttpServer, listen } from '../../../../src/http/server.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { signedLogin } from '../../../support/auth/login.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type RpcProxy, rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { type ManualClock, manualClock } from '../../../support/clock/manual-clock.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { type Client, openClient } from '../../../support/websocket/websocket-client.ts';

/** Open connections with real sessions, balances and tokens, on a manual clock. */

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);
const log = createLog({ level: 'silent', secrets: [] });
const PREMIUM = '1000000000';
const ROUND_MS = 30_000;

let database: TestDatabase;
let chain: TestChain;
let proxy: RpcProxy;
let clock: ManualClock;
let access: AuthService;
let opened: OpenWebSocket;
let server: HttpServer;

beforeAll(async () => {
  [database, chain] = await Promise.all([testDatabase(), testChain()]);
  proxy = await rpcProxy(chain.rpcUrl);
  await ensureIndexes(database.db, [...AUTH_INDEXES, ...EVENT_INDEXES, ...SLOT_INDEXES]);
});
afterAll(async () => {
  await proxy.close();
  await chain.stop();
  await database.drop();
});

beforeEach(async () => {
  proxy.hooks = {};
  clock = manualClock(new Date('2025-12-31T23:50:00Z'));
  const { db } = database;
  const connected = await chain.connect({ rpcUrl: proxy.url, confirmations: 1 });
  const siwe = { domain: 'oracle.example', origin: 'https://oracle.example', chainId: chain.chainId };
  const secretBox = createSecretBox('s'.repeat(32));
  access = new AuthService({ db, chain: connected, secretBox, issuer: 'eip155:84532:0x0:0', siwe, now: () => clock.now() });
  const events = new EventLog(db);
  const push: EventPublishing = {
    events,
    publish: async () => 0,
    follow: (listener, signal) => followEvents({ events, listener, log, signal: signal! }),
  };
  const view = { saltSecret: 'salt', policy: 'resolution', publicUrl: 'http://127.0.0.1:3000', chainId: chain.chainId } as const;
  const websocket = composeWebSocket({ db, log, now: () => clock.now() } as unknown as Context, { access, push, view });
  opened = await websocket.open(clock);
  const door = { log, identify: (authorization: string | undefined) => access.identify(authorization) };
  const app = createHandshakeApp({ path: WEBSOCKET.path, handler: createHandshakeHandler(opened.deps, {}) }, door);
  server = await listen(app, 0, '127.0.0.1');
  server.serveHandshakes(app);
});
afterEach(async () => {
  const closing = opened.close();
  clock.advance(2_000);
  await closing;
  await server.close();
});

type Account = ReturnType<typeof privateKeyToAccount>;

async function transfer(from: Account | typeof chain.deployer, to: Hex, tokens: string): Promise<void> {
  await chain.rpc('anvil_setBalance', from.address, '0x56bc75e2d63100000');
  const data = encodeFunctionData({ abi, functionName: 'transfer', args: [to, parseUnits(tokens, 18)] });
  await sendTransactions(chain.rpcUrl, from as Account, [{ to: chain.addresses.gateToken, data }]);
}

async function walletWith(tokens: string): Promise<Account> {
  const account = privateKeyToAccount(generatePrivateKey());
  await transfer(chain.deployer, account.address, tokens);
  return account;
}

let logins = 0;

/** A token of a session of its own: each signature works once. */
async function tokenOf(account: Account): Promise<string> {
  logins += 1;
  return (await access.logIn(await signedLogin(account, clock.now().getTime() - logins))).token;
}

async function connect(token: string): Promise<Client> {
  const client = await openClient(`ws://127.0.0.1:${server.port}/ws/signal?token=${token}`);
  await client.first('connected');
  return client;
}

/** Time goes on to the next round; its pings are answered. */
async function rounds(count: number, clients: readonly Client[]): Promise<void> {
  for (let round = 0; round < count; round++) {
    const pinged = clients.map(({ socket }) => new Promise((resolve) => socket.once('ping', resolve)));
    clock.advance(ROUND_MS);
    await Promise.all(pinged);
    await answered(clients);
  }
}

/** What a client sent before has been heard when this is answered. */
async function answered(clients: readonly Client[]): Promise<void> {
  const pongs = ({ messages }: Client) => messages.filter(({ type }) => type === 'pong').length;
  await Promise.all(
    clients.map(async (client) => {
      const before = pongs(client);
      client.send({ type: 'ping' });
      await client.until(() => pongs(client) > before);
    }),
  );
}

const tierOf = async (client: Client, token: string) => {
  client.send({ type: 'authenticate', data: { token } });
  return (await client.first('authenticated')).data.tier;
};

it('a session that is revoked ends its connections within a round, and no other of the wallet', async () => {
  const account = await walletWith(PREMIUM);
  const [revoked, kept] = [await tokenOf(account), await tokenOf(account)];
  const [client, same, other] = [await connect(revoked), await connect(revoked), await connect(kept)];
  await access.logOut((await access.identifyToken(revoked)).caller.sessionId!);
  clock.advance(ROUND_MS);
  expect([(await client.closed).code, (await same.closed).code]).toEqual([4001, 4001]);
  await answered([other]);
});

it('an API key that is revoked ends its connections within a round, and no other of the wallet', async () => {
  const account = await walletWith(PREMIUM);
  const issue = () => access.apiKeys.issue(account.address, { label: 'a bot', tier: 'basic', expiresInDays: null });
  const [revoked, kept] = [await issue(), await issue()];
  const [client, other] = [await connect(revoked.key), await connect(kept.key)];
  expect(client.messages[0].data).toMatchObject({ tier: 'basic', wallet: account.address, expiresAt: null });
  await rounds(3, [client, other]);
  await opened.hub.checkConnections();
  // An open connection is a use.
  for (const { createdAt, lastUsedAt } of await access.apiKeys.list(account.address)) expect(lastUsedAt! > createdAt).toBe(true);
  await access.apiKeys.revoke(account.address, revoked.entry.id);
  clock.advance(ROUND_MS);
  expect((await client.closed).code).toBe(4001);
  await answered([other]);
});

it('an API key ends its connection when it expires', async () => {
  const account = await walletWith(PREMIUM);
  const { key } = await access.apiKeys.issue(account.address, { label: 'a bot', tier: 'premium', expiresInDays: 30 });
  const expiresAt = new Date('2025-12-31T23:50:45.000Z');
  await database.db.collection('api_keys').updateMany({ wallet: account.address }, { $set: { expiresAt } });
  const client = await connect(key);
  expect(client.messages[0].data).toMatchObject({ tier: 'premium', expiresAt: expiresAt.toISOString() });
  await rounds(1, [client]);
  await client.first('token.expiring');
  clock.advance(15_000);
  expect((await client.closed).code).toBe(4001);
});

it('a connection that went on with another session does not end with the one before', async () => {
  const account = await walletWith(PREMIUM);
  const before = await tokenOf(account);
  const client = await connect(before);
  expect(await tierOf(client, await tokenOf(account))).toBe('premium');
  await access.logOut((await access.identifyToken(before)).caller.sessionId!);
  await rounds(1, [client]);
  await answered([client]);
});

it('closes all connections of a wallet below Basic with 4003, after one balance read', async () => {
  const account = await walletWith(PREMIUM);
  const clients = [await connect(await tokenOf(account)), await connect(await tokenOf(account)), await connect(await tokenOf(account))];
  await transfer(account, chain.deployer.address, PREMIUM);
  await rounds(1, clients);
  const before = proxy.counts.get('eth_call') ?? 0;
  // A minute after the login the balance is no longer fresh.
  await rounds(1, clients);
  clock.advance(ROUND_MS);
  expect(await Promise.all(clients.map(async ({ closed }) => (await closed).code))).toEqual([4003, 4003, 4003]);
  expect((proxy.counts.get('eth_call') ?? 0) - before).toBe(1);
});

it('a chain that cannot be read for more than five minutes ends connections with 1013, and not before', async () => {
  const account = await walletWith(PREMIUM);
  const client = await connect(await tokenOf(account));
  proxy.hooks = { onRequest: () => 'drop' };
  await rounds(10, [client]);
  // One look at a time: the next one must not join one of before.
  await opened.hub.checkConnections();
  await answered([client]);
  expect(opened.hub.size).toBe(1);
  clock.advance(ROUND_MS);
  expect((await client.closed).code).toBe(1013);
});

it('a fresh token of a wallet that has fallen below Basic is rejected, and changes nothing', async () => {
  const account = await walletWith(PREMIUM);
  const client = await connect(await tokenOf(account));
  const fresh = await tokenOf(account);
  await database.db.collection('sessions').updateMany({ wallet: account.address }, { $set: { 'gate.tier': 'public' } });
  client.send({ type: 'authenticate', data: { token: fresh } });
  expect((await client.first('error')).data).toMatchObject({ code: 'TIER_REQUIRED' });
});

it('a token ends its connection with its session, 30 minutes after the login', async () => {
  const account = await walletWith('500000000');
  const client = await connect(await tokenOf(account));
  expect(client.messages[0].data).toMatchObject({ tier: 'basic', wallet: account.address, expiresAt: '2026-01-01T00:20:00.000Z' });
  await rounds(58, [client]);
  await client.first('token.expiring');
  await rounds(1, [client]);
  clock.advance(ROUND_MS - 1);
  await answered([client]);
  clock.advance(1);
  expect((await client.closed).code).toBe(4001);
});
