import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Collection, Db, Filter, UpdateFilter } from 'mongodb';
import type { Address } from 'viem';
import { isOracleError, OracleError } from '../../errors.ts';
import { DAY_MS, HOUR_MS, SECOND_MS, toDay } from '../../forecast/day.ts';
import { parseHorizonDays } from '../../forecast/horizon-input.ts';
import type { MoveSize } from '../../forecast/move.ts';
import { Semaphore, type SemaphoreLimits } from '../../platform/concurrency.ts';
import { isDuplicateKey, isFirstWrite } from '../../platform/mongo.ts';
import { checkTarget, parseTarget, type TargetRules } from '../../platform/outbound/guarded.ts';
import { confirmIfUncertain, insertFirst, repeatIfUncertain } from '../../platform/retry.ts';
import { getTraceHeaders } from '../../platform/tracing.ts';
import { getDefaultHorizons, PUSHED_NAMES, type PushedName, sortMoveSizes } from '../events.ts';
import { type AnyEvent, EVENT_RETENTION_DAYS, type EventLog } from '../log.ts';
import { type CallWebhookDeps, callWebhook, generateSecret, toSigningKey, toVerificationKey } from './call.ts';
import {
  openOrNull,
  openTargetUrl,
  type PingMessage,
  renderMessage,
  type StoredTarget,
  toStoredTarget,
  type WebhookFormat,
} from './formats.ts';
import {
  type DeliveryQuery,
  type DeliveryQueue,
  matchesWebhook,
  toWebhookMessage,
  type WebhookDeliveryDoc,
  type WebhookDoc,
} from './queue.ts';

export const MAX_WEBHOOKS_PER_WALLET = 10;
/** Over all wallets: each webhook is matched against every event. */
const MAX_WEBHOOKS = 10_000;
/** Deliveries are also signed with the previous secret this long, so that receivers can switch. */
export const PREVIOUS_SECRET_HOURS = 24;
/** Minimum interval between tests of a webhook, since each calls a receiver. */
export const MIN_TEST_INTERVAL_SECONDS = 5;
const MAX_DISABLE_REASON_LENGTH = 200;
/** Time to append a replay to the queue; later its process counts as dead. */
const REPLAY_CLAIM_MS = 30_000;
export const REPLAY_CAUSE_PREFIX = 'replay:';
const PAGE_SIZE = 200;
const BY_ID = { hint: { _id: 1 } } as const;
/** Concurrent and queued name lookups per wallet: in all as many as it can have webhooks. */
const LOOKUP_LIMITS = { maxConcurrent: 2, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

interface Subscription {
  events: readonly PushedName[];
  /** Days; null: all. */
  horizons: readonly number[] | null;
  /** Null: no filter. */
  moveSize: readonly MoveSize[] | null;
}

/** Horizons by default 7 days, or 1 with `moveSize`; a secret that is left out is generated. */
export interface WebhookRegistration extends Pick<Subscription, 'events'>, Partial<Omit<Subscription, 'events'>> {
  url: string;
  /** Default: json. */
  format?: WebhookFormat;
  /** Of formats that name a chat beside the URL. */
  chatId?: string;
  secret?: string;
}

/** Unset fields stay unchanged; the format does. */
type WebhookChange = Partial<Subscription & Pick<WebhookRegistration, 'url' | 'chatId'>>;

export interface ReplayRequest {
  eventId?: number;
  /** Events with a higher id. */
  sinceId?: number;
  /** Events at or after this time. */
  since?: Date;
  /** Excludes events at or after this time. */
  until?: Date;
}

export interface WebhookRegistryDeps extends CallWebhookDeps {
  db: Db;
  events: Pick<EventLog, 'after' | 'event' | 'firstId' | 'lastId'>;
  queue: DeliveryQueue;
  /** For links. */
  publicUrl: string;
}

/** Webhooks of wallets; one of another wallet is NOT_FOUND. Secrets are returned once, when set. The transport checks the caller's tier. */
export class WebhookRegistry {
  readonly #deps: WebhookRegistryDeps;
  readonly #webhooks: Collection<WebhookDoc>;
  readonly #quotas: Collection<DailyQuotaDoc>;
  readonly #lookups = new Map<string, Semaphore>();

  constructor(deps: WebhookRegistryDeps) {
    this.#deps = deps;
    this.#webhooks = deps.db.collection('webhooks');
    this.#quotas = deps.db.collection(QUOTA_COLLECTION);
  }

  /** @throws OracleError INPUT_INVALID naming `url`, `format`, `chatId` or `secret`; CONFLICT beyond the wallet's limit or for a duplicate; RATE_LIMITED */
  async register(owner: Address, wanted: WebhookRegistration) {
    const { box, events: log, now } = this.#deps;
    const [wallet, _id, at] = [owner.toLowerCase(), randomUUID(), now()];
    const secret = wanted.secret ?? generateSecret();
    // Rejects an unusable secret.
    const verificationKey = toVerificationKey(secret);
    // Before the name lookup: a wallet at its limit causes none.
    await this.#findSlot(wallet);
    // An unresolved name is accepted: it is looked up again before each call.
    const { url } = await checkTarget(wanted.url, this.#targetsOf(wallet), 'accept');
    const { events, moveSize = null, format = 'json', chatId = null } = wanted;
    const { horizons = getDefaultHorizons(moveSize).map(parseHorizonDays) } = wanted;
    const doc = {
      _id,
      ...normalizeSubscription(wallet, toStoredTarget(_id, { format, url, chatId }, box), { events, horizons, moveSize }),
      sealedSecret: box.seal('webhook-secret', _id, secret),
      secretSetAt: at,
      status: 'active' as const,
      disabledAt: null,
      disabledReason: null,
      disabledBy: null,
      previousSecret: null,
      failingSince: null,
      queuedThrough: await log.lastId(),
      createdAt: at,
    };
    return { ...this.#view(await this.#insert(doc)), secret, verificationKey };
  }

  /** Oldest first. */
  async list(owner: Address) {
    const found = await this.#webhooks.find({ wallet: owner.toLowerCase() }).toArray();
    return found.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || a._id.localeCompare(b._id)).map((doc) => this.#view(doc));
  }

  async get(owner: Address, id: string) {
    return this.#view(await this.#require(owner, id));
  }

  /** Pending messages go to the new URL at once. @throws OracleError NOT_FOUND; INPUT_INVALID naming `url` or `chatId`; RATE_LIMITED; CONFLICT for a duplicate, or an unreadable URL */
  async change(owner: Address, id: string, change: WebhookChange) {
    const { targets, queue, now } = this.#deps;
    const wallet = owner.toLowerCase();
    // The text is checked for every caller; the host is looked up for the owner only.
    if (change.url !== undefined) parseTarget(change.url, targets.allowLocal);
    await this.#require(owner, id);
    // No lookup for an unchanged URL: its host may be down while other fields change.
    const url = change.url && (await checkTarget(change.url, this.#targetsOf(wallet), 'accept')).url;
    // After a lost compare-and-set the change is applied on top of the concurrent one.
    for (;;) {
      const before = await this.#require(owner, id);
      const { events = before.events, horizons = before.horizons, moveSize = before.moveSize ?? null } = change;
      const wanted = normalizeSubscription(wallet, this.#changeTarget(before, url, change.chatId), { events, horizons, moveSize });
      if (wanted.fingerprint === before.fingerprint) return this.#view(before);
      // Failures of the old target do not count for a new one.
      const isSameTarget = wanted.targetKey === before.targetKey;
      const fresh = isSameTarget ? {} : { failingSince: null, urlSetAt: now() };
      const unchanged = { _id: id, wallet, fingerprint: before.fingerprint };
      const changed = await this.#update(unchanged, { $set: { ...wanted, ...fresh } }).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
        await this.#rejectDuplicate(wanted.fingerprint);
        return null;
      });
      if (changed === null) continue;
      if (!isSameTarget) await queue.makeDue(id);
      return this.#view(changed);
    }
  }

  async remove(owner: Address, id: string): Promise<void> {
    const own = { _id: id, wallet: owner.toLowerCase() };
    const isRemoved = await confirmIfUncertain(
      async () => (await this.#webhooks.deleteOne(own, BY_ID)).deletedCount > 0,
      async () => (await this.#webhooks.findOne(own, BY_ID)) === null || null,
    );
    if (!isRemoved) throw webhookNotFound();
    await this.#deps.queue.deleteAll(id);
  }

  /** Retries are safe: the current secret set again changes nothing. @throws OracleError NOT_FOUND, INPUT_INVALID naming `secret`, CONFLICT */
  async rotateSecret(owner: Address, id: string, secret = generateSecret()) {
    const { box, now } = this.#deps;
    const verificationKey = toVerificationKey(secret);
    const doc = await this.#require(owner, id);
    const { wallet, sealedSecret } = doc;
    const before = openOrNull(() => box.open('webhook-secret', id, sealedSecret));
    if (before !== null && isSameKey(before, secret)) return { ...this.#view(doc), secret, verificationKey };
    const secretSetAt = now();
    const validUntil = new Date(secretSetAt.getTime() + PREVIOUS_SECRET_HOURS * HOUR_MS);
    const previousSecret = before === null ? null : { sealed: sealedSecret, validUntil };
    const change = { sealedSecret: box.seal('webhook-secret', id, secret), secretSetAt, previousSecret };
    const rotated = await confirmIfUncertain(
      () => this.#update({ _id: id, wallet, sealedSecret }, { $set: change }),
      () => this.#webhooks.findOne({ _id: id, wallet, sealedSecret: change.sealedSecret }, BY_ID),
    );
    if (rotated !== null) return { ...this.#view(rotated), secret, verificationKey };
    const suggestedAction = 'The response of that request has the current secret; repeat the request to set another one.';
    throw new OracleError('CONFLICT', 'Another request changed or deleted the webhook at the same time', { suggestedAction });
  }

  /** New events only, but a suspended webhook also receives those since. @throws OracleError CONFLICT for one disabled by the operator */
  async enable(owner: Address, id: string) {
    const { events: log, queue } = this.#deps;
    // After a lost compare-and-set the status has changed.
    for (;;) {
      const doc = await this.#require(owner, id);
      const { wallet, status, disabledBy, disabledReason } = doc;
      if (status === 'active') return this.#view(doc);
      if (status === 'disabled' && disabledBy !== 'receiver' && disabledBy !== 'failures') {
        const suggestedAction = 'Contact the operator, or delete it.';
        throw new OracleError('CONFLICT', `The operator has ended the calls of this webhook: ${disabledReason}`, { suggestedAction });
      }
      const active = { status: 'active' as const, suspendedAt: null };
      const enabled = { ...active, disabledAt: null, disabledReason: null, disabledBy: null, failingSince: null };
      const change = status === 'suspended' ? { $set: active } : { $set: enabled, $max: { queuedThrough: await log.lastId() } };
      const changed = await this.#update({ _id: id, wallet, status, disabledBy }, change);
      if (changed === null) continue;
      if (status === 'suspended') await queue.makeDue(id);
      return this.#view(changed);
    }
  }

  /** For the operator: also cancels pending messages; a second call keeps the first reason. @throws OracleError NOT_FOUND */
  async disable(id: string, reason: string) {
    const at = this.#deps.now();
    const ended = { status: 'disabled' as const, disabledReason: reason.slice(0, MAX_DISABLE_REASON_LENGTH), disabledAt: at };
    const isNotByOperator = {
      $or: [{ status: { $ne: 'disabled' as const } }, { disabledBy: { $in: ['receiver' as const, 'failures' as const] } }],
    };
    await this.#update({ _id: id, ...isNotByOperator }, { $set: { ...ended, disabledBy: 'operator', suspendedAt: null } });
    const doc = await this.#webhooks.findOne({ _id: id }, BY_ID);
    if (doc === null) throw webhookNotFound();
    await this.#deps.queue.cancel(id, at);
    return this.#view(doc, { isOwner: false });
  }

  /** Finished and pending deliveries, newest first. */
  async listDeliveries(owner: Address, id: string, query: DeliveryQuery): Promise<WebhookDeliveryDoc[]> {
    await this.#require(owner, id);
    return this.#deps.queue.list(id, query);
  }

  /**
   * Sent at once, bypassing queue and status. A receiver that accepts the test is up again: pending messages become due.
   * @throws OracleError NOT_FOUND; RATE_LIMITED by test interval, quota, host or name lookups; CONFLICT for an unreadable secret
   */
  async test(owner: Address, id: string): Promise<WebhookDeliveryDoc> {
    const { queue, now, publicUrl } = this.#deps;
    const { wallet } = await this.#require(owner, id);
    const at = now();
    const since = new Date(at.getTime() - MIN_TEST_INTERVAL_SECONDS * SECOND_MS);
    const webhook = await this.#update({ _id: id, wallet, testedAt: { $not: { $gt: since } } }, { $set: { testedAt: at } });
    if (webhook === null) {
      throw new OracleError('RATE_LIMITED', `A webhook is tested once in ${MIN_TEST_INTERVAL_SECONDS} seconds`, {
        suggestedAction: `Wait ${MIN_TEST_INTERVAL_SECONDS} s.`,
        retryAfterSeconds: MIN_TEST_INTERVAL_SECONDS,
      });
    }
    await this.#consumeQuota('test', wallet, 1);
    const name = randomUUID();
    const messageId = `ping_${name.replaceAll('-', '')}`;
    const message: PingMessage = { id: null, type: 'ping', timestamp: at.toISOString(), data: { webhookId: id } };
    const call = { messageId, body: renderMessage(webhook, message, publicUrl) };
    const called = await callWebhook({ ...this.#deps, targets: this.#targetsOf(wallet) }, webhook, call).catch(rethrowUnreadableSecret);
    if (typeof called === 'string') {
      throw new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
        suggestedAction: 'Retry the test later.',
        retryAfterSeconds: called === 'busy' ? 5 : 30,
      });
    }
    const { attempt } = called;
    const isDelivered = attempt.reason === null;
    const delivery = await queue.insertFinished(webhook, {
      eventId: null,
      type: 'ping',
      messageId,
      cause: `ping:${name}`,
      once: `${id}:ping:${name}`,
      state: isDelivered ? 'DELIVERED' : 'FAILED',
      attempts: [attempt],
      nextAttemptAt: null,
      createdAt: at,
      finishedAt: now(),
    });
    if (isDelivered) await queue.makeDue(id);
    return delivery;
  }

  /** One replay per webhook at a time. @throws OracleError NOT_FOUND; INPUT_INVALID; CONFLICT for an inactive webhook or a second replay; RATE_LIMITED */
  async replay(owner: Address, id: string, request: ReplayRequest) {
    const { queue, now } = this.#deps;
    const webhook = await this.#require(owner, id);
    const events = await this.#selectEvents(webhook, request);
    if (webhook.status !== 'active') {
      const suggestedAction = 'Enable it first: POST /api/svc/webhooks/{id}/enable.';
      throw new OracleError('CONFLICT', 'The webhook is not active: nothing is sent to it', { suggestedAction });
    }
    if (events.length === 0) return { replayId: null, queued: 0, from: null, to: null };
    const replayId = randomUUID();
    const messages = events.map((event) => ({ ...toWebhookMessage(event, REPLAY_CAUSE_PREFIX + replayId), ...getTraceHeaders() }));
    await this.#inReplayClaim(id, async () => {
      if (await queue.hasPending(id, /^replay:/)) {
        const suggestedAction = 'Wait until it has been delivered: GET /api/svc/webhooks/{id}/deliveries?state=PENDING shows what waits.';
        throw new OracleError('CONFLICT', 'A replay to this webhook still waits in its queue', { suggestedAction });
      }
      const refund = await this.#consumeQuota('replay', webhook.wallet, messages.length);
      await queue.append(webhook, messages, now()).catch(async (error: unknown) => {
        await refund();
        throw error;
      });
    });
    // A deletion empties the queue once; messages appended after it are deleted here.
    await this.#require(owner, id).catch(async (error: unknown) => {
      await queue.deleteAll(id);
      throw error;
    });
    return { replayId, queued: events.length, from: events[0]!._id, to: events.at(-1)!._id };
  }

  /** Once at a time for a webhook, by the database's clock. @throws OracleError CONFLICT during another request's claim, or if the webhook is no longer active */
  async #inReplayClaim(webhookId: string, work: () => Promise<void>): Promise<void> {
    const free = { _id: webhookId, status: 'active' as const, $expr: { $not: [{ $gt: ['$replays.claimedUntil', '$$NOW'] }] } };
    const claim = [{ $set: { 'replays.claimedUntil': { $add: ['$$NOW', REPLAY_CLAIM_MS] } } }];
    const webhook = await this.#webhooks.findOneAndUpdate(free, claim, { returnDocument: 'after', ...BY_ID });
    if (webhook === null) {
      const suggestedAction = 'Check the webhook and its deliveries, then retry.';
      throw new OracleError('CONFLICT', 'The webhook is being changed, or replayed to, by another request', { suggestedAction });
    }
    const own = { _id: webhookId, 'replays.claimedUntil': webhook.replays!.claimedUntil };
    await work().finally(() =>
      repeatIfUncertain(() => this.#webhooks.updateOne(own, { $set: { 'replays.claimedUntil': new Date(0) } }, BY_ID)),
    );
  }

  async #selectEvents(webhook: WebhookDoc, request: ReplayRequest): Promise<AnyEvent[]> {
    const { events: log, now } = this.#deps;
    checkReplayRequest(request, now());
    const { eventId, sinceId, since, until } = request;
    const [first, last] = [(await log.firstId()) ?? 1, await log.lastId()];
    for (const [field, id, oldest] of [
      ['eventId', eventId, first],
      ['sinceId', sinceId, first - 1],
    ] as const) {
      if (id === undefined) continue;
      if (id > last) throw invalidReplayField(field, 'There is no event of this id yet');
      if (id < oldest) {
        const suggestedAction = 'Request later events.';
        throw new OracleError('INPUT_INVALID', `${KEPT}: this one is gone`, { field, suggestedAction, details: { oldestId: first } });
      }
    }
    const matches = (event: AnyEvent) => matchesWebhook(webhook, event);
    if (eventId !== undefined) {
      const event = await log.event(eventId);
      // The same error for a notice to another wallet, which must not be disclosed.
      if (event === null || !matches(event)) throw invalidReplayField('eventId', 'The webhook is not called for this event');
      return [event];
    }
    const wanted: AnyEvent[] = [];
    for (let seen = sinceId ?? first - 1; ; ) {
      const page = await log.after(seen, PAGE_SIZE);
      if (page.length === 0) return wanted;
      const asked = page.filter(({ at }) => (since === undefined || at >= since) && (until === undefined || at < until));
      wanted.push(...asked.filter(matches));
      seen = page.at(-1)!._id;
    }
  }

  /** @throws OracleError NOT_FOUND, also for a webhook of another wallet */
  async #require(owner: string, id: string): Promise<WebhookDoc> {
    const doc = await this.#webhooks.findOne({ _id: id, wallet: owner.toLowerCase() }, BY_ID);
    if (doc === null) throw webhookNotFound();
    return doc;
  }

  #update(filter: Filter<WebhookDoc>, update: UpdateFilter<WebhookDoc>): Promise<WebhookDoc | null> {
    return this.#webhooks.findOneAndUpdate(filter, update, { returnDocument: 'after', ...BY_ID });
  }

  /** A webhook as its owner, who gave the URL, or the operator sees it. Lists the fields explicitly, so that a new stored field stays private. */
  #view(doc: WebhookDoc, { isOwner = true } = {}) {
    const { _id, chat, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt } = doc;
    const previous = doc.previousSecret?.validUntil ?? null;
    const format: WebhookFormat = chat?.format ?? 'json';
    // Of the URL of a chat its host and last characters; masked, too, where it cannot be read.
    const opened = isOwner && chat === undefined ? openOrNull(() => openTargetUrl(doc, this.#deps.box)) : null;
    const url = opened ?? doc.url;
    return {
      ...{ _id, url, format, chatId: chat?.chatId ?? null, events, horizons, moveSize: doc.moveSize ?? null },
      ...{ status, suspendedAt: doc.suspendedAt ?? null, disabledAt, disabledReason, disabledBy, failingSince, createdAt, secretSetAt },
      /** End of the previous secret's validity; null if it is not valid. */
      previousSecretUntil: previous !== null && previous > this.#deps.now() ? previous : null,
    };
  }

  /** The rules with bounded name lookups: slow names of one wallet do not delay others. */
  #targetsOf(wallet: string): TargetRules {
    const { targets } = this.#deps;
    return {
      ...targets,
      resolve: async (hostname) => {
        const semaphore = this.#lookups.get(wallet) ?? new Semaphore(LOOKUP_LIMITS);
        this.#lookups.set(wallet, semaphore);
        try {
          return await semaphore.run(() => targets.resolve(hostname));
        } finally {
          if (semaphore.isIdle) this.#lookups.delete(wallet);
        }
      },
    };
  }

  /** @throws OracleError CONFLICT at the limit of the wallet, RATE_LIMITED at that of all wallets */
  async #findSlot(wallet: string): Promise<number> {
    const taken = await this.#webhooks.distinct('slot', { wallet });
    const slot = Array.from({ length: MAX_WEBHOOKS_PER_WALLET }, (_, index) => index).find((index) => !taken.includes(index));
    if (slot === undefined) {
      throw new OracleError('CONFLICT', `A wallet can have ${MAX_WEBHOOKS_PER_WALLET} webhooks, and this one has them`, {
        suggestedAction: 'Delete one first: GET /api/svc/webhooks lists them.',
        details: { limit: MAX_WEBHOOKS_PER_WALLET },
      });
    }
    // Collection metadata: counts no documents.
    if ((await this.#webhooks.estimatedDocumentCount()) >= MAX_WEBHOOKS) throw serviceLimitReached();
    return slot;
  }

  async #insert(webhook: Omit<WebhookDoc, 'slot'>): Promise<WebhookDoc> {
    // Each conflict fills a slot of the wallet, so the loop ends unless webhooks are deleted meanwhile.
    for (;;) {
      await this.#rejectDuplicate(webhook.fingerprint);
      const doc = { ...webhook, slot: await this.#findSlot(webhook.wallet) };
      if (!(await insertFirst(this.#webhooks, doc, '_id'))) continue;
      if ((await this.#webhooks.estimatedDocumentCount()) <= MAX_WEBHOOKS) return doc;
      // Concurrent registrations may each have found capacity.
      await this.#webhooks.deleteOne({ _id: doc._id }, BY_ID);
      throw serviceLimitReached();
    }
  }

  async #rejectDuplicate(fingerprint: string): Promise<void> {
    const same = await this.#webhooks.findOne({ fingerprint }, { projection: { _id: 1 } });
    if (same === null) return;
    throw new OracleError('CONFLICT', 'This URL is registered for these events, horizons and sizes already', {
      field: 'url',
      suggestedAction: 'Use the existing one; POST /api/svc/webhooks/{id}/secret rotates its secret.',
      details: { id: same._id },
    });
  }

  /** The cause of an unreadable URL is a setting of the operator; the owner can only send the URL again. */
  #changeTarget(before: WebhookDoc, changedUrl: string | undefined, changedChatId: string | undefined): StoredTarget {
    const { box } = this.#deps;
    const { _id, url, sealedUrl, targetKey, chat } = before;
    if (changedUrl === undefined && changedChatId === undefined) return { url, sealedUrl, targetKey, ...(chat && { chat }) };
    const href = changedUrl ?? openOrNull(() => openTargetUrl(before, box));
    if (href === null) {
      const suggestedAction = 'Send the URL with this change.';
      throw new OracleError('CONFLICT', 'The URL of this webhook cannot be read any more', { field: 'url', suggestedAction });
    }
    const { format = 'json', chatId = null } = chat ?? {};
    return toStoredTarget(_id, { format, url: href, chatId: changedChatId ?? chatId }, box);
  }

  /** Takes of a wallet's quota of the UTC day, all or nothing; returns a function that gives it back. @throws OracleError RATE_LIMITED */
  async #consumeQuota(use: keyof typeof QUOTAS, wallet: string, count: number): Promise<() => Promise<unknown>> {
    const nowMs = this.#deps.now().getTime();
    const day = toDay(nowMs);
    const [limit, message, suggestedAction] = QUOTAS[use];
    const _id = `${use}:${wallet}:${day}`;
    const update = { $inc: { used: count }, $setOnInsert: { expiresAt: new Date((day + 1) * DAY_MS) } };
    // Used up, the filter finds nothing, and the insertion fails; so may concurrent first ones of a day.
    for (let used = 0; used + count <= limit; used = (await this.#quotas.findOne({ _id }, BY_ID))?.used ?? 0) {
      const write = this.#quotas.updateOne({ _id, used: { $lte: limit - count } }, update, { upsert: true, ...BY_ID });
      if (await isFirstWrite(write)) return () => this.#quotas.updateOne({ _id }, { $inc: { used: -count } }, BY_ID);
    }
    const used = (await this.#quotas.findOne({ _id }, BY_ID))?.used ?? 0;
    const retryAfterSeconds = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / SECOND_MS);
    throw new OracleError('RATE_LIMITED', message, { suggestedAction, details: { limit, used }, retryAfterSeconds });
  }
}

/** Replayed events per wallet and UTC day: repeated replays of the whole log would fill the database. */
export const MAX_REPLAYED_EVENTS_PER_DAY = 10_000;
/** Tests per wallet and UTC day: each calls a receiver and is stored. */
export const MAX_TESTS_PER_DAY = 500;

/** Per wallet, not per webhook, since a webhook can be deleted and registered again. */
const QUOTAS = {
  replay: [
    MAX_REPLAYED_EVENTS_PER_DAY,
    `At most ${MAX_REPLAYED_EVENTS_PER_DAY} events can be replayed for a wallet in a UTC day`,
    'Request fewer events, or retry tomorrow.',
  ],
  test: [
    MAX_TESTS_PER_DAY,
    `A wallet can test its webhooks ${MAX_TESTS_PER_DAY} times in a UTC day`,
    'Retry tomorrow; GET /api/svc/webhooks/{id}/deliveries shows the deliveries meanwhile.',
  ],
} as const;

/** `_id` is `<use>:<wallet>:<day>`. */
interface DailyQuotaDoc {
  _id: string;
  used: number;
  expiresAt: Date;
}

const QUOTA_COLLECTION = 'webhook_daily_use';

/** Normalizes the order. Equal fingerprints would deliver every event twice; without a filter of the move they stay those from before it. */
function normalizeSubscription(wallet: string, target: StoredTarget, wanted: Subscription) {
  const events = PUSHED_NAMES.filter((name) => wanted.events.includes(name));
  const horizons = wanted.horizons?.toSorted((a, b) => a - b) ?? null;
  const moveSize = wanted.moveSize && sortMoveSizes(wanted.moveSize);
  const parts = [wallet, target.targetKey, events, horizons, target.chat?.format ?? null, ...(moveSize ? [moveSize] : [])];
  const fingerprint = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return { wallet, ...target, events, horizons, moveSize, fingerprint };
}

function isSameKey(one: string, other: string): boolean {
  const [a, b] = [toSigningKey(one), toSigningKey(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The cause is a setting of the operator; the owner can only set a new secret. */
function rethrowUnreadableSecret(error: unknown): never {
  if (!isOracleError(error, 'CONFIG_INVALID')) throw error;
  throw new OracleError('CONFLICT', 'The secret or the URL of this webhook cannot be read any more: nothing can be sent', {
    suggestedAction:
      'Set a new secret with POST /api/svc/webhooks/{id}/secret, and the URL of a chat with PATCH /api/svc/webhooks/{id}; waiting deliveries follow within a minute.',
    cause: error,
  });
}

const KEPT = `Events are kept for ${EVENT_RETENTION_DAYS} days`;
const START_FIELDS = ['eventId', 'sinceId', 'since'] as const;

function checkReplayRequest(request: ReplayRequest, now: Date): void {
  const { eventId, since, until } = request;
  const named = START_FIELDS.filter((name) => request[name] !== undefined);
  if (named.length !== 1) throw invalidReplayField(named[1] ?? 'since', `Exactly one of ${START_FIELDS.join(', ')} is required`);
  if (until !== undefined && eventId !== undefined) throw invalidReplayField('until', 'A single event has no end');
  if (until !== undefined && since !== undefined && until <= since)
    throw invalidReplayField('until', 'The end must be later than the beginning');
  // Rejected, since the response would hide that events have expired.
  if (since !== undefined && since.getTime() < now.getTime() - EVENT_RETENTION_DAYS * DAY_MS)
    throw invalidReplayField('since', `${KEPT}: the beginning lies further back`);
}

function invalidReplayField(field: string, message: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field });
}

function webhookNotFound(): OracleError {
  const suggestedAction = 'GET /api/svc/webhooks lists yours.';
  return new OracleError('NOT_FOUND', 'There is no such webhook of yours', { field: 'id', suggestedAction });
}

function serviceLimitReached(): OracleError {
  return new OracleError('RATE_LIMITED', 'All webhooks that this service takes are registered', {
    suggestedAction: 'Receive the events over the WebSocket, or register later: others may be deleted by then.',
    retryAfterSeconds: 3_600,
    details: { policy: 'webhooks', scope: 'all' },
  });
}
