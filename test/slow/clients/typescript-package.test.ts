import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type InstalledClient, installClient } from '../../support/clients/installed-client.ts';
import { type ExampleWorld, exampleWorld } from '../../support/docs/example-world.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { findFreePort } from '../../support/http/serve.ts';

let world: ExampleWorld;
let client: InstalledClient;
beforeAll(async () => {
  client = installClient();
  world = await exampleWorld();
});
afterAll(async () => {
  await world?.close();
  await removeFolder(client.folder);
});

const TESTED = ['pay', 'receive-webhook', 'record', 'signal-with-login', 'stream', 'verify'];

async function run(example: string, environment: Record<string, string> = {}) {
  const { code, output, errors } = await client.run(example, { SERVICE_URL: world.url, ...environment });
  expect(code, errors).toBe(0);
  return output;
}

it('is tested with each of its examples', () => {
  expect(client.examples).toEqual(TESTED);
});

it('record prints ranges and verdict', async () => {
  const output = await run('record');
  expect(output.match(/^\d\d % until \S+Z: [\d.]+ to [\d.]+ USD$/gm)).toHaveLength(3);
  expect(output).toContain(`Verdict: ${(await world.scorecard()).summary.verdict}\n`);
});

it('signal-with-login prints what the service returns to a token holder', async () => {
  const { signal, direction, confidence } = await world.oracle();
  const output = await run('signal-with-login', { PRIVATE_KEY: world.keyOf('basic') });
  expect(output).toContain(`${signal} for 7d: ${direction} with probability ${confidence}\n`);
});

it('pay prints an answer that the ledger has as paid', async () => {
  const output = await run('pay', { PRIVATE_KEY: world.keyOf('buyer') });
  if ((await world.oracle()).signal === 'HOLD') return expect(output).toMatch(/^HOLD: null/);
  const [, txHash] = /^Paid 0\.001 USD in (0x\w{64})$/m.exec(output) ?? [];
  expect(await world.bookedFor(txHash!)).toBe(1_000);
  expect(output.match(/^✓ /gm)).toHaveLength(7);
});

it('stream prints events in order and ends on a signal', async () => {
  const child = client.start('stream', ['0'], { SERVICE_URL: world.url, PRIVATE_KEY: world.keyOf('basic') });
  const ids: number[] = [];
  for await (const line of createInterface(child.stdout!)) {
    ids.push(Number(line.split(' ')[0]));
    if (ids.length === 5) break;
  }
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  expect(code).toBe(0);
});

it('receive-webhook prints verified deliveries and rejects others', async () => {
  const port = await findFreePort();
  const secret = `whsec_${btoa('a key of the receiver')}`;
  const child = client.start('receive-webhook', [], { PORT: String(port), WEBHOOK_SECRET: secret });
  const body = JSON.stringify({ id: 1, type: 'regime.changed', timestamp: new Date().toISOString(), data: { to: 'CHOP' } });
  const send = (key: string) => {
    const now = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign('evt_1', now, body),
    };
    return fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
  };
  await expect.poll(() => send(secret).then(({ status }) => status, String)).toBe(204);
  expect((await send(`whsec_${btoa('another key')}`)).status).toBe(401);
  const [line] = await once(createInterface(child.stdout!), 'line');
  child.kill();
  expect(line).toBe('regime.changed {"to":"CHOP"}');
});

it('verify checks the forecast of yesterday on the chain', async () => {
  const output = await run('verify', { RPC_URL: world.rpcUrl });
  expect(output).toMatch(/^✓ .*\n[\s\S]*\nVERIFIED/);
  expect(output).not.toContain('✗');
});
