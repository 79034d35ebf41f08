import { createSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asTier, demoWallets, signedLogin } from '../../support/auth/login.ts';
import { isWrite, sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { WRITE_FAULTS } from '../../support/faults/mongo-fault-proxy.ts';
import { jsonRequest, requestPatiently } from '../../support/faults/patient-client.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, testService } from '../../support/service/service.ts';
import { startReceiver } from '../../support/webhooks/receiver.ts';

let database: FaultedDatabase;
let service: TestService;
let served: Served;
let headers: Record<string, string>;
let moments = 0;

beforeAll(async () => {
  database = await faultedDatabase();
  service = await testService(0, { MONGODB_URI: database.proxy.uri, PUSH_LOCAL_TARGETS: 'allow' });
  served = await serve(service);
  headers = await asTier(service, 'premium');
});
afterAll(async () => {
  await served.close();
  await service.stop();
  await database.drop();
});

const count = (collection: string, filter: object = {}) => database.direct.db.collection(collection).countDocuments(filter);
const request = (path: string, init?: RequestInit) => requestPatiently(`${served.url}${path}`, init);

/** A time of its own for each signature, in the past. */
function moment(): number {
  moments += 1;
  return Date.now() - 30_000 + moments;
}

/** Sends one request for each of its writes and each fault, and returns how often a client had to repeat one. */
async function sweepRequest(
  name: string,
  send: () => ReturnType<typeof request>,
  check: (body: unknown) => Promise<void> = async () => undefined,
  prepare: () => Promise<void> = async () => undefined,
): Promise<void> {
  let repeats = 0;
  const points = await sweepWrites({
    name,
    proxy: database.proxy,
    faults: WRITE_FAULTS,
    // Written behind, for all requests of a second.
    counts: (command) => isWrite(command) && command.collection !== 'request_counts',
    prepare,
    async scenario() {
      const reply = await send();
      repeats += reply.unavailable;
      expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
      return reply.body;
    },
    check,
  });
  process.stdout.write(`  repeated by the client: ${repeats}\n`);
  expect(points.length).toBeGreaterThan(0);
}

it('opens one session with a login message', async () => {
  const { basic } = demoWallets(service);
  let sessions = await count('sessions');
  let body: object = {};
  await sweepRequest(
    'login',
    async () => {
      body = await signedLogin(basic, moment());
      return request('/api/svc/oracle/verify', jsonRequest('POST', body));
    },
    async () => {
      sessions += 1;
      expect(await count('sessions')).toBe(sessions);
      expect(await request('/api/svc/oracle/verify', jsonRequest('POST', body))).toMatchObject({ status: 409 });
    },
  );
});

it('opens one session with an EIP-4361 message', async () => {
  const { premium } = demoWallets(service);
  let sessions = await count('sessions');
  await sweepRequest(
    'EIP-4361 login',
    async () => {
      const { body } = await request('/api/svc/oracle/nonce');
      const { nonce, domain, uri, chainId } = body;
      const message = createSiweMessage({ address: premium.address, chainId, domain, nonce, uri, version: '1' });
      return request('/api/svc/oracle/siwe', jsonRequest('POST', { message, signature: await premium.signMessage({ message }) }));
    },
    async () => {
      sessions += 1;
      expect(await count('sessions')).toBe(sessions);
    },
  );
});

it('issues a ticket', async () => {
  await sweepRequest(
    'ticket',
    () => request('/api/svc/ws/ticket', { method: 'POST', headers }),
    async () => undefined,
  );
});

it('registers, rotates, changes and deletes one webhook', async () => {
  const receiver = await startReceiver(200);
  const url = `http://127.0.0.1:${receiver.port}/`;
  const register = () => request('/api/svc/webhooks/register', jsonRequest('POST', { url, events: ['signal.new'] }, headers));
  const sealed = async () => (await database.direct.db.collection('webhooks').findOne())?.sealedSecret;
  await sweepRequest('register webhook', register, async (body) => {
    expect(await count('webhooks')).toBe(1);
    await request(`/api/svc/webhooks/${(body as { id: string }).id}`, { method: 'DELETE', headers });
  });
  const { body: webhook } = await register();
  const path = `/api/svc/webhooks/${webhook.id}`;
  let before = await sealed();
  await sweepRequest(
    'rotate secret',
    () => request(`${path}/secret`, jsonRequest('POST', {}, headers)),
    async () => {
      const doc = await database.direct.db.collection('webhooks').findOne();
      // The receiver still has this one.
      expect(doc!.previousSecret.sealed).toBe(before);
      before = doc!.sealedSecret;
    },
  );
  let day = 0;
  await sweepRequest(
    'change webhook',
    () => request(path, jsonRequest('PATCH', { horizons: day++ % 2 === 0 ? ['1d'] : ['7d'] }, headers)),
    async () => undefined,
  );
  await request(path, { method: 'DELETE', headers });
  let id = '';
  await sweepRequest(
    'delete webhook',
    () => request(`/api/svc/webhooks/${id}`, { method: 'DELETE', headers }),
    async () => expect(await count('webhooks')).toBe(0),
    async () => {
      id = (await register()).body.id;
    },
  );
  await receiver.close();
});

it('ends a session', async () => {
  let own: Record<string, string> = {};
  await sweepRequest(
    'logout',
    () => request('/api/svc/oracle/session', { method: 'DELETE', headers: own }),
    async () => undefined,
    async () => {
      own = await asTier(service, 'basic');
    },
  );
});
