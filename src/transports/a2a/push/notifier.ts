import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { PushNotificationSender, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { HostRateLimit } from '../../../events/webhooks/limits/host-rate-limit.ts';
import { isOracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { postGuarded } from '../../../platform/outbound/guarded-post.ts';
import { getHostname, type TargetRules } from '../../../platform/outbound/target.ts';
import { getTraceHeaders } from '../../../platform/tracing/active-trace.ts';
import { inSpan } from '../../../platform/tracing/span.ts';
import { getOwner } from '../agent-user.ts';
import type { PushConfigStore } from './config-store.ts';
import { buildHeaders, getTaskId, selectVersion, serializeNotification, type TaskNotification } from './notification.ts';

export interface TaskNotifierDeps {
  store: Pick<PushConfigStore, 'loadWithMetadata' | 'extendExpiry'>;
  rules: TargetRules;
  log: Log;
  now(): Date;
  /** Aborted when shutdown begins; deliveries are not retried after that. */
  stopping: AbortSignal;
  /** Backoff before attempts 2 and 3, each multiplied by a random factor from 0.5 to 1.5. */
  backoffMs?: readonly [number, number];
}

interface Delivery {
  owner: string;
  taskId: string;
  to: StoredPushNotificationConfig;
  notification: TaskNotification;
}

const BACKOFF_MS = [500, 2_000] as const;
const TIMEOUT_MS = 5_000;
/** Queued and running deliveries; further ones are dropped. */
export const MAX_PENDING = { perOwner: 100, overall: 1_000 } as const;
/** Answers of skills take a fraction of it. */
export const MAX_NOTIFICATION_BYTES = 256 * 1_024;

/** In order per callback, at most three attempts each. Dropped deliveries are logged; clients can still read the task. */
export class TaskNotifier implements PushNotificationSender {
  readonly #deps: TaskNotifierDeps;
  readonly #queue = new KeyedQueue();
  readonly #pending = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #hosts: HostRateLimit;

  constructor(deps: TaskNotifierDeps) {
    this.#deps = deps;
    this.#hosts = new HostRateLimit(deps.now);
  }

  /** Resolves when the event is delivered to, or dropped for, every callback. Never rejects. */
  async send(event: StreamResponse, context: ServerCallContext, task?: Task): Promise<void> {
    const sent = this.#send(event, context, task).catch((error: unknown) => {
      this.#deps.log.error({ err: error }, 'task notifications could not be sent');
    });
    this.#running.add(sent);
    await sent.finally(() => this.#running.delete(sent));
  }

  /** Waits up to `graceMs` for running deliveries, then aborts them. */
  async drain(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    while (this.#running.size > 0) await Promise.all(this.#running);
    clearTimeout(timer);
    this.#abort.abort();
  }

  async #send(event: StreamResponse, context: ServerCallContext, task: Task | undefined): Promise<void> {
    const taskId = getTaskId(event);
    if (taskId === '' || this.#abort.signal.aborted) return;
    const owner = getOwner(context);
    // Serialized at once, because the task keeps changing.
    const notification = serializeNotification(event, task);
    let deliveries: Promise<void>[] = [];
    await this.#queue.run(JSON.stringify([owner, taskId]), async () => {
      const callbacks = await this.#load(taskId, context);
      deliveries = callbacks.map((to) => this.#enqueue({ owner, taskId, to, notification }));
    });
    await Promise.all(deliveries);
  }

  async #load(taskId: string, context: ServerCallContext): Promise<StoredPushNotificationConfig[]> {
    const { store } = this.#deps;
    try {
      const callbacks = await store.loadWithMetadata(taskId, context);
      if (callbacks.length > 0) await store.extendExpiry(taskId, context);
      return callbacks;
    } catch (error) {
      this.#deps.log.error({ err: error, taskId }, 'the callbacks of a task could not be read');
      return [];
    }
  }

  async #enqueue(delivery: Delivery): Promise<void> {
    const { owner, taskId, to } = delivery;
    const [own, all] = [this.#pending.get(owner) ?? 0, this.#pending.get('') ?? 0];
    if (own >= MAX_PENDING.perOwner || all >= MAX_PENDING.overall) return this.#logFailure(delivery, 'too many are waiting', 0);
    this.#count(owner, 1);
    await this.#queue
      .run(JSON.stringify([owner, taskId, to.config.id]), () => this.#deliver(delivery))
      .finally(() => this.#count(owner, -1));
  }

  /** The empty key holds the total. */
  #count(owner: string, by: 1 | -1): void {
    for (const name of [owner, '']) {
      const count = (this.#pending.get(name) ?? 0) + by;
      if (count === 0) this.#pending.delete(name);
      else this.#pending.set(name, count);
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const pauses = this.#deps.backoffMs ?? BACKOFF_MS;
    const { body } = selectVersion(delivery.notification, delivery.to.wireVersion);
    if (Buffer.byteLength(body) > MAX_NOTIFICATION_BYTES) return this.#logFailure(delivery, 'too large', 0);
    for (let attempt = 1; ; attempt++) {
      if (!this.#checkHostBudget(delivery, attempt - 1)) return;
      const failure = await inSpan({ name: 'a2a push', kind: 'client' }, () => this.#attempt(delivery));
      if (failure === null) return;
      const pauseMs = pauses[attempt - 1];
      const isRetried = failure.retryable && pauseMs !== undefined && (await this.#pause(pauseMs));
      if (!isRetried) return this.#logFailure(delivery, failure.reason, attempt);
    }
  }

  /** False if the host is over its limit; drops are logged once a minute. */
  #checkHostBudget(delivery: Delivery, attempts: number): boolean {
    // The outbound request fails by itself after the abort.
    if (this.#abort.signal.aborted) return true;
    const verdict = this.#hosts.take(getHostname(delivery.to.config.url));
    if (verdict === 'dropped') this.#logFailure(delivery, 'too many for one host', attempts);
    return verdict === 'post';
  }

  /** Null on success. */
  async #attempt({ to: { config, wireVersion }, notification }: Delivery): Promise<{ reason: string; retryable: boolean } | null> {
    const { body, contentType } = selectVersion(notification, wireVersion);
    const signal = this.#abort.signal;
    try {
      const headers = { ...buildHeaders(config, contentType), ...getTraceHeaders() };
      const { status } = await postGuarded({ url: config.url, headers, body, timeoutMs: TIMEOUT_MS, rules: this.#deps.rules, signal });
      if (status >= 200 && status < 300) return null;
      return { reason: `HTTP ${status}`, retryable: status >= 500 || status === 429 };
    } catch (error) {
      if (!isOracleError(error)) return { reason: 'INTERNAL', retryable: false };
      return { reason: String(error.details?.reason ?? error.code), retryable: error.retryable };
    }
  }

  /** False if shutdown began. */
  async #pause(ms: number): Promise<boolean> {
    const { stopping } = this.#deps;
    await sleep(ms * (0.5 + Math.random()), undefined, { signal: stopping }).catch(() => undefined);
    return !stopping.aborted;
  }

  #logFailure({ taskId, to: { config } }: Delivery, reason: string, attempts: number): void {
    // Only the host is logged: path and query of a callback are often secret.
    const host = URL.parse(config.url)?.host;
    this.#deps.log.warn({ taskId, config: config.id, host, reason, attempts }, 'a task notification was not delivered');
  }
}

/** Runs work of one key in order, and work of different keys concurrently. */
class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** @param work must not reject: a rejection would end the queue of its key */
  run(key: string, work: () => Promise<void>): Promise<void> {
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    this.#tails.set(key, tail);
    return tail.finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
  }
}
