import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type StreamResponse, type Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import * as sdk from '@a2a-js/sdk/server';
import type { Collection } from 'mongodb';
import { addToCount } from '../auth/rate-limits.ts';
import { formatTierRequirement } from '../auth/tiers.ts';
import type { Context } from '../context.ts';
import { isOracleError, OracleError } from '../errors.ts';
import { type CollectionIndexes, isFirstWrite } from '../platform/mongo.ts';
import { checkTarget, getHostname, postGuarded, type TargetRules } from '../platform/outbound/guarded.ts';
import { HostRateLimit } from '../platform/outbound/host-limits.ts';
import type { SecretBox } from '../platform/secrets.ts';
import { getTraceHeaders, inSpan } from '../platform/tracing.ts';
import { checkId, getOwner, getUser } from './plan.ts';
import { getExpiry } from './tasks.ts';

export interface TaskPushOptions extends Pick<Context, 'db' | 'log' | 'now' | 'shutdown'> {
  secretBox: SecretBox;
  rules: TargetRules;
  /** Rules for registrations, with DNS look-ups of their own: slow names must not delay notifications. */
  registering?: TargetRules;
  /** Backoff before attempts 2 and 3, each multiplied by a random factor from 0.5 to 1.5. */
  backoffMs?: readonly [number, number];
}

export const MAX_PUSH_CONFIGS_PER_TASK = 5;

const COLLECTION = 'a2a_push_configs';
const BY_TASK = { hint: { owner: 1, taskId: 1, slot: 1 } } as const;
const BY_ID = { hint: { _id: 1 } } as const;

export const PUSH_CONFIG_INDEXES = [
  { collection: COLLECTION, indexes: [{ key: BY_TASK.hint, unique: true }] },
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

/** Time that running notifications get at shutdown. */
const DRAIN_GRACE_MS = 2_000;
const BACKOFF_MS = [500, 2_000] as const;
const TIMEOUT_MS = 5_000;
/** Queued and running deliveries; further ones are dropped. */
export const MAX_PENDING = { perOwner: 100, overall: 1_000 } as const;
/** Answers of skills take a fraction of it. */
export const MAX_NOTIFICATION_BYTES = 256 * 1_024;

interface Delivery {
  owner: string;
  taskId: string;
  config: TaskPushNotificationConfig;
  notification: sdk.SerializedPushNotification;
}

/**
 * Callbacks of tasks, scoped by owner; the tenant is ignored. Notifications are sent in order per callback, with at most three attempts
 * each. Dropped ones are logged; clients can still read the task.
 */
export class TaskPush implements sdk.PushNotificationStore, sdk.PushNotificationSender {
  readonly #options: TaskPushOptions;
  readonly #configs: Collection<PushConfigDoc>;
  /** The last work of each key: work of one key runs in order. */
  readonly #tails = new Map<string, Promise<void>>();
  /** Deliveries by owner; the empty key holds the total. */
  readonly #pending = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  readonly #hosts: HostRateLimit;

  constructor(options: TaskPushOptions) {
    this.#options = options;
    this.#configs = options.db.collection(COLLECTION);
    this.#hosts = new HostRateLimit(options.now);
    options.shutdown.onStop('task notifications', () => this.#drain());
  }

  /** `taskId` is empty for a new task. @throws OracleError INPUT_INVALID, CONFLICT at the limit, UNAUTHENTICATED, RATE_LIMITED (DNS) */
  async check(config: TaskPushNotificationConfig, context: sdk.ServerCallContext): Promise<void> {
    const { rules, registering = rules } = this.#options;
    // Anonymous callbacks would let any client direct requests of this service at third parties.
    const { isAuthenticated, requestContext } = getUser(context);
    if (!rules.allowLocal && !isAuthenticated) {
      throw new OracleError('UNAUTHENTICATED', requestContext.caller.rejectedToken ?? 'Callbacks require an access token', {
        field: 'Authorization',
        suggestedAction: `Log in with a wallet that holds ${formatTierRequirement('basic')}: POST /api/svc/oracle/verify, then send Authorization: Bearer <token>. Without a token, poll the task or stream it.`,
      });
    }
    requireDeliverableConfig(config);
    const owner = getOwner(context);
    const others = config.taskId === '' ? [] : await this.#listByTask(owner, config.taskId);
    const isNew = !others.some(({ _id }) => _id === buildConfigKey(owner, config.taskId, config.id));
    if (isNew && others.length >= MAX_PUSH_CONFIGS_PER_TASK) throw tooManyConfigs();
    // An unresolvable name is accepted: it is looked up again before each delivery.
    await checkTarget(config.url, registering, 'accept');
  }

  /** An empty `config.id` is set: in 0.3 to the task id, else to a new id. @throws OracleError CONFLICT if the task has the maximum */
  async save(taskId: string, context: sdk.ServerCallContext, config: TaskPushNotificationConfig): Promise<void> {
    if (config.id === '') config.id = isLegacyVersion(context.requestedVersion) ? taskId : randomUUID();
    const [owner, now] = [getOwner(context), this.#options.now()];
    const _id = buildConfigKey(owner, taskId, config.id);
    const content = {
      wireVersion: context.requestedVersion,
      sealed: this.#options.secretBox.seal('a2a-push-credentials', _id, JSON.stringify(TaskPushNotificationConfig.toJSON(config))),
      expiresAt: getExpiry(owner, now),
    };
    // A lost slot was taken by a concurrent insert, so the loop ends after at most one round per slot.
    for (;;) {
      if ((await this.#configs.updateOne({ _id }, { $set: content }, BY_ID)).matchedCount > 0) return;
      const taken = (await this.#listByTask(owner, taskId)).map(({ slot }) => slot);
      const slot = Array.from({ length: MAX_PUSH_CONFIGS_PER_TASK }, (_, index) => index).find((index) => !taken.includes(index));
      if (slot === undefined) throw tooManyConfigs();
      if (await isFirstWrite(this.#configs.insertOne({ _id, owner, taskId, slot, ...content, createdAt: now }))) return;
    }
  }

  /** For clients, without the secrets: others may share the address or the token of the client that registered them. */
  async load(taskId: string, context: sdk.ServerCallContext): Promise<TaskPushNotificationConfig[]> {
    const stored = await this.loadWithMetadata(taskId, context);
    return stored.map(({ config: { authentication, ...config } }) => {
      return { ...config, token: '', authentication: authentication && { ...authentication, credentials: '' } };
    });
  }

  /** In order of registration. */
  async loadWithMetadata(taskId: string, context: sdk.ServerCallContext): Promise<sdk.StoredPushNotificationConfig[]> {
    const found = await this.#listByTask(getOwner(context), taskId);
    return found
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a.slot - b.slot)
      .map(({ _id, sealed, wireVersion }) => {
        const json = this.#options.secretBox.open('a2a-push-credentials', _id, sealed);
        return { config: TaskPushNotificationConfig.fromJSON(JSON.parse(json)), wireVersion };
      });
  }

  #listByTask(owner: string, taskId: string): Promise<PushConfigDoc[]> {
    return this.#configs.find({ owner, taskId }, BY_TASK).toArray();
  }

  /** In 0.3, a missing config id means the id of the task. */
  async delete(taskId: string, context: sdk.ServerCallContext, configId: string = taskId): Promise<void> {
    await this.#configs.deleteOne({ _id: buildConfigKey(getOwner(context), taskId, configId) }, BY_ID);
  }

  async deleteForTask(owner: string, taskId: string): Promise<void> {
    await this.#configs.deleteMany({ owner, taskId }, BY_TASK);
  }

  /** Resolves when the event is delivered to, or dropped for, every callback. Never rejects. */
  async send(event: StreamResponse, context: sdk.ServerCallContext, task?: Task): Promise<void> {
    const sent = this.#send(event, context, task).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'task notifications could not be sent');
    });
    this.#running.add(sent);
    await sent.finally(() => this.#running.delete(sent));
  }

  /** Waits for running deliveries, then aborts them. */
  async #drain(): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), DRAIN_GRACE_MS);
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
    const [current, older] = [sdk.V1PushNotificationSerializer, V03PushNotificationSerializer].map((Serializer) =>
      new Serializer().serialize(...withoutHistory(event, task)),
    );
    let deliveries: Promise<void>[] = [];
    await this.#queue([owner, taskId], async () => {
      const callbacks = await this.#loadCallbacks(taskId, context);
      deliveries = callbacks.map(({ config, wireVersion }) =>
        this.#enqueue({ owner, taskId, config, notification: isLegacyVersion(wireVersion) ? older : current }),
      );
    });
    await Promise.all(deliveries);
  }

  /** @param work must not reject: a rejection would end the queue of its key */
  #queue(names: readonly string[], work: () => Promise<void>): Promise<void> {
    const key = JSON.stringify(names);
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    this.#tails.set(key, tail);
    return tail.finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
  }

  async #loadCallbacks(taskId: string, context: sdk.ServerCallContext): Promise<sdk.StoredPushNotificationConfig[]> {
    try {
      const callbacks = await this.loadWithMetadata(taskId, context);
      const owner = getOwner(context);
      const $set = { expiresAt: getExpiry(owner, this.#options.now()) };
      if (callbacks.length > 0) await this.#configs.updateMany({ owner, taskId }, { $set }, BY_TASK);
      return callbacks;
    } catch (error) {
      this.#options.log.error({ err: error, taskId }, 'the callbacks of a task could not be read');
      return [];
    }
  }

  async #enqueue(delivery: Delivery): Promise<void> {
    const { owner, taskId, config } = delivery;
    const [own, all] = [this.#pending.get(owner) ?? 0, this.#pending.get('') ?? 0];
    if (own >= MAX_PENDING.perOwner || all >= MAX_PENDING.overall) return this.#logFailure(delivery, 'too many are waiting', 0);
    const count = (by: 1 | -1) => {
      for (const key of [owner, '']) addToCount(this.#pending, key, by);
    };
    count(1);
    await this.#queue([owner, taskId, config.id], () => this.#deliver(delivery)).finally(() => count(-1));
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { backoffMs = BACKOFF_MS, shutdown } = this.#options;
    if (Buffer.byteLength(delivery.notification.body) > MAX_NOTIFICATION_BYTES) return this.#logFailure(delivery, 'too large', 0);
    for (let attempt = 1; ; attempt++) {
      // After the abort, the outbound request fails by itself.
      const verdict = this.#abort.signal.aborted ? 'post' : this.#hosts.take(getHostname(delivery.config.url));
      // Drops are logged once a minute.
      if (verdict === 'dropped') this.#logFailure(delivery, 'too many for one host', attempt - 1);
      if (verdict !== 'post') return;
      const failure = await inSpan({ name: 'a2a push', kind: 'client' }, () => this.#attempt(delivery));
      if (failure === null) return;
      const pauseMs = backoffMs[attempt - 1];
      const isRetried = failure.retryable && pauseMs !== undefined;
      if (isRetried) await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal: shutdown.signal }).catch(() => undefined);
      if (!isRetried || shutdown.signal.aborted) return this.#logFailure(delivery, failure.reason, attempt);
    }
  }

  /** Null on success. */
  async #attempt({ config, notification }: Delivery): Promise<{ reason: string; retryable: boolean } | null> {
    const { body, contentType } = notification;
    const { rules } = this.#options;
    try {
      const headers = { ...buildHeaders(config, contentType), ...getTraceHeaders() };
      const { status } = await postGuarded({ url: config.url, headers, body, timeoutMs: TIMEOUT_MS, rules, signal: this.#abort.signal });
      if (status >= 200 && status < 300) return null;
      return { reason: `HTTP ${status}`, retryable: status >= 500 || status === 429 };
    } catch (error) {
      if (!isOracleError(error)) return { reason: 'INTERNAL', retryable: false };
      return { reason: String(error.details?.reason ?? error.code), retryable: error.retryable };
    }
  }

  #logFailure({ taskId, config }: Delivery, reason: string, attempts: number): void {
    // Only the host is logged: path and query of a callback are often secret.
    const host = URL.parse(config.url)?.host;
    this.#options.log.warn({ taskId, config: config.id, host, reason, attempts }, 'a task notification was not delivered');
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

/** The receiver can read the history: with it, a small request would cause many large notifications. */
function withoutHistory(event: StreamResponse, task: Task | undefined): [StreamResponse, Task | undefined] {
  const { payload } = event;
  const sent: StreamResponse = payload?.$case === 'task' ? { payload: { ...payload, value: { ...payload.value, history: [] } } } : event;
  return [sent, task && { ...task, history: [] }];
}

/** Matches patch versions such as 0.3.0 too. */
function isLegacyVersion(version: string): boolean {
  return /^0\.3(\.|$)/.test(version);
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

/** Printable ASCII without leading and trailing spaces. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 9110, section 5.6.2. */
const HTTP_TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Checks that token and credentials fit into headers. @throws OracleError INPUT_INVALID naming the field, without its value */
function requireDeliverableConfig({ id, token, authentication }: TaskPushNotificationConfig): void {
  const { scheme = '', credentials = '' } = authentication ?? {};
  if (id !== '') checkId(id, 'id');
  const check = (field: string, value: string, allowed: RegExp, maxCharacters: number) => {
    if (value === '' || (value.length <= maxCharacters && allowed.test(value))) return;
    throw invalidConfigField(field, `must consist of at most ${maxCharacters} ASCII characters that can stand in a header`);
  };
  // A JWT fits into them.
  check('token', token, HEADER_VALUE, 4_096);
  check('authentication.scheme', scheme, HTTP_TOKEN, 64);
  check('authentication.credentials', credentials, HEADER_VALUE, 4_096);
  // Credentials without a scheme could not be sent, so the receiver would get unauthenticated requests.
  if (scheme === '' && credentials !== '')
    throw invalidConfigField('authentication.scheme', 'must be there when there are credentials, for example Bearer');
}

function invalidConfigField(field: string, rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `"${field}" of the push notification configuration ${rule}`, { field });
}
