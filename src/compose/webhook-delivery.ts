import type { Db } from 'mongodb';
import type { QueuedJob, Schedule } from '../pipeline/schedule.ts';
import type { EventViewOptions } from '../push/events/view.ts';
import { HostGate } from '../push/host-gate.ts';
import { systemResolve } from '../push/resolve.ts';
import type { TargetRules } from '../push/target.ts';
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
export type DeliveryTiming = Partial<Record<'leaseMs' | 'marginMs' | 'timeoutMs' | 'pollMs' | 'overdueMs', number>>;

/** How webhooks are delivered to, in a worker. */
export interface WebhookDelivery {
  /** The kinds of work that are queued for it. */
  queues: Record<string, QueuedJob>;
  /** Follows the event log, and queues what is to be sent, until the process stops. */
  start(schedule: Pick<Schedule, 'enqueue'>): Promise<void>;
}

const QUEUE = 'webhook-delivery';
/** What a host gets of a worker: a quarter of its turns, and five messages a second. */
const HOST_SHARE = { atOnce: 4, aMinute: 300 } as const;
/** What a stop leaves to calls that are under way. */
const GRACE_MS = 4_000;

export function composeWebhookDelivery(
  { config, log, shutdown }: Pick<Frame, 'config' | 'log' | 'shutdown'>,
  { db, push, encryptionSecret, view, tierOf, now, resolve = systemResolve, timing = {} }: DeliveryComposition,
): WebhookDelivery {
  const allowLocal = config.PUSH_LOCAL_TARGETS === 'allow';
  const { leaseMs, ...times } = timing;
  const dispatcher = createDispatcher({
    ...{ db, view, tierOf, log, now, ...times },
    events: push.events,
    publish: () => push.publish(),
    box: createSecretBox(encryptionSecret),
    targets: { allowLocal, resolve },
    queue: new DeliveryQueue(db),
    leases: new SenderLeases(db, leaseMs),
    standing: new WebhookStanding(db),
    // Whoever develops calls himself.
    hosts: new HostGate({ ...HOST_SHARE, ...(allowLocal ? { aMinute: null } : {}), now }),
    random: Math.random,
    stopping: shutdown.signal,
    giveUp: later(shutdown.signal, GRACE_MS),
  });
  const { concurrency, lockMs, run } = dispatcher;
  return {
    queues: { [QUEUE]: { concurrency, lockMs, run } },
    async start(schedule) {
      const { wake, ended } = dispatcher.start((turn) => schedule.enqueue(QUEUE, turn), shutdown.signal);
      shutdown.onStop('webhooks', () => ended);
      await push.follow(wake);
    },
  };
}

/** A signal that follows another one after a time. */
function later(signal: AbortSignal, ms: number): AbortSignal {
  const controller = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => controller.abort(), ms).unref(), { once: true });
  return controller.signal;
}
