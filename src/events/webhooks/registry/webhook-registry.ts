import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { parseHorizonDays } from '../../../forecast/horizon-input.ts';
import { Semaphore, type SemaphoreLimits } from '../../../platform/concurrency/semaphore.ts';
import { OracleError } from '../../../platform/errors.ts';
import { checkTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { PushedName } from '../../event-names.ts';
import { DEFAULT_HORIZONS } from '../../horizon-choice.ts';
import type { DeliveryQuery } from '../delivery/delivery-queue.ts';
import { toStoredTarget } from '../formats/chat-target.ts';
import type { WebhookFormat } from '../formats/webhook-formats.ts';
import { type ReplayEventsDeps, type ReplayRequest, replayEvents } from '../on-demand/replay-events.ts';
import { type TestWebhookDeps, testWebhook } from '../on-demand/test-webhook.ts';
import { rotateSecret } from '../signing/rotate-secret.ts';
import { generateSecret, toSigningKey } from '../signing/secret.ts';
import { changeWebhook, normalizeSubscription, type WebhookChange } from './change-webhook.ts';
import { buildFingerprint, canOwnerEnable, type WebhookDoc } from './webhook.ts';
import { requireOwnWebhook, toWebhookView, type WebhookView, webhookNotFound } from './webhook-view.ts';

/** Concurrent and queued name lookups per wallet: in all as many as it can have webhooks. */
const WALLET_LOOKUP_LIMITS = { maxConcurrent: 2, maxQueued: 8, maxWaitMs: 1_000 } as const satisfies SemaphoreLimits;

export interface WebhookRegistration {
  url: string;
  events: readonly PushedName[];
  /** Default: json. */
  format?: WebhookFormat;
  /** Of formats that name a chat beside the URL. */
  chatId?: string;
  /** Days; null: all; default: 7. */
  horizons?: readonly number[] | null;
  /** Default: generated. */
  secret?: string;
}

export type WebhookRegistry = ReturnType<typeof createWebhookRegistry>;

export interface WebhookRegistryDeps extends ReplayEventsDeps, TestWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
}

const DEFAULT_HORIZON_DAYS = DEFAULT_HORIZONS.map(parseHorizonDays);
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
      return { ...toWebhookView(doc, now(), box), secret };
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

async function register({ store, events: log, box, targets, now }: WebhookRegistryDeps, wallet: string, wanted: WebhookRegistration) {
  const [id, at] = [randomUUID(), now()];
  const secret = wanted.secret ?? generateSecret();
  // Rejects an unusable secret.
  toSigningKey(secret);
  // Before the name lookup: a wallet at its limit causes none.
  await store.requireCapacity(wallet);
  // An unresolved name is accepted: it is looked up again before each call.
  const { url } = await checkTarget(wanted.url, targets, 'accept');
  const { events, horizons = DEFAULT_HORIZON_DAYS, format = 'json', chatId = null } = wanted;
  const subscription = normalizeSubscription({ ...toStoredTarget(id, { format, url, chatId }, box), events, horizons });
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
  return { ...toWebhookView(doc, at, box), secret };
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
    if (doc.status === 'disabled' && !canOwnerEnable(doc)) throw disabledByOperator(doc);
  }
}

function disabledByOperator({ disabledReason }: WebhookDoc): OracleError {
  return new OracleError('CONFLICT', `The operator has ended the calls of this webhook: ${disabledReason}`, {
    suggestedAction: 'Contact the operator, or delete it.',
  });
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
