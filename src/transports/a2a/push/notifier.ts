import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, Task } from '@a2a-js/sdk';
import type { PushNotificationSender, ServerCallContext, StoredPushNotificationConfig } from '@a2a-js/sdk/server';
import { HostRateLimit } from '../../../events/webhooks/limits/host-rate-limit.ts';
import { isOracleError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { postGuarded } from '../../../platform/outbound/guarded-post.ts';
import { getHostname, type TargetRules } from '../../../platform/outbound/target.ts';
import { getOwner } from '../agent-user.ts';
import type { PushConfigStore } from './config-store.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { buildHeaders, getTaskId, selectVersion, serializeNotification, type TaskNotification } from './notification.ts';

export interface TaskNotifierDeps {
  store: Pick<PushConfigStore, 'loadWithMetadata' | 'extendExpiry'>;
  rules: TargetRules;
  log: Log;
  now(): Date;
  /** Aborted when the stop begins: from then on nothing is tried twice. */
  stopping: AbortSignal;
  /** Milliseconds before attempt 2 and 3, each to be multiplied with a random number from 0.5 to 1.5. */
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
/** Deliveries that wait or are under way; further ones are dropped. */
export const MAX_PENDING = { perOwner: 100, overall: 1_000 } as const;
/** The answer of a skill takes a fraction of it. */
export const MAX_NOTIFICATION_BYTES = 256 * 1_024;

/**
 * Tells clients' callbacks what happens to their tasks: for each of them in order, at most three times each, apart from the
 * requests that made it happen. What cannot be told is logged; the task itself can be asked for.
 */
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

  /** Resolves when all callbacks of the task were told or given up on. Never rejects. */
  async send(event: StreamResponse, context: ServerCallContext, task?: Task): Promise<void> {
    const sent = this.#send(event, context, task).catch((error: unknown) => {
      this.#deps.log.error({ err: error }, 'task notifications could not be sent');
    });
    this.#running.add(sent);
    await sent.finally(() => this.#running.delete(sent));
  }

  /** Waits for what is under way, and ends what is left when `graceMs` have passed. Nothing is sent afterwards. */
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
    // Now, because the task goes on changing.
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

  /** Under the empty name all of them are counted. */
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
      const failure = await this.#attempt(delivery);
      if (failure === null) return;
      const pauseMs = pauses[attempt - 1];
      const again = failure.again && pauseMs !== undefined && (await this.#pause(pauseMs));
      if (!again) return this.#logFailure(delivery, failure.reason, attempt);
    }
  }

  /** Whether the host can take another one; what is dropped for it is told once a minute. */
  #checkHostBudget(delivery: Delivery, attempts: number): boolean {
    // Nothing is posted any more.
    if (this.#abort.signal.aborted) return true;
    const verdict = this.#hosts.take(getHostname(delivery.to.config.url));
    if (verdict === 'dropped') this.#logFailure(delivery, 'too many for one host', attempts);
    return verdict === 'post';
  }

  /** Null when the receiver took it. */
  async #attempt({ to: { config, wireVersion }, notification }: Delivery): Promise<{ reason: string; again: boolean } | null> {
    const { body, contentType } = selectVersion(notification, wireVersion);
    const signal = this.#abort.signal;
    try {
      const headers = buildHeaders(config, contentType);
      const { status } = await postGuarded({ url: config.url, headers, body, timeoutMs: TIMEOUT_MS, rules: this.#deps.rules, signal });
      if (status >= 200 && status < 300) return null;
      return { reason: `HTTP ${status}`, again: status >= 500 || status === 429 };
    } catch (error) {
      if (!isOracleError(error)) return { reason: 'INTERNAL', again: false };
      return { reason: String(error.details?.reason ?? error.code), again: error.retryable };
    }
  }

  /** Whether there is time for another attempt: not while the service stops. */
  async #pause(ms: number): Promise<boolean> {
    const { stopping } = this.#deps;
    await sleep(ms * (0.5 + Math.random()), undefined, { signal: stopping }).catch(() => undefined);
    return !stopping.aborted;
  }

  #logFailure({ taskId, to: { config } }: Delivery, reason: string, attempts: number): void {
    // The host alone: path and query of a callback are often its secret.
    const host = URL.parse(config.url)?.host;
    this.#deps.log.warn({ taskId, config: config.id, host, reason, attempts }, 'a task notification was not delivered');
  }
}
