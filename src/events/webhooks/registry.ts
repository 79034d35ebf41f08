import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Address } from 'viem';
import { isOracleError, OracleError } from '../../errors.ts';
import { DAY_MS, HOUR_MS } from '../../forecast/day.ts';
import { parseHorizonDays } from '../../forecast/horizon-input.ts';
import type { MoveSize } from '../../forecast/move.ts';
import { Semaphore, type SemaphoreLimits } from '../../platform/concurrency.ts';
import { checkTarget, parseTarget, type TargetRules } from '../../platform/outbound/guarded.ts';
import type { SecretBox } from '../../platform/secrets.ts';
import { getTraceHeaders } from '../../platform/tracing.ts';
import { getDefaultHorizons, PUSHED_NAMES, type PushedName, sortMoveSizes } from '../events.ts';
import { type AnyEvent, EVENT_RETENTION_DAYS, type EventLog } from '../log.ts';
import {
  type CallWebhookDeps,
  callWebhook,
  type DeliveryQuery,
  type DeliveryQueue,
  toWebhookMessage,
  type WebhookDeliveryDoc,
  type WebhookMessage,
} from './delivery-queue.ts';
import { CHAT_FORMATS, type ChatName, openOr, openTargetUrl, type PingMessage, type StoredTarget, type WebhookFormat } from './formats.ts';
import type { DailyQuotaStore, HostLimiter } from './limits.ts';
import { generateSecret, MAX_SECRET_LENGTH, MIN_SECRET_BYTES, toSigningKey, toVerificationKey } from './signing.ts';
import { matchesWebhook, REVERSIBLE_DISABLERS, renderMessage, type WebhookDoc } from './store.ts';
import { toWebhookView, type WebhookStore, type WebhookView } from './webhook-store.ts';

/** Concurrent and queued name lookups per wallet: in all as many as it can have webhooks. */
const WALLET_LOOKUP_LIMITS = { maxConcurrent: 2, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

export interface WebhookRegistration {
  url: string;
  events: readonly PushedName[];
  /** Default: json. */
  format?: WebhookFormat;
  /** Of formats that name a chat beside the URL. */
  chatId?: string;
  /** Days; null: all; default: 7, or 1 with `moveSize`. */
  horizons?: readonly number[] | null;
  /** Null: no filter, the default. */
  moveSize?: readonly MoveSize[] | null;
  /** Default: generated. */
  secret?: string;
}

export type WebhookRegistry = ReturnType<typeof createWebhookRegistry>;

export interface WebhookRegistryDeps {
  store: WebhookStore;
  events: Pick<EventLog, 'after' | 'event' | 'firstId' | 'lastId'>;
  queue: DeliveryQueue;
  quotas: DailyQuotaStore;
  box: SecretBox;
  targets: TargetRules;
  /** Sends and logs a test. */
  ping(webhook: WebhookDoc): Promise<WebhookDeliveryDoc>;
  now(): Date;
}

const MAX_DISABLE_REASON_LENGTH = 200;

/** Webhooks of wallets; one of another wallet is NOT_FOUND. Secrets are returned once, when set. The transport checks the caller's tier. */
export function createWebhookRegistry(deps: WebhookRegistryDeps) {
  const { store, queue, box, now } = deps;
  const getTargets = createWalletLookups(deps.targets);
  return {
    /** @throws OracleError INPUT_INVALID naming `url`, `format`, `chatId` or `secret`; CONFLICT beyond the wallet's limit or for a duplicate; RATE_LIMITED */
    register: (wallet: Address, registration: WebhookRegistration) =>
      register({ ...deps, targets: getTargets(wallet.toLowerCase()) }, wallet.toLowerCase(), registration),
    list: async (wallet: Address) => (await store.list(wallet.toLowerCase())).map((doc) => toWebhookView(doc, now(), box)),
    get: async (wallet: Address, id: string) => toWebhookView(await requireOwnWebhook(store, wallet.toLowerCase(), id), now(), box),
    async change(of: Address, id: string, change: WebhookChange) {
      const wallet = of.toLowerCase();
      return toWebhookView(await changeWebhook({ ...deps, targets: getTargets(wallet) }, { wallet, id, change }), now(), box);
    },
    async remove(wallet: Address, id: string): Promise<void> {
      if (!(await store.remove(wallet.toLowerCase(), id))) throw webhookNotFound();
      await queue.deleteAll(id);
    },
    async rotateSecret(wallet: Address, id: string, wanted?: string) {
      const { doc, secret } = await rotateSecret(deps, { wallet: wallet.toLowerCase(), id, secret: wanted });
      return { ...toWebhookView(doc, now(), box), secret, verificationKey: toVerificationKey(secret) };
    },
    enable: (wallet: Address, id: string) => enable(deps, wallet.toLowerCase(), id),
    test: (wallet: Address, id: string) => testWebhook(deps, wallet.toLowerCase(), id),
    replay: (wallet: Address, id: string, request: ReplayRequest) => replayEvents(deps, { wallet: wallet.toLowerCase(), id, request }),
    /** Finished and pending deliveries, newest first. */
    async listDeliveries(wallet: Address, id: string, query: DeliveryQuery) {
      await requireOwnWebhook(store, wallet.toLowerCase(), id);
      return queue.list(id, query);
    },
    /** For the operator: also cancels pending messages. @throws OracleError NOT_FOUND */
    async disable(id: string, reason: string): Promise<WebhookView> {
      const at = now();
      const disabled = await store.disable(id, reason.slice(0, MAX_DISABLE_REASON_LENGTH), at);
      if (disabled === null) throw webhookNotFound();
      await queue.cancel(id, at);
      return toWebhookView(disabled, at);
    },
  };
}

/** @throws OracleError NOT_FOUND, also for a webhook of another wallet */
async function requireOwnWebhook(store: WebhookStore, wallet: string, id: string): Promise<WebhookDoc> {
  const doc = await store.get(wallet, id);
  if (doc === null) throw webhookNotFound();
  return doc;
}

function webhookNotFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such webhook of yours', {
    field: 'id',
    suggestedAction: 'GET /api/svc/webhooks lists yours.',
  });
}

async function register({ store, events: log, box, targets, now }: WebhookRegistryDeps, wallet: string, wanted: WebhookRegistration) {
  const [id, at] = [randomUUID(), now()];
  const secret = wanted.secret ?? generateSecret();
  // Rejects an unusable secret.
  const verificationKey = toVerificationKey(secret);
  // Before the name lookup: a wallet at its limit causes none.
  await store.requireCapacity(wallet);
  // An unresolved name is accepted: it is looked up again before each call.
  const { url } = await checkTarget(wanted.url, targets, 'accept');
  const { events, moveSize = null, format = 'json', chatId = null } = wanted;
  const { horizons = getDefaultHorizons(moveSize).map(parseHorizonDays) } = wanted;
  const subscription = normalizeSubscription(toStoredTarget(id, { format, url, chatId }, box), { events, horizons, moveSize });
  const doc = await store.add({
    _id: id,
    wallet,
    fingerprint: buildFingerprint({ wallet, ...subscription }),
    ...subscription,
    sealedSecret: box.seal('webhook-secret', id, secret),
    secretSetAt: at,
    status: 'active',
    disabledAt: null,
    disabledReason: null,
    disabledBy: null,
    previousSecret: null,
    failingSince: null,
    queuedThrough: await log.lastId(),
    sender: null,
    createdAt: at,
  });
  return { ...toWebhookView(doc, at, box), secret, verificationKey };
}

/** Hosts and paths of chats, which take no event as it is. */
const CHAT_URLS: readonly [host: RegExp, path: RegExp, format: ChatName][] = [
  [/^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/, /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+\/?$/, 'discord'],
  [/^hooks\.slack(?:-gov)?\.com$/, /^\/services\//, 'slack'],
  [/^api\.telegram\.org$/, /^\/bot/, 'telegram'],
];

/** The masked URL of a target, checked by the rules for all, and its parts to store. @throws OracleError INPUT_INVALID naming `url`, `format` or `chatId` */
export function toStoredTarget(
  webhookId: string,
  { format, url, chatId }: { format: WebhookFormat; url: string; chatId: string | null },
  box: SecretBox,
): StoredTarget {
  if (format === 'json') {
    const { href, origin, hostname, pathname } = new URL(url);
    const chat = CHAT_URLS.find(([host, path]) => host.test(hostname) && path.test(pathname))?.[2];
    if (chat !== undefined) {
      throw new OracleError('INPUT_INVALID', `This is the URL of a ${CHAT_FORMATS[chat].label} chat, which takes no event as it is`, {
        field: 'format',
        suggestedAction: `Register it with "format": "${chat}".`,
      });
    }
    if (chatId !== null) throw invalidChatId('format json has no chat');
    return { url: `${origin}/***`, ...seal(webhookId, href, null, box) };
  }
  const { label, hasChatId, parseUrl, urlRule, getHint } = CHAT_FORMATS[format];
  const parsed = parseUrl(new URL(url));
  if (parsed === null) throw new OracleError('INPUT_INVALID', `The URL of format ${format} must ${urlRule}`, { field: 'url' });
  if (hasChatId && chatId === null) throw invalidChatId(`format ${format} needs the id of the ${label} chat`);
  if (!hasChatId && chatId !== null) throw invalidChatId(`the URL of format ${format} names the chat`);
  return { url: `${parsed.origin}/***${getHint(parsed)}`, ...seal(webhookId, parsed.href, chatId, box), chat: { format, chatId } };
}

function seal(webhookId: string, href: string, chatId: string | null, box: SecretBox): Pick<StoredTarget, 'sealedUrl' | 'targetKey'> {
  const targetKey = createHash('sha256')
    .update(JSON.stringify([href, chatId]))
    .digest('hex');
  return { sealedUrl: box.seal('webhook-url', webhookId, href), targetKey };
}

function invalidChatId(rule: string): OracleError {
  return new OracleError('INPUT_INVALID', `body field "chatId": ${rule}`, { field: 'chatId' });
}

/** Equal fingerprints would deliver every event twice. Without a filter of the move they stay those of webhooks from before it. */
export function buildFingerprint(doc: Pick<WebhookDoc, 'wallet' | 'targetKey' | 'chat' | 'events' | 'horizons' | 'moveSize'>): string {
  const { wallet, targetKey, chat, events, horizons, moveSize } = doc;
  const text = JSON.stringify([wallet, targetKey, events, horizons, chat?.format ?? null, ...(moveSize ? [moveSize] : [])]);
  return createHash('sha256').update(text).digest('hex');
}

/** New events only, but a suspended webhook also receives those since. @throws OracleError CONFLICT for one disabled by the operator */
async function enable({ store, queue, events: log, box, now }: WebhookRegistryDeps, wallet: string, id: string): Promise<WebhookView> {
  // After a lost compare-and-set the status has changed.
  for (;;) {
    const resumed = await store.resume(wallet, id);
    if (resumed !== null) {
      await queue.makeDue(id, now());
      return toWebhookView(resumed, now(), box);
    }
    const enabled = await store.enable(wallet, id, await log.lastId());
    const doc = enabled ?? (await requireOwnWebhook(store, wallet, id));
    if (doc.status === 'active') return toWebhookView(doc, now(), box);
    if (doc.status === 'disabled' && !canOwnerEnable(doc)) {
      const suggestedAction = 'Contact the operator, or delete it.';
      throw new OracleError('CONFLICT', `The operator has ended the calls of this webhook: ${doc.disabledReason}`, { suggestedAction });
    }
  }
}

function canOwnerEnable({ disabledBy }: Pick<WebhookDoc, 'disabledBy'>): boolean {
  return REVERSIBLE_DISABLERS.some((one) => one === disabledBy);
}

/** Rules per wallet with bounded name lookups: slow names of one wallet do not delay others. */
function createWalletLookups(rules: TargetRules): (wallet: string) => TargetRules {
  const wallets = new Map<string, Semaphore>();
  return (wallet) => ({
    ...rules,
    async resolve(hostname) {
      const semaphore = wallets.get(wallet) ?? new Semaphore(WALLET_LOOKUP_LIMITS);
      wallets.set(wallet, semaphore);
      try {
        return await semaphore.run(() => rules.resolve(hostname));
      } finally {
        if (semaphore.isIdle) wallets.delete(wallet);
      }
    },
  });
}

/** Deliveries are also signed with the previous secret this long, so that receivers can switch. */
export const PREVIOUS_SECRET_HOURS = 24;

/** Retries are safe: the current secret set again changes nothing. @throws OracleError NOT_FOUND, INPUT_INVALID naming `secret`, CONFLICT */
async function rotateSecret(
  { store, box, now }: WebhookRegistryDeps,
  { wallet, id, secret = generateSecret() }: { wallet: string; id: string; secret?: string },
) {
  const key = toSigningKey(secret);
  const doc = await requireOwnWebhook(store, wallet, id);
  const before = openOr(
    () => box.open('webhook-secret', id, doc.sealedSecret),
    () => null,
  );
  const keyBefore = before === null ? null : toSigningKey(before);
  if (keyBefore?.length === key.length && timingSafeEqual(keyBefore, key)) return { doc, secret };
  const at = now();
  const validUntil = new Date(at.getTime() + PREVIOUS_SECRET_HOURS * HOUR_MS);
  const rotated = await store.replaceSecret(doc, {
    sealedSecret: box.seal('webhook-secret', id, secret),
    secretSetAt: at,
    previousSecret: before === null ? null : { sealed: doc.sealedSecret, validUntil },
  });
  if (rotated !== null) return { doc: rotated, secret };
  const suggestedAction = 'The response of that request has the current secret; repeat the request to set another one.';
  throw new OracleError('CONFLICT', 'Another request changed or deleted the webhook at the same time', { suggestedAction });
}

/** Unset fields stay unchanged; the format does. */
interface WebhookChange {
  url?: string;
  /** Of formats that name a chat beside the URL. */
  chatId?: string;
  events?: readonly PushedName[];
  /** Days; null: all. */
  horizons?: readonly number[] | null;
  /** Null: no filter. */
  moveSize?: readonly MoveSize[] | null;
}

/** Normalizes the order, for the fingerprint. */
function normalizeSubscription(
  target: StoredTarget,
  { events, horizons, moveSize }: Required<Pick<WebhookRegistration, 'events' | 'horizons' | 'moveSize'>>,
) {
  return {
    ...target,
    events: PUSHED_NAMES.filter((name) => events.includes(name)),
    horizons: horizons?.toSorted((a, b) => a - b) ?? null,
    moveSize: moveSize && sortMoveSizes(moveSize),
  };
}

/** Pending messages go to the new URL at once. @throws OracleError NOT_FOUND; INPUT_INVALID naming `url` or `chatId`; RATE_LIMITED; CONFLICT for a duplicate, or an unreadable URL */
async function changeWebhook(
  { store, queue, targets, box, now }: WebhookRegistryDeps,
  { wallet, id, change }: { wallet: string; id: string; change: WebhookChange },
): Promise<WebhookDoc> {
  // The text is checked for every caller; the host is looked up for the owner only.
  if (change.url !== undefined) parseTarget(change.url, targets.allowLocal);
  await requireOwnWebhook(store, wallet, id);
  // No lookup for an unchanged URL: its host may be down while other fields change.
  const url = change.url === undefined ? undefined : (await checkTarget(change.url, targets, 'accept')).url;
  // After a lost compare-and-set the change is applied on top of the concurrent one.
  for (;;) {
    const before = await requireOwnWebhook(store, wallet, id);
    const { events = before.events, horizons = before.horizons, moveSize = before.moveSize ?? null } = change;
    const wanted = normalizeSubscription(changeTarget(before, { url, chatId: change.chatId }, box), { events, horizons, moveSize });
    const fingerprint = buildFingerprint({ wallet, ...wanted });
    if (fingerprint === before.fingerprint) return before;
    // Failures of the old target do not count for a new one.
    const isSameTarget = wanted.targetKey === before.targetKey;
    const fresh = isSameTarget ? {} : { failingSince: null, urlSetAt: now() };
    const changed = await store.updateSubscription(before, { ...wanted, ...fresh, fingerprint });
    if (changed === null) continue;
    if (!isSameTarget) await queue.makeDue(id, now());
    return changed;
  }
}

function changeTarget(before: WebhookDoc, change: { url: string | undefined; chatId: string | undefined }, box: SecretBox): StoredTarget {
  const { _id, url, sealedUrl, targetKey, chat } = before;
  if (change.url === undefined && change.chatId === undefined) return { url, sealedUrl, targetKey, ...(chat && { chat }) };
  const { format = 'json', chatId = null } = chat ?? {};
  return toStoredTarget(_id, { format, url: change.url ?? openUrl(before, box), chatId: change.chatId ?? chatId }, box);
}

/** The cause is a setting of the operator; the owner can only send the URL again. */
function openUrl(webhook: WebhookDoc, box: SecretBox): string {
  const rejectUnreadable = (cause: OracleError): never => {
    const suggestedAction = 'Send the URL with this change.';
    throw new OracleError('CONFLICT', 'The URL of this webhook cannot be read any more', { field: 'url', suggestedAction, cause });
  };
  return openOr(() => openTargetUrl(webhook, box), rejectUnreadable);
}

/** JSON Schema patterns for inputs that functions check: each accepts only what its function accepts. */

const GROUP = '[A-Za-z0-9+/]{4}';
/** One or two trailing bytes in base64, whose unused bits are zero. */
const ONE_BYTE = '[A-Za-z0-9+/][AQgw](?:==)?';
const TWO_BYTES = '[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=?';
/** Endings after whole groups, by the minimum number of further bytes. */
const ENDINGS = [`(?:${ONE_BYTE}|${TWO_BYTES})?`, `(?:${ONE_BYTE}|${TWO_BYTES}|${GROUP})`, `(?:${TWO_BYTES}|${GROUP}(?:${ONE_BYTE})?)`];
const BASE64 = `(?:${GROUP}){${Math.floor(MIN_SECRET_BYTES / 3)},}${ENDINGS[MIN_SECRET_BYTES % 3]}`;

/** `whsec_` and base64, or text of the Basic Multilingual Plane without control characters; `toSigningKey` also accepts other planes. */
export const SECRET_PATTERN = `^(?:whsec_${BASE64}|(?!whsec_)[ -~\\u00a0-\\ud7ff\\ue000-\\uffff]{${MIN_SECRET_BYTES},${MAX_SECRET_LENGTH}})$`;

const PORT = '(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])';
const LABEL = '(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NOT_LOCAL = '(?![^/?:]*\\.(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\\.arpa)(?:[/?:]|$))';

/** https, a non-local host in lower case, no credentials or fragment. `parseTarget` accepts more spellings; a lookup decides on the address. */
export const CALLBACK_PATTERN = `^https://${NOT_LOCAL}(?:${LABEL}\\.)+[a-z]{2,63}(?::${PORT})?(?:[/?][\\w.~!$&()*+,;=:@/?%-]*)?$`;

/** Minimum interval between tests of a webhook, since each calls a receiver. */
export const MIN_TEST_INTERVAL_SECONDS = 5;

/** A receiver that accepts the test is up again: pending messages become due. @throws OracleError NOT_FOUND; RATE_LIMITED; CONFLICT */
async function testWebhook({ store, queue, quotas, ping, now }: WebhookRegistryDeps, wallet: string, id: string) {
  const webhook = await requireOwnWebhook(store, wallet, id);
  const at = now();
  const since = new Date(at.getTime() - MIN_TEST_INTERVAL_SECONDS * 1_000);
  if (!(await store.recordTest(webhook, { since, at }))) {
    throw new OracleError('RATE_LIMITED', `A webhook is tested once in ${MIN_TEST_INTERVAL_SECONDS} seconds`, {
      suggestedAction: `Wait ${MIN_TEST_INTERVAL_SECONDS} s.`,
      retryAfterSeconds: MIN_TEST_INTERVAL_SECONDS,
    });
  }
  await quotas.consume({ use: 'test', wallet, count: 1 }, at);
  const delivery = await ping(webhook);
  if (delivery.state === 'DELIVERED') await queue.makeDue(id, now());
  return delivery;
}

export interface ReplayRequest {
  eventId?: number;
  /** Events with a higher id. */
  sinceId?: number;
  /** Events at or after this time. */
  since?: Date;
  /** Excludes events at or after this time. */
  until?: Date;
}

export const REPLAY_CAUSE_PREFIX = 'replay:';

const START_FIELDS = ['eventId', 'sinceId', 'since'] as const;
const PAGE_SIZE = 200;

/** One replay per webhook at a time. @throws OracleError NOT_FOUND; INPUT_INVALID; CONFLICT for an inactive webhook or a second replay; RATE_LIMITED */
async function replayEvents(deps: WebhookRegistryDeps, { wallet, id, request }: { wallet: string; id: string; request: ReplayRequest }) {
  const { store, queue } = deps;
  const webhook = await requireOwnWebhook(store, wallet, id);
  const events = await selectEvents(deps, webhook, request);
  if (webhook.status !== 'active') {
    const suggestedAction = 'Enable it first: POST /api/svc/webhooks/{id}/enable.';
    throw new OracleError('CONFLICT', 'The webhook is not active: nothing is sent to it', { suggestedAction });
  }
  if (events.length === 0) return { replayId: null, queued: 0, from: null, to: null };
  const replayId = randomUUID();
  const messages = events.map((event) => ({ ...toWebhookMessage(event, REPLAY_CAUSE_PREFIX + replayId), ...getTraceHeaders() }));
  const claim = await store.claimReplay(id);
  try {
    if (await queue.hasPending(id, REPLAY_CAUSE_PREFIX)) throw replayPending();
    await appendWithinQuota(deps, webhook, messages);
  } finally {
    await store.releaseReplay(claim);
  }
  // A deletion empties the queue once; messages appended after it are deleted here.
  if ((await store.get(wallet, id)) === null) {
    await queue.deleteAll(id);
    throw webhookNotFound();
  }
  return { replayId, queued: events.length, from: events[0]!._id, to: events.at(-1)!._id };
}

/** Refunds the quota of events that were not queued. */
async function appendWithinQuota({ queue, quotas, now }: WebhookRegistryDeps, webhook: WebhookDoc, messages: WebhookMessage[]) {
  let unused = messages.length;
  const grant = await quotas.consume({ use: 'replay', wallet: webhook.wallet, count: unused }, now());
  try {
    unused -= await queue.append(webhook, messages, now());
  } finally {
    await quotas.refund(grant, unused);
  }
}

async function selectEvents({ events: log, now }: WebhookRegistryDeps, webhook: WebhookDoc, request: ReplayRequest): Promise<AnyEvent[]> {
  checkReplayRequest(request, now());
  const { eventId, sinceId, since, until } = request;
  if (eventId !== undefined) return [await requireEvent(log, webhook, eventId)];
  const first = (await log.firstId()) ?? 1;
  if (sinceId !== undefined && sinceId > (await log.lastId())) throw unknownEvent('sinceId');
  if (sinceId !== undefined && sinceId < first - 1) throw expiredEvent('sinceId', first);
  const wanted: AnyEvent[] = [];
  for (let last = sinceId ?? first - 1; ; ) {
    const page = await log.after(last, PAGE_SIZE);
    if (page.length === 0) return wanted;
    const asked = page.filter(({ at }) => (since === undefined || at >= since) && (until === undefined || at < until));
    wanted.push(...asked.filter((event) => matchesWebhook(webhook, event)));
    last = page.at(-1)!._id;
  }
}

function checkReplayRequest(request: ReplayRequest, now: Date): void {
  const named = START_FIELDS.filter((name) => request[name] !== undefined);
  if (named.length !== 1) throw invalidReplayField(named[1] ?? 'since', `Exactly one of ${START_FIELDS.join(', ')} is required`);
  const { eventId, since, until } = request;
  if (until !== undefined && eventId !== undefined) throw invalidReplayField('until', 'A single event has no end');
  if (until !== undefined && since !== undefined && until <= since)
    throw invalidReplayField('until', 'The end must be later than the beginning');
  // Rejected, since the response would hide that events have expired.
  if (since !== undefined && since.getTime() < now.getTime() - EVENT_RETENTION_DAYS * DAY_MS) {
    throw invalidReplayField('since', `Events are kept for ${EVENT_RETENTION_DAYS} days: the beginning lies further back`);
  }
}

async function requireEvent(log: WebhookRegistryDeps['events'], webhook: WebhookDoc, eventId: number): Promise<AnyEvent> {
  const event = await log.event(eventId);
  if (event === null) throw (await log.lastId()) < eventId ? unknownEvent('eventId') : expiredEvent('eventId', await log.firstId());
  // The same error for a notice to another wallet, which must not be disclosed.
  if (!matchesWebhook(webhook, event)) throw invalidReplayField('eventId', 'The webhook is not called for this event');
  return event;
}

function invalidReplayField(field: string, message: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field });
}

function unknownEvent(field: string): OracleError {
  return invalidReplayField(field, 'There is no event of this id yet');
}

function expiredEvent(field: string, oldestId: number | null): OracleError {
  return new OracleError('INPUT_INVALID', `Events are kept for ${EVENT_RETENTION_DAYS} days: this one is gone`, {
    field,
    suggestedAction: 'Request later events.',
    details: { oldestId },
  });
}

function replayPending(): OracleError {
  return new OracleError('CONFLICT', 'A replay to this webhook still waits in its queue', {
    suggestedAction: 'Wait until it has been delivered: GET /api/svc/webhooks/{id}/deliveries?state=PENDING shows what waits.',
  });
}

/** Sent at once, bypassing queue and status. @throws OracleError RATE_LIMITED by host or name lookups; CONFLICT for an unreadable secret */
export async function sendPing(
  deps: CallWebhookDeps & { queue: DeliveryQueue; hosts: HostLimiter; publicUrl: string },
  webhook: WebhookDoc,
): Promise<WebhookDeliveryDoc> {
  const { queue, hosts, now, publicUrl } = deps;
  const [createdAt, name] = [now(), randomUUID()];
  const messageId = `ping_${name.replaceAll('-', '')}`;
  const data = { webhookId: webhook._id };
  const message: PingMessage = { id: null, type: 'ping', timestamp: createdAt.toISOString(), data };
  const call = { messageId, body: renderMessage(webhook, message, publicUrl) };
  const called = await hosts.run(webhook, () => callWebhook(deps, webhook, call).catch(rethrowUnreadableSecret));
  if (typeof called === 'string') {
    throw new OracleError('RATE_LIMITED', 'The host of this webhook is being called too often', {
      suggestedAction: 'Retry the test later.',
      retryAfterSeconds: called === 'busy' ? 5 : 30,
    });
  }
  const { attempt } = called;
  return queue.insertFinished(webhook, {
    eventId: null,
    type: 'ping',
    messageId,
    cause: `ping:${name}`,
    once: `${webhook._id}:ping:${name}`,
    state: attempt.reason === null ? 'DELIVERED' : 'FAILED',
    attempts: [attempt],
    nextAttemptAt: null,
    createdAt,
    finishedAt: now(),
  });
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
