import type { Db } from 'mongodb';
import type { EventViewOptions } from '../../events/event-view.ts';
import type { DeliverDeps } from '../../events/webhooks/delivery/deliver-to-webhook.ts';
import { DeliveryQueue } from '../../events/webhooks/delivery/delivery-queue.ts';
import { createWebhookDispatcher } from '../../events/webhooks/delivery/dispatcher.ts';
import { SenderLeaseStore } from '../../events/webhooks/delivery/sender-lease.ts';
import { WebhookHealthStore } from '../../events/webhooks/health/webhook-health.ts';
import { DailyQuotaStore } from '../../events/webhooks/limits/daily-quota-store.ts';
import { HostLimiter } from '../../events/webhooks/limits/host-limiter.ts';
import type { QueueHandler } from '../../pipeline/schedule/job-queue.ts';
import type { Schedule } from '../../pipeline/schedule/schedule.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import type { TargetRules } from '../../platform/outbound/target.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { ProcessContext } from '../process-context.ts';
import type { EventPublishing } from './event-log.ts';

export interface ComposeDeliveryDeps {
  db: Db;
  push: EventPublishing;
  encryptionSecret: string;
  view: EventViewOptions;
  tierOf: DeliverDeps['tierOf'];
  now(): Date;
  /** How host names are looked up, other than the usual way. */
  resolve?: TargetRules['resolve'];
  /** Times other than the usual ones. */
  timing?: DeliveryTiming;
}

/** How long it takes to find out that a sender is dead; see the parts that they are handed to. */
export type DeliveryTiming = Partial<Record<'leaseMs' | 'marginMs' | 'timeoutMs' | 'turnMs' | 'pollMs' | 'overdueMs', number>>;

/** How webhooks are delivered to, in a worker. */
export interface WebhookDelivery {
  /** The kinds of work that are queued for it. */
  queues: Record<string, QueueHandler>;
  /** Follows the event log, and queues what is to be sent, until the process stops. */
  start(schedule: Pick<Schedule, 'enqueue'>): Promise<void>;
  /** Deletes what is kept no longer. */
  purge(now: Date): Promise<void>;
}

const QUEUE_NAME = 'webhook-delivery';
/**
 * What a host gets of a worker: a quarter of its turns, and five messages a second; of that a wallet half of the turns and a third of
 * the messages. A wallet has a quarter of the turns, whatever hosts it names.
 */
const HOST_SHARES = { atOnce: 4, aMinute: 300, ofWallet: { atOnce: 2, aMinute: 100 }, walletAtOnce: 4 } as const;
const UNLIMITED_SHARES = { aMinute: null, ofWallet: { atOnce: HOST_SHARES.ofWallet.atOnce, aMinute: null } } as const;
/** Names that are looked up at once: more than a worker has turns, so that slow ones of a webhook keep no other one waiting. */
const LOOKUP_LIMITS = { maxConcurrent: 64, maxQueued: 64, waitMs: 1_000 } as const;
/** What a stop leaves to calls that are under way. */
const GRACE_MS = 4_000;

export function composeWebhookDelivery(
  { config, log, shutdown }: Pick<ProcessContext, 'config' | 'log' | 'shutdown'>,
  { db, push, encryptionSecret, view, tierOf, now, resolve = createResolver({ limits: LOOKUP_LIMITS }), timing = {} }: ComposeDeliveryDeps,
): WebhookDelivery {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const { leaseMs, ...times } = timing;
  const queue = new DeliveryQueue(db);
  const dispatcher = createWebhookDispatcher({
    ...{ db, view, tierOf, log, now, ...times },
    events: push.events,
    publish: () => push.publish(),
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve },
    queue,
    leases: new SenderLeaseStore(db, leaseMs),
    health: new WebhookHealthStore(db),
    // Whoever develops calls himself.
    hosts: new HostLimiter({ ...HOST_SHARES, ...(allowLocal ? UNLIMITED_SHARES : {}), now }),
    random: Math.random,
    stopping: shutdown.signal,
    abortCalls: abortLater(shutdown.signal, GRACE_MS),
  });
  const { concurrency, lockMs, run, ended } = dispatcher;
  return {
    queues: { [QUEUE_NAME]: { concurrency, lockMs, run, onEnded: ended } },
    async start(schedule) {
      const loop = dispatcher.start((turn) => schedule.enqueue(QUEUE_NAME, turn), shutdown.signal);
      shutdown.onStop('webhooks', () => loop.ended);
      await push.follow(loop.wake);
    },
    purge: async (at) => void (await Promise.all([queue.purge(at), new DailyQuotaStore(db).purge(at)])),
  };
}

/** A signal that follows another one after a time. */
function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}
