import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EVENT_NAMES } from '../../events/event-names.ts';
import type { ExampleCalls, ExampleClient, TokenHolder } from './example-client.ts';

/** Callbacks are named by address, so that nobody has to be asked for one; registering calls nobody. */
const CALLBACK = 'https://9.9.9.9/';
const WEBHOOKS_PATH = '/api/svc/webhooks';
const REPLAYED_MS = 3 * 86_400_000;

/** How the operations on webhooks are called. */
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

/** Another one each time: the same for the same events twice is refused. */
export function buildWebhookRegistration(): object {
  return { url: `${CALLBACK}${randomUUID()}`, events: ['signal.new', 'signal.resolved'], horizons: ['7d'] };
}

/** One that is there, or a new one: a wallet can have ten. */
async function ensureWebhook(client: ExampleClient, holder: TokenHolder): Promise<string> {
  const ask = createTokenClient(client, holder);
  const [one] = (await ask('')).webhooks.filter(({ url }: { url: string }) => url.startsWith(CALLBACK));
  return (one ?? (await ask('/register', buildWebhookRegistration()))).id;
}

/** One whose calls are answered: where this machine may not be called there is none. */
async function ensureReceivingWebhook(client: ExampleClient, holder: TokenHolder, path: string): Promise<string> {
  const ask = createTokenClient(client, holder);
  const url = `${await openReceiver()}/${path}`;
  const [one] = (await ask('')).webhooks.filter((webhook: { url: string }) => webhook.url === url);
  return (one ?? (await ask('/register', { url, events: [...EVENT_NAMES] }))).id;
}

/** Asks as a holder: with a body by POST. */
function createTokenClient({ requestJson: json, logIn }: ExampleClient, holder: TokenHolder) {
  return async (path: string, body?: object) =>
    json(`${WEBHOOKS_PATH}${path}`, { token: await logIn(holder), ...(body === undefined ? {} : { method: 'POST', body }) });
}

let receiver: Promise<string> | undefined;

/** A callback on this machine that takes whatever comes: one a process, which keeps no process from ending. Its URL. */
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
