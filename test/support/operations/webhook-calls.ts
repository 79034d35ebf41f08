import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EVENT_NAMES } from '../../../src/events/events.ts';
import type { ExampleCalls, ExampleClient, TokenHolder } from './client.ts';

/** An IP address, which needs no DNS lookup; registration sends no request to it. */
const CALLBACK = 'https://9.9.9.9/';
const WEBHOOKS_PATH = '/api/svc/webhooks';
const REPLAYED_MS = 3 * 86_400_000;

export const WEBHOOK_CALLS: ExampleCalls = {
  listWebhooks: async (client, holder) => {
    await ensureWebhook(client, holder);
    return {};
  },
  registerWebhook: () => ({ body: buildWebhookRegistration() }),
  getWebhook: async (client, holder) => ({ params: { id: await ensureWebhook(client, holder) } }),
  changeWebhook: async (client, holder) => ({ params: { id: await ensureWebhook(client, holder) }, body: { horizons: ['2d', '7d'] } }),
  deleteWebhook: async (client, holder) => ({
    params: { id: (await createTokenClient(client, holder)('/register', buildWebhookRegistration())).id },
  }),
  rotateWebhookSecret: async (client, holder) => ({ params: { id: await ensureWebhook(client, holder) }, body: {} }),
  enableWebhook: async (client, holder) => ({ params: { id: await ensureWebhook(client, holder) } }),
  testWebhook: async (client, holder) => ({ params: { id: await ensureReceivingWebhook(client, holder, 'tests') } }),
  replayToWebhook: async (client, holder) => ({
    params: { id: await ensureReceivingWebhook(client, holder, 'replays') },
    body: { since: new Date(client.nowMs() - REPLAYED_MS).toISOString() },
  }),
  listWebhookDeliveries: async (client, holder) => {
    const id = await ensureReceivingWebhook(client, holder, 'deliveries');
    const ask = createTokenClient(client, holder);
    if ((await ask(`/${id}/deliveries`)).count === 0) await ask(`/${id}/test`, {});
    return { params: { id } };
  },
  disableWebhook: async (client, holder) => ({
    params: { id: await ensureWebhook(client, holder) },
    body: { reason: 'its host is flooded' },
  }),
};

/** A unique registration, as a duplicate is rejected. */
export function buildWebhookRegistration(): object {
  return { url: `${CALLBACK}${randomUUID()}`, events: ['signal.new', 'signal.resolved'], horizons: ['7d'] };
}

/** An existing webhook or a new one; a wallet can have ten. */
async function ensureWebhook(client: ExampleClient, holder: TokenHolder): Promise<string> {
  const ask = createTokenClient(client, holder);
  const [one] = (await ask('')).webhooks.filter(({ url }: { url: string }) => url.startsWith(CALLBACK));
  return (one ?? (await ask('/register', buildWebhookRegistration()))).id;
}

/** A webhook with a live receiver; the service must allow local targets. */
async function ensureReceivingWebhook(client: ExampleClient, holder: TokenHolder, path: string): Promise<string> {
  const ask = createTokenClient(client, holder);
  const url = `${await openReceiver()}/${path}`;
  const [one] = (await ask('')).webhooks.filter((webhook: { url: string }) => webhook.url === url);
  return (one ?? (await ask('/register', { url, events: [...EVENT_NAMES] }))).id;
}

/** Authenticated requests: POST with a body, else GET. */
function createTokenClient({ requestJson, logIn }: ExampleClient, holder: TokenHolder) {
  return async (path: string, body?: object) =>
    requestJson(`${WEBHOOKS_PATH}${path}`, { token: await logIn(holder), ...(body === undefined ? {} : { method: 'POST', body }) });
}

let receiver: Promise<string> | undefined;

/** URL of a local receiver that answers 204; one per process, which it does not keep alive. */
function openReceiver(): Promise<string> {
  receiver ??= startReceiver();
  return receiver;
}

async function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
