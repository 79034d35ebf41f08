import { composeEvents } from '../../../src/app/events.ts';
import type { ProcessContext } from '../../../src/app/infrastructure.ts';
import { loadConfig } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { createLog } from '../../../src/platform/log.ts';
import { connectMongo } from '../../../src/platform/mongo.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';
import { timeOf } from '../clock/trusted-time.ts';
import { accessOf, booksOf, now, PUSH_WORLD } from './push-world.ts';

/**
 * `publisher`: brings changes into the event log as fast as it can. `worker`: does that and delivers to webhooks, as a worker of the
 * service does. `api`: has the WebSocket.
 */
export type PushRole = 'publisher' | 'worker' | 'api';

/**
 * Parts of the push on a shared database, as a process of its own: it is there to be killed. `node push-process.ts <role> <MongoDB URI>`.
 * Sends its address to the parent once it is up, and ends with it.
 */
const [role, uri] = process.argv.slice(2) as [PushRole, string];
process.on('disconnect', () => process.exit(0));
const log = createLog({ level: 'error', secrets: [] });
const frame: ProcessContext = { config: loadConfig({ PUSH_LOCAL_TARGETS: 'allow' }), log, shutdown: createShutdown({ log }) };
const { db } = await connectMongo(uri);
const context = { ...frame, db, ...booksOf(db), now } as unknown as Context;
const push = composeEvents(context);
const ROLES = { publisher, worker, api } as const satisfies Record<PushRole, () => Promise<string | null>>;
process.send!({ url: await ROLES[role]() });
if (role === 'publisher') for (;;) await push.publish();

async function publisher(): Promise<null> {
  return null;
}

// Each role loads its own only: killed ones are to be back soon.
async function worker(): Promise<null> {
  const { composeWebhookDelivery } = await import('../../../src/app/events.ts');
  const { encryptionSecret, view } = PUSH_WORLD;
  // A dead sender is found out in two seconds instead of half a minute.
  const timing = { leaseMs: 2_000, marginMs: 500, timeoutMs: 1_000, pollMs: 200 };
  const resolve = async () => ['127.0.0.1'];
  const tierOf = async () => 'premium' as const;
  const delivery = composeWebhookDelivery(frame, { db, push, encryptionSecret, view, tierOf, now, time: timeOf(now), resolve, timing });
  await delivery.start();
  return null;
}

async function api(): Promise<string> {
  const { composeWebSocket, serveWebSocket } = await import('../../../src/app/events.ts');
  const { createApp } = await import('../../../src/http/server.ts');
  const { listen } = await import('../../../src/http/server.ts');
  const access = accessOf(db);
  const { view } = PUSH_WORLD;
  const websocket = composeWebSocket(context, { access, push, view });
  const door = { log, identify: (authorization?: string) => access.identify(authorization) };
  const server = await listen(createApp([], door), 0, '127.0.0.1');
  await serveWebSocket(server, { websocket, appOptions: door });
  return `ws://127.0.0.1:${server.port}/ws/signal`;
}
