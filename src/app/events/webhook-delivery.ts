import type { EventViewOptions } from '../../events/event-view.ts';
import type { DeliverDeps } from '../../events/webhooks/delivery/deliver-to-webhook.ts';
import { DeliveryQueue } from '../../events/webhooks/delivery/delivery-queue.ts';
import { createWebhookDispatcher } from '../../events/webhooks/delivery/dispatcher.ts';
import { SenderLeaseStore } from '../../events/webhooks/delivery/sender-lease.ts';
import { WebhookHealthStore } from '../../events/webhooks/health/webhook-health.ts';
import { ChatPaceStore } from '../../events/webhooks/limits/chat-pace-store.ts';
import { DailyQuotaStore } from '../../events/webhooks/limits/daily-quota-store.ts';
import { HostLimiter } from '../../events/webhooks/limits/host-limiter.ts';
import type { QueueHandler } from '../../pipeline/schedule/job-queue.ts';
import type { Schedule } from '../../pipeline/schedule/schedule.ts';
import type { SemaphoreLimits } from '../../platform/concurrency/semaphore.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import type { TargetRules } from '../../platform/outbound/target.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';
import type { EventPublishing } from './event-log.ts';

export interface ComposeDeliveryDeps extends Pick<ServiceCore, 'db' | 'encryptionSecret' | 'now'> {
  push: EventPublishing;
  view: EventViewOptions;
  tierOf: DeliverDeps['tierOf'];
  resolve?: TargetRules['resolve'];
  observeAttempt?: NonNullable<DeliverDeps['observeAttempt']>;
  /** Replaces default times. */
  timing?: DeliveryTiming;
}

export type DeliveryTiming = Partial<Record<'leaseMs' | 'marginMs' | 'timeoutMs' | 'turnMs' | 'pollMs' | 'overdueMs', number>>;

export interface WebhookDelivery {
  queues: Record<string, QueueHandler>;
  start(schedule: Pick<Schedule, 'enqueue'>): Promise<void>;
  purge(now: Date): Promise<void>;
}

const QUEUE_NAME = 'webhook-delivery';
/** Share of a worker per host: a quarter of its concurrent calls. Over all hosts, a wallet gets a quarter of the calls. */
const HOST_SHARES = {
  maxConcurrent: 4,
  perMinute: 300,
  perWallet: { maxConcurrent: 2, perMinute: 100 },
  maxConcurrentPerWallet: 4,
} as const;
const UNLIMITED_SHARES = { perMinute: null, perWallet: { maxConcurrent: HOST_SHARES.perWallet.maxConcurrent, perMinute: null } } as const;
/** More concurrent lookups than a worker has calls: slow lookups of one webhook delay no other. */
const LOOKUP_LIMITS = { maxConcurrent: 64, maxQueued: 64, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;
const GRACE_MS = 4_000;

export function composeWebhookDelivery(
  { config, log, shutdown }: Pick<ProcessContext, 'config' | 'log' | 'shutdown'>,
  {
    db,
    push,
    encryptionSecret,
    view,
    tierOf,
    now,
    resolve = createResolver({ limits: LOOKUP_LIMITS }),
    timing = {},
    observeAttempt,
  }: ComposeDeliveryDeps,
): WebhookDelivery {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const { leaseMs, ...times } = timing;
  const [queue, pace] = [new DeliveryQueue(db), new ChatPaceStore(db)];
  const dispatcher = createWebhookDispatcher({
    db,
    view,
    tierOf,
    log,
    now,
    ...(observeAttempt && { observeAttempt }),
    ...times,
    events: push.events,
    publish: () => push.publish(),
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve },
    queue,
    pace,
    leases: new SenderLeaseStore(db, leaseMs),
    health: new WebhookHealthStore(db),
    // A developer's calls go to one host.
    hosts: new HostLimiter({ ...HOST_SHARES, ...(allowLocal ? UNLIMITED_SHARES : {}), now }),
    random: Math.random,
    stopping: shutdown.signal,
    abortCalls: abortLater(shutdown.signal, GRACE_MS),
  });
  const { concurrency, lockMs, run, ended } = dispatcher;
  return {
    queues: { [QUEUE_NAME]: { concurrency, lockMs, run, onEnded: ended } },
    async start(schedule) {
      let wake = () => {};
      // First, since it may fail, and may be repeated then.
      await push.follow(() => wake());
      const loop = dispatcher.start((turn) => schedule.enqueue(QUEUE_NAME, turn), shutdown.signal);
      shutdown.onStop('webhooks', () => loop.ended);
      wake = loop.wake;
    },
    purge: async (at) => void (await Promise.all([queue.purge(at), pace.purge(at), new DailyQuotaStore(db).purge(at)])),
  };
}

function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}
