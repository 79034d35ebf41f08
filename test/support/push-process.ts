import type { Frame } from '../../src/compose/frame.ts';
import { composePush } from '../../src/compose/push.ts';
import { composeWebhookDelivery } from '../../src/compose/webhook-delivery.ts';
import { composeWebSocket } from '../../src/compose/websocket.ts';
import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { connectMongo } from '../../src/mongo.ts';
import type { PipelineParts } from '../../src/pipeline/parts.ts';
import { JOBS, startSchedule } from '../../src/pipeline/schedule.ts';
import { createShutdown } from '../../src/shutdown.ts';
import { accessOf, booksOf, now, PUSH_WORLD } from './push-world.ts';
import { serve } from './serve.ts';

/**
 * `publisher`: brings changes into the event log as fast as it can. `worker`: does that and delivers to webhooks, as a worker of the
 * service does. `api`: has the WebSocket.
 */
export type PushRole = 'publisher' | 'worker' | 'api';

/**
 * Parts of the push on a shared database, as a process of its own: it is there to be killed. `node push-process.ts <role> <MongoDB URI>`.
 * Tells its parent when it is up, with its address where it has one, and ends with it.
 */
const [role, uri] = process.argv.slice(2) as [PushRole, string];
process.on('disconnect', () => process.exit(0));
const log = createLog({ level: 'error', secrets: [] });
const frame: Frame = { config: loadConfig({ PUSH_LOCAL_TARGETS: 'allow' }), log, shutdown: createShutdown({ log }) };
const { db } = await connectMongo(uri);
const push = composePush(frame, { db, ...booksOf(db), now });
const ROLES = { publisher, worker, api } as const satisfies Record<PushRole, () => Promise<string | null>>;
process.send!({ url: await ROLES[role]() });
if (role === 'publisher') for (;;) await push.publish();

async function publisher(): Promise<null> {
  return null;
}

async function worker(): Promise<null> {
  const { encryptionSecret, view } = PUSH_WORLD;
  // A dead sender is found out in two seconds instead of half a minute.
  const timing = { leaseMs: 2_000, marginMs: 500, timeoutMs: 1_000, pollMs: 200, overdueMs: 1_000 };
  const resolve = async () => ['127.0.0.1'];
  const tierOf = async () => 'premium' as const;
  const delivery = composeWebhookDelivery(frame, { db, push, encryptionSecret, view, tierOf, now, resolve, timing });
  // The steps of the day have nothing to do here.
  const jobs = Object.fromEntries(Object.keys(JOBS).map((name) => [name, { cron: '0 0 1 1 *', run: async () => undefined }]));
  const schedule = await startSchedule({ db, parts: {} as PipelineParts, jobs, queues: delivery.queues, log, now });
  await delivery.start(schedule);
  return null;
}

async function api(): Promise<string> {
  const access = accessOf(db);
  const { view } = PUSH_WORLD;
  const websocket = composeWebSocket(frame, { db, access, push, view, loopback: true, now });
  const door = { log, identify: (authorization?: string) => access.identify(authorization) };
  const { url } = await serve({ http: {} as never, door, websocket }, []);
  return `${url.replace('http', 'ws')}/ws/signal`;
}
