import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asTier } from '../../support/auth/login.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { type TestService, testService } from '../../support/service/service.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

type Library = { Webhook: new (secret: string) => { verify(body: string, headers: Record<string, string>): unknown } };

// Not imported, because the type checker runs without the packages of this folder.
const load = createRequire(import.meta.url);
const LIBRARIES = ['standardwebhooks', 'svix'].map((name) => load(name) as Library);

const KEY = Buffer.alloc(32, 0xfb);

let service: TestService;
let served: Served;
let target: Receiver;
beforeAll(async () => {
  service = await testService(0, { PUSH_LOCAL_TARGETS: 'allow' });
  served = await serve(service);
  target = await startReceiver(204);
});
afterAll(async () => {
  await target.close();
  await served.close();
  await service.stop();
});

it.each<[string, string | undefined]>([
  ['a generated one', undefined],
  ['whsec_ and base64', `whsec_${KEY.toString('base64')}`],
  ['whsec_ and base64 without padding', `whsec_${KEY.toString('base64').replace('=', '')}`],
  ['bare base64', KEY.toString('base64')],
  ['hex', KEY.toString('hex')],
  ['v1,whsec_', `v1,whsec_${KEY.toString('base64')}`],
  ['any other text', 'a shared secret, long enough'],
])('the official libraries verify a delivery with the key of the answer, for a secret of any form: %s', async (_, secret) => {
  const headers = { ...(await asTier(service, 'basic')), 'Content-Type': 'application/json' };
  const post = async (path: string, body: object) => {
    const response = await fetch(`${served.url}/api/svc/webhooks/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await response.json()) as { id: string; verificationKey: string; delivered?: boolean };
  };
  const { id, verificationKey } = await post('register', { url: target.url, events: ['signal.new'], secret });
  expect(await post(`${id}/test`, {})).toMatchObject({ delivered: true });
  const { body, headers: sent } = target.received.at(-1)!;
  for (const { Webhook } of LIBRARIES) {
    const verify = (text: string) => new Webhook(verificationKey).verify(text, sent as Record<string, string>);
    verify(body);
    expect(() => verify(body.replace(id, 'another'))).toThrow();
  }
  await fetch(`${served.url}/api/svc/webhooks/${id}`, { method: 'DELETE', headers });
});
