import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type StreamResponse, type Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import * as sdk from '@a2a-js/sdk/server';
import type { Collection, Db } from 'mongodb';
import { addToCount } from '../auth/rate-limits.ts';
import { formatTierRequirement } from '../auth/tiers.ts';
import { isOracleError, OracleError } from '../errors.ts';
import type { Log } from '../platform/log.ts';
import { type CollectionIndexes, isFirstWrite } from '../platform/mongo.ts';
import { checkTarget, getHostname, postGuarded, type TargetRules } from '../platform/outbound/guarded.ts';
import { HostRateLimit } from '../platform/outbound/host-limits.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { Shutdown } from '../platform/shutdown.ts';
import { getTraceHeaders, inSpan } from '../platform/tracing.ts';
import { checkId } from './plan.ts';
import { getOwner, getUser } from './protocol.ts';
import { getExpiry } from './task-store.ts';

export interface TaskPush {
  store: sdk.PushNotificationStore;
  sender: sdk.PushNotificationSender;
  /** `taskId` is empty for a new task. @throws OracleError INPUT_INVALID, CONFLICT at the limit, UNAUTHENTICATED, RATE_LIMITED (DNS) */
  check(config: TaskPushNotificationConfig, context: sdk.ServerCallContext): Promise<void>;
  deleteForTask(owner: string, taskId: string): Promise<void>;
  purge(now: Date): Promise<number>;
}

export interface TaskPushDeps {
  db: Db;
  secretBox: SecretBox;
  rules: TargetRules;
  /** Rules for registrations, with DNS look-ups of their own: slow names must not delay notifications. */
  registering?: TargetRules;
  now(): Date;
  log: Log;
  stopping: Pick<Shutdown, 'signal' | 'onStop'>;
  backoffMs?: TaskNotifierDeps['backoffMs'];
}

/** Time that running notifications get at shutdown. */
const DRAIN_GRACE_MS = 2_000;

export function createTaskPush({ db, secretBox, rules, registering = rules, now, log, stopping, backoffMs }: TaskPushDeps): TaskPush {
  const store = new PushConfigStore({ db, secretBox, now });
  const sender = new TaskNotifier({ store, rules, log, now, stopping: stopping.signal, backoffMs });
  stopping.onStop('task notifications', () => sender.drain(DRAIN_GRACE_MS));
  return {
    store,
    sender,
    async check(config, context) {
      // Anonymous callbacks would let any client direct requests of this service at third parties.
      const { isAuthenticated, requestContext } = getUser(context);
      if (!rules.allowLocal && !isAuthenticated) {
        throw new OracleError('UNAUTHENTICATED', requestContext.caller.rejectedToken ?? 'Callbacks require an access token', {
          field: 'Authorization',
          suggestedAction: `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. Without a token, poll the task or stream it.`,
        });
      }
      requireDeliverableConfig(config);
      await store.requireCapacity(config, context);
      // An unresolvable name is accepted: it is looked up again before each delivery.
      await checkTarget(config.url, registering, 'accept');
    },
    deleteForTask: (owner, taskId) => store.deleteForTask(owner, taskId),
    purge: (at) => store.purge(at),
  };
}

export const MAX_PUSH_CONFIGS_PER_TASK = 5;

const COLLECTION = 'a2a_push_configs';
const TASK_KEY = { owner: 1, taskId: 1, slot: 1 } as const;

export const PUSH_CONFIG_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: TASK_KEY, unique: true }, { key: { expiresAt: 1 } }] },
] as const satisfies CollectionIndexes[];

interface PushConfigDoc {
  /** JSON of owner, task id and config id. */
  _id: string;
  owner: string;
  taskId: string;
  /** 0 to 4, unique per task: enforces the limit under concurrent registrations. */
  slot: number;
  /** Protocol version of the registration, used for its notifications. */
  wireVersion: string;
  /** Encrypted configuration, bound to this `_id`. The URL may be as secret as the token. */
  sealed: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Push notification configurations, scoped by owner; the tenant is ignored. */
export class PushConfigStore implements sdk.PushNotificationStore {
  readonly #configs: Collection<PushConfigDoc>;
  readonly #deps: { secretBox: SecretBox; now(): Date };

  constructor(deps: { db: Db; secretBox: SecretBox; now(): Date }) {
    this.#deps = deps;
    this.#configs = deps.db.collection(COLLECTION);
  }

  /** An empty `config.id` is set: in 0.3 to the task id, else to a new id. @throws OracleError CONFLICT if the task has the maximum */
  async save(taskId: string, context: sdk.ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.id === '') config.id = isLegacyVersion(context.requestedVersion) ? taskId : randomUUID();
    const [owner, now] = [getOwner(context), this.#deps.now()];
    const _id = buildConfigKey(owner, taskId, config.id);
    const content = {
      wireVersion: context.requestedVersion,
      sealed: this.#deps.secretBox.seal('a2a-push-credentials', _id, JSON.stringify(TaskPushNotificationConfig.toJSON(config))),
      expiresAt: getExpiry(owner, now),
    };
    // A lost slot was taken by a concurrent insert, so the loop ends after at most one round per slot.
    for (;;) {
      const { matchedCount } = await this.#configs.updateOne({ _id }, { $set: content }, { hint: { _id: 1 } });
      if (matchedCount > 0) return;
      const slot = await this.#freeSlot(owner, taskId);
      if (slot === undefined) throw tooManyConfigs();
      if (await isFirstWrite(this.#configs.insertOne({ _id, owner, taskId, slot, ...content, createdAt: now }))) return;
    }
  }

  /** @throws OracleError CONFLICT if the task has the maximum without this id */
  async requireCapacity({ taskId, id }: TaskPushNotificationConfig, context: sdk.ServerCallContext): Promise<void> {
    if (taskId === '') return;
    const owner = getOwner(context);
    const found = await this.#listByTask(owner, taskId);
    if (found.length >= MAX_PUSH_CONFIGS_PER_TASK && !found.some(({ _id }) => _id === buildConfigKey(owner, taskId, id)))
      throw tooManyConfigs();
  }

  async load(taskId: string, context: sdk.ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    return (await this.loadWithMetadata(taskId, context)).map(({ config }) => config);
  }

  /** In order of registration. */
  async loadWithMetadata(taskId: string, context: sdk.ServerCallContext): Promise<sdk.StoredPushNotificationConfig[]> {
    const found = await this.#listByTask(getOwner(context), taskId);
    return found
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.slot - b.slot)
      .map(({ _id, sealed, wireVersion }) => {
        const json = this.#deps.secretBox.open('a2a-push-credentials', _id, sealed);
        return { config: TaskPushNotificationConfig.fromJSON(JSON.parse(json)), wireVersion };
      });
  }

  /** In 0.3, a missing config id means the id of the task. */
  async delete(taskId: string, context: sdk.ServerCallContext, configId: string = taskId): Promise<void> {
    await this.#configs.deleteOne({ _id: buildConfigKey(getOwner(context), taskId, configId) }, { hint: { _id: 1 } });
  }

  async extendExpiry(taskId: string, context: sdk.ServerCallContext): Promise<void> {
    const owner = getOwner(context);
    const expiresAt = getExpiry(owner, this.#deps.now());
    await this.#configs.updateMany({ owner, taskId }, { $set: { expiresAt } }, { hint: TASK_KEY });
  }

  async deleteForTask(owner: string, taskId: string): Promise<void> {
    await this.#configs.deleteMany({ owner, taskId }, { hint: TASK_KEY });
  }

  async purge(now: Date): Promise<number> {
    return (await this.#configs.deleteMany({ expiresAt: { $lte: now } }, { hint: { expiresAt: 1 } })).deletedCount;
  }

  async #listByTask(owner: string, taskId: string): Promise<PushConfigDoc[]> {
    return this.#configs.find({ owner, taskId }, { hint: TASK_KEY }).toArray();
  }

  async #freeSlot(owner: string, taskId: string): Promise<number | undefined> {
    const taken = new Set((await this.#listByTask(owner, taskId)).map(({ slot }) => slot));
    return Array.from({ length: MAX_PUSH_CONFIGS_PER_TASK }, (_, slot) => slot).find((slot) => !taken.has(slot));
  }
}

function buildConfigKey(owner: string, taskId: string, id: string): string {
  return JSON.stringify([owner, taskId, id]);
}

function tooManyConfigs(): OracleError {
  return new OracleError('CONFLICT', `A task can have ${MAX_PUSH_CONFIGS_PER_TASK} push notification configurations`, {
    suggestedAction: 'Delete one of them first.',
    details: { limit: MAX_PUSH_CONFIGS_PER_TASK },
  });
}

/** 0.3 sends the whole task, 1.0 the event. */
const SERIALIZERS: Readonly<Record<'0.3' | '1.0', sdk.PushNotificationSerializer>> = {
  '0.3': new V03PushNotificationSerializer(),
  '1.0': new sdk.V1PushNotificationSerializer(),
};

type TaskNotification = Readonly<Record<keyof typeof SERIALIZERS, sdk.SerializedPushNotification>>;

/** Drops the history, which the receiver can read: otherwise a small request would cause many large notifications. */
function serializeNotification(event: StreamResponse, task: Task | undefined): TaskNotification {
  const { payload } = event;
  const sent: StreamResponse = payload?.$case === 'task' ? { payload: { ...payload, value: { ...payload.value, history: [] } } } : event;
  const now = task && { ...task, history: [] };
  return { '0.3': SERIALIZERS['0.3'].serialize(sent, now), '1.0': SERIALIZERS['1.0'].serialize(sent, now) };
}

/** Matches patch versions such as 0.3.0 too. */
function isLegacyVersion(version: string): boolean {
  return /^0\.3(\.|$)/.test(version);
}

function selectVersion(notification: TaskNotification, wireVersion: string): sdk.SerializedPushNotification {
  return notification[isLegacyVersion(wireVersion) ? '0.3' : '1.0'];
}

/** Authenticates this service to the receiver with the registered token and credentials. */
function buildHeaders({ token, authentication }: TaskPushNotificationConfig, contentType: string): Record<string, string> {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return {
    'Content-Type': contentType,
    'User-Agent': 'bitcoin-signal-oracle',
    ...(scheme === '' || credentials === '' ? {} : { Authorization: `${scheme} ${credentials}` }),
    ...(token === '' ? {} : { 'X-A2A-Notification-Token': token }),
  };
}

interface TaskNotifierDeps {
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
  to: sdk.StoredPushNotificationConfig;
  notification: TaskNotification;
}

const BACKOFF_MS = [500, 2_000] as const;
const TIMEOUT_MS = 5_000;
/** Queued and running deliveries; further ones are dropped. */
export const MAX_PENDING = { perOwner: 100, overall: 1_000 } as const;
/** Answers of skills take a fraction of it. */
export const MAX_NOTIFICATION_BYTES = 256 * 1_024;

/** In order per callback, at most three attempts each. Dropped deliveries are logged; clients can still read the task. */
class TaskNotifier implements sdk.PushNotificationSender {
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
  async send(event: StreamResponse, context: sdk.ServerCallContext, task?: Task): Promise<void> {
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

  async #send(event: StreamResponse, context: sdk.ServerCallContext, task: Task | undefined): Promise<void> {
    const { payload } = event;
    // Empty for a message without a task.
    const taskId = (payload?.$case === 'task' ? payload.value.id : payload?.value.taskId) ?? '';
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

  async #load(taskId: string, context: sdk.ServerCallContext): Promise<sdk.StoredPushNotificationConfig[]> {
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
    for (const name of [owner, '']) addToCount(this.#pending, name, by);
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
      const { stopping } = this.#deps;
      const isRetried = failure.retryable && pauseMs !== undefined;
      if (isRetried) await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: stopping }).catch(() => undefined);
      if (!isRetried || stopping.aborted) return this.#logFailure(delivery, failure.reason, attempt);
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

/** Maximum lengths in characters; a JWT fits into `token`. */
const MAX_CHARACTERS = { token: 4_096, 'authentication.scheme': 64, 'authentication.credentials': 4_096 } as const;

/** Printable ASCII without leading and trailing spaces. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 9110, section 5.6.2. */
const HTTP_TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Checks that token and credentials fit into headers. @throws OracleError INPUT_INVALID naming the field, without its value */
function requireDeliverableConfig({ id, token, authentication }: TaskPushNotificationConfig): void {
  const { scheme = '', credentials = '' } = authentication ?? {};
  if (id !== '') checkId(id, 'id');
  checkHeaderField('token', token, HEADER_VALUE, 'ASCII characters that can stand in a header');
  checkHeaderField('authentication.scheme', scheme, HTTP_TOKEN, 'the characters of an authentication scheme, for example Bearer');
  checkHeaderField('authentication.credentials', credentials, HEADER_VALUE, 'ASCII characters that can stand in a header');
  // Credentials without a scheme could not be sent, so the receiver would get unauthenticated requests.
  if (scheme === '' && credentials !== '') {
    throw invalidConfigField('authentication.scheme', 'must be there when there are credentials, for example Bearer');
  }
}

function checkHeaderField(field: keyof typeof MAX_CHARACTERS, value: string, allowed: RegExp, rule: string): void {
  if (value === '') return;
  if (value.length > MAX_CHARACTERS[field]) throw invalidConfigField(field, `must have at most ${MAX_CHARACTERS[field]} characters`);
  if (!allowed.test(value)) throw invalidConfigField(field, `must consist of ${rule}`);
}

function invalidConfigField(field: string, rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration ${rule}`, { field });
}
