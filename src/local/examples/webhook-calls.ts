import { randomUUID } from 'node:crypto';
import { EVENT_NAMES } from '../../push/event-names.ts';
import type { Call, Holder } from './calls.ts';
import { openReceiver } from './receiver.ts';
import type { World } from './world.ts';

/** Callbacks are named by address, so that nobody has to be asked for one; registering calls nobody. */
const CALLBACK = 'https://9.9.9.9/';
const LIST = '/api/svc/webhooks';
const REPLAYED_MS = 3 * 86_400_000;

/** How the operations on webhooks are called. */
export const WEBHOOK_CALLS: Record<string, (world: World, holder: Holder) => Promise<Call> | Call> = {
  listWebhooks: async (world, holder) => {
    await ownWebhook(world, holder);
    return {};
  },
  registerWebhook: () => ({ body: webhook() }),
  getWebhook: async (world, holder) => ({ params: { id: await ownWebhook(world, holder) } }),
  changeWebhook: async (world, holder) => ({ params: { id: await ownWebhook(world, holder) }, body: { horizons: ['2d', '7d'] } }),
  deleteWebhook: async (world, holder) => ({ params: { id: (await signedIn(world, holder)('/register', webhook())).id } }),
  rotateWebhookSecret: async (world, holder) => ({ params: { id: await ownWebhook(world, holder) }, body: {} }),
  enableWebhook: async (world, holder) => ({ params: { id: await ownWebhook(world, holder) } }),
  testWebhook: async (world, holder) => ({ params: { id: await receiving(world, holder, 'tests') } }),
  replayToWebhook: async (world, holder) => ({
    params: { id: await receiving(world, holder, 'replays') },
    body: { since: new Date(world.nowMs() - REPLAYED_MS).toISOString() },
  }),
  listWebhookDeliveries: async (world, holder) => {
    const id = await receiving(world, holder, 'deliveries');
    const ask = signedIn(world, holder);
    if ((await ask(`/${id}/deliveries`)).count === 0) await ask(`/${id}/test`, {});
    return { params: { id } };
  },
  disableWebhook: async (world, holder) => ({ params: { id: await ownWebhook(world, holder) }, body: { reason: 'its host is flooded' } }),
};

/** Another one each time: the same for the same events twice is refused. */
export function webhook(): object {
  return { url: `${CALLBACK}${randomUUID()}`, events: ['signal.new', 'signal.resolved'], horizons: ['7d'] };
}

/** One that is there, or a new one: a wallet can have ten. */
async function ownWebhook(world: World, holder: Holder): Promise<string> {
  const ask = signedIn(world, holder);
  const [one] = (await ask('')).webhooks.filter(({ url }: { url: string }) => url.startsWith(CALLBACK));
  return (one ?? (await ask('/register', webhook()))).id;
}

/** One whose calls are answered: where this machine may not be called there is none. */
async function receiving(world: World, holder: Holder, path: string): Promise<string> {
  const ask = signedIn(world, holder);
  const url = `${await openReceiver()}/${path}`;
  const [one] = (await ask('')).webhooks.filter((webhook: { url: string }) => webhook.url === url);
  return (one ?? (await ask('/register', { url, events: [...EVENT_NAMES] }))).id;
}

/** Asks as a holder: with a body by POST. */
function signedIn({ json, logIn }: World, holder: Holder) {
  return async (path: string, body?: object) =>
    json(`${LIST}${path}`, { token: await logIn(holder), ...(body === undefined ? {} : { method: 'POST', body }) });
}
