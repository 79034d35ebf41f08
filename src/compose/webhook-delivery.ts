import type { Db } from 'mongodb';
import type { QueuedJob } from '../pipeline/job-queue.ts';
import type { Schedule } from '../pipeline/schedule.ts';
import { createResolve } from '../platform/outbound/resolve.ts';
import type { TargetRules } from '../platform/outbound/target.ts';
import type { EventViewOptions } from '../push/events/view.ts';
import { HostGate } from '../push/host-gate.ts';
import { DailyUse } from '../push/webhooks/daily-use.ts';
import type { DeliverParts } from '../push/webhooks/deliver.ts';
import { createDispatcher } from '../push/webhooks/dispatcher.ts';
import { SenderLeases } from '../push/webhooks/lease.ts';
import { DeliveryQueue } from '../push/webhooks/queue.ts';
import { WebhookStanding } from '../push/webhooks/standing.ts';
import { createSecretBox } from '../secret-box.ts';
import type { Frame } from './frame.ts';
import type { Push } from './push.ts';

export interface DeliveryComposition {
  db: Db;
  push: Push;
  encryptionSecret: string;
  view: EventViewOptions;
  tierOf: DeliverParts['tierOf'];
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
  queues: Record<string, QueuedJob>;
  /** Follows the event log, and queues what is to be sent, until the process stops. */
  start(schedule: Pick<Schedule, 'enqueue'>): Promise<void>;
  /** Deletes what is kept no longer. */
  purge(now: Date): Promise<void>;
}

const QUEUE = 'webhook-delivery';
/**
 * What a host gets of a worker: a quarter of its turns, and five messages a second; of that a wallet half of the turns and a third of
 * the messages. A wallet has a quarter of the turns, whatever hosts it names.
 */
const SHARES = { atOnce: 4, aMinute: 300, ofWallet: { atOnce: 2, aMinute: 100 }, walletAtOnce: 4 } as const;
const ANY_NUMBER = { aMinute: null, ofWallet: { atOnce: SHARES.ofWallet.atOnce, aMinute: null } } as const;
/** Names that are looked up at once: more than a worker has turns, so that slow ones of a webhook keep no other one waiting. */
const LOOKUPS = { underWay: 64, waiting: 64, waitMs: 1_000 } as const;
/** What a stop leaves to calls that are under way. */
const GRACE_MS = 4_000;

export function composeWebhookDelivery(
  { config, log, shutdown }: Pick<Frame, 'config' | 'log' | 'shutdown'>,
  { db, push, encryptionSecret, view, tierOf, now, resolve = createResolve({ most: LOOKUPS }), timing = {} }: DeliveryComposition,
): WebhookDelivery {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const { leaseMs, ...times } = timing;
  const queue = new DeliveryQueue(db);
  const dispatcher = createDispatcher({
    ...{ db, view, tierOf, log, now, ...times },
    events: push.events,
    publish: () => push.publish(),
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve },
    queue,
    leases: new SenderLeases(db, leaseMs),
    standing: new WebhookStanding(db),
    // Whoever develops calls himself.
    hosts: new HostGate({ ...SHARES, ...(allowLocal ? ANY_NUMBER : {}), now }),
    random: Math.random,
    stopping: shutdown.signal,
    giveUp: later(shutdown.signal, GRACE_MS),
  });
  const { concurrency, lockMs, run, ended } = dispatcher;
  return {
    queues: { [QUEUE]: { concurrency, lockMs, run, ended } },
    async start(schedule) {
      const loop = dispatcher.start((turn) => schedule.enqueue(QUEUE, turn), shutdown.signal);
      shutdown.onStop('webhooks', () => loop.ended);
      await push.follow(loop.wake);
    },
    purge: async (at) => void (await Promise.all([queue.purge(at), new DailyUse(db).purge(at)])),
  };
}

/** A signal that follows another one after a time. */
function later(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}
