import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { parseHorizonDays } from '../../../forecast/horizon-input.ts';
import { OracleError } from '../../../platform/errors.ts';
import { checkTarget, type TargetRules } from '../../../platform/outbound/target.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';
import type { PushedName } from '../../event-names.ts';
import { DEFAULT_HORIZONS } from '../../horizon-choice.ts';
import type { WebhookDeliveryDoc } from '../delivery/delivery.ts';
import type { DeliveryQuery } from '../delivery/delivery-queue.ts';
import { createWalletLookups } from '../limits/wallet-lookups.ts';
import { type QueuedReplay, type ReplayEventsDeps, type ReplayRequest, replayEvents } from '../on-demand/replay-events.ts';
import { type TestWebhookDeps, testWebhook } from '../on-demand/test-webhook.ts';
import { rotateSecret } from '../signing/rotate-secret.ts';
import { generateSecret, toSigningKey } from '../signing/secret.ts';
import { changeWebhook, normalizeSubscription, type WebhookChange } from './change-webhook.ts';
import { buildFingerprint, canOwnerEnable, type WebhookDoc } from './webhook.ts';
import { requireOwnWebhook, toWebhookView, type WebhookView, webhookNotFound } from './webhook-view.ts';

export interface WebhookRegistration {
  url: string;
  /** At least one. */
  events: readonly PushedName[];
  /** Days; null: all; default: 7. */
  horizons?: readonly number[] | null;
  /** Default: generated. */
  secret?: string;
}

/** Webhooks of wallets. A webhook of another wallet is NOT_FOUND. */
export interface WebhookRegistry {
  /**
   * The secret is returned here only.
   * @throws OracleError INPUT_INVALID naming `url` or `secret`; CONFLICT beyond the wallet's limit or for a duplicate; RATE_LIMITED by name
   * lookups or the limit of all wallets
   */
  register(wallet: Address, registration: WebhookRegistration): Promise<WebhookView & { secret: string }>;
  /** Oldest first. */
  list(wallet: Address): Promise<WebhookView[]>;
  /** @throws OracleError NOT_FOUND */
  get(wallet: Address, id: string): Promise<WebhookView>;
  /** See `changeWebhook`. */
  change(wallet: Address, id: string, change: WebhookChange): Promise<WebhookView>;
  /** Deletes the webhook with its queue and deliveries. @throws OracleError NOT_FOUND */
  remove(wallet: Address, id: string): Promise<void>;
  /** See `rotateSecret`. The secret is returned here only. */
  rotateSecret(wallet: Address, id: string, secret?: string): Promise<WebhookView & { secret: string }>;
  /**
   * Reactivates a webhook disabled by its receiver or by failures, for new events; a suspended one also receives those since its suspension.
   * @throws OracleError NOT_FOUND; CONFLICT for one disabled by the operator
   */
  enable(wallet: Address, id: string): Promise<WebhookView>;
  /** See `testWebhook`. */
  test(wallet: Address, id: string): Promise<WebhookDeliveryDoc>;
  /** See `replayEvents`. */
  replay(wallet: Address, id: string, request: ReplayRequest): Promise<QueuedReplay>;
  /** Finished and pending deliveries, newest first. @throws OracleError NOT_FOUND */
  listDeliveries(wallet: Address, id: string, query: DeliveryQuery): Promise<WebhookDeliveryDoc[]>;
  /** For the operator: also cancels pending messages. @throws OracleError NOT_FOUND */
  disable(id: string, reason: string): Promise<WebhookView>;
}

export interface WebhookRegistryDeps extends ReplayEventsDeps, TestWebhookDeps {
  box: SecretBox;
  targets: TargetRules;
}

const DEFAULT_HORIZON_DAYS = DEFAULT_HORIZONS.map(parseHorizonDays);

const MAX_DISABLE_REASON_LENGTH = 200;

/** The transport checks the tier of the caller. */
export function createWebhookRegistry(deps: WebhookRegistryDeps): WebhookRegistry {
  const { store, queue, now } = deps;
  const getTargets = createWalletLookups(deps.targets);
  return {
    register: (wallet, registration) =>
      register({ ...deps, targets: getTargets(wallet.toLowerCase()) }, wallet.toLowerCase(), registration),
    list: async (wallet) => (await store.list(wallet.toLowerCase())).map((doc) => toWebhookView(doc, now())),
    get: async (wallet, id) => toWebhookView(await requireOwnWebhook(store, wallet.toLowerCase(), id), now()),
    async change(of, id, change) {
      const wallet = of.toLowerCase();
      return toWebhookView(await changeWebhook({ ...deps, targets: getTargets(wallet) }, { wallet, id, change }), now());
    },
    async remove(wallet, id) {
      if (!(await store.remove(wallet.toLowerCase(), id))) throw webhookNotFound();
      await queue.deleteAll(id);
    },
    async rotateSecret(wallet, id, wanted) {
      const { doc, secret } = await rotateSecret(deps, { wallet: wallet.toLowerCase(), id, secret: wanted });
      return { ...toWebhookView(doc, now()), secret };
    },
    enable: (wallet, id) => enable(deps, wallet.toLowerCase(), id),
    test: (wallet, id) => testWebhook(deps, wallet.toLowerCase(), id),
    replay: (wallet, id, request) => replayEvents(deps, { wallet: wallet.toLowerCase(), id, request }),
    async listDeliveries(wallet, id, query) {
      await requireOwnWebhook(store, wallet.toLowerCase(), id);
      return queue.list(id, query);
    },
    async disable(id, reason) {
      const at = now();
      const disabled = await store.disable(id, reason.slice(0, MAX_DISABLE_REASON_LENGTH), at);
      if (disabled === null) throw webhookNotFound();
      await queue.cancel(id, at);
      return toWebhookView(disabled, at);
    },
  };
}

async function register({ store, events: log, box, targets, now }: WebhookRegistryDeps, wallet: string, wanted: WebhookRegistration) {
  const secret = wanted.secret ?? generateSecret();
  // Rejects an unusable secret.
  toSigningKey(secret);
  // Before the name lookup: a wallet at its limit causes none.
  await store.requireCapacity(wallet);
  // An unresolved name is accepted: it is looked up again before each call.
  const { url } = await checkTarget(wanted.url, targets, 'accept');
  const { events, horizons = DEFAULT_HORIZON_DAYS } = wanted;
  const subscription = normalizeSubscription({ url, events, horizons });
  const [id, at] = [randomUUID(), now()];
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
  return { ...toWebhookView(doc, at), secret };
}

/** Events of the disabled time are not sent; a replay can request them. */
async function enable({ store, queue, events: log, now }: WebhookRegistryDeps, wallet: string, id: string): Promise<WebhookView> {
  // After a lost compare-and-set the status has changed.
  for (;;) {
    const resumed = await store.resume(wallet, id);
    if (resumed !== null) {
      await queue.makeDue(id, now());
      return toWebhookView(resumed, now());
    }
    const enabled = await store.enable(wallet, id, await log.lastId());
    const doc = enabled ?? (await requireOwnWebhook(store, wallet, id));
    if (doc.status === 'active') return toWebhookView(doc, now());
    if (doc.status === 'disabled' && !canOwnerEnable(doc)) throw disabledByOperator(doc);
  }
}

function disabledByOperator({ disabledReason }: WebhookDoc): OracleError {
  return new OracleError('CONFLICT', `The operator has ended the calls of this webhook: ${disabledReason}`, {
    suggestedAction: 'Ask the operator, or delete it.',
  });
}
