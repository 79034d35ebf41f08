import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { OracleError } from '../../errors.ts';
import { horizonDaysOf } from '../../horizon-input.ts';
import { checkTarget, type TargetRules } from '../../platform/outbound/target.ts';
import type { SecretBox } from '../../secret-box.ts';
import type { PushedName } from '../event-names.ts';
import { DEFAULT_HORIZONS } from '../horizon-choice.ts';
import { type Change, changeWebhook, inOrder } from './change.ts';
import type { DeliveryDoc } from './delivery.ts';
import { lookUpsByWallet } from './lookups.ts';
import { noSuchWebhook, ownWebhook, shown, type Webhook } from './owned.ts';
import type { DeliveryQuery } from './queue.ts';
import { type Replay, type ReplayParts, type ReplayRequest, replayTo } from './replay.ts';
import { rotateSecret } from './rotation.ts';
import { generateSecret, secretKey } from './secret.ts';
import { type TestParts, testWebhook } from './test-call.ts';
import { fingerprintOf, mayEnable, type WebhookDoc } from './webhook.ts';

/** What a caller wants called, for what. */
export interface Registration {
  url: string;
  /** At least one. */
  events: readonly PushedName[];
  /** Days; null: all, unset: the default. */
  horizons?: readonly number[] | null;
  /** Unset: one is made. */
  secret?: string;
}

/** Registered callbacks: whoever registered one, and the operator, may end it. Somebody else's is to everybody as none: NOT_FOUND. */
export interface WebhookRegistry {
  /**
   * The secret is told here and never again.
   * @throws OracleError INPUT_INVALID naming `url` or `secret`; CONFLICT beyond the limit, and for the same again; RATE_LIMITED while too many host names
   * are being looked up, and when all wallets together have as many as there can be.
   */
  register(wallet: Address, registration: Registration): Promise<Webhook & { secret: string }>;
  /** A wallet's own, oldest first. */
  list(wallet: Address): Promise<Webhook[]>;
  /** @throws OracleError NOT_FOUND */
  get(wallet: Address, id: string): Promise<Webhook>;
  /** See `changeWebhook`. */
  change(wallet: Address, id: string, change: Change): Promise<Webhook>;
  /** Deletes it, its queue and its deliveries. @throws OracleError NOT_FOUND */
  remove(wallet: Address, id: string): Promise<void>;
  /** See `rotateSecret`. The secret is told here and never again. */
  rotate(wallet: Address, id: string, secret?: string): Promise<Webhook & { secret: string }>;
  /**
   * Makes one active again that its receiver or failures have ended; it gets what happens from now on. A suspended one gets all that
   * has happened since, too. An active one stays as it is.
   * @throws OracleError NOT_FOUND; CONFLICT for one that the operator has ended.
   */
  enable(wallet: Address, id: string): Promise<Webhook>;
  /** See `testWebhook`. */
  test(wallet: Address, id: string): Promise<DeliveryDoc>;
  /** See `replayTo`. */
  replay(wallet: Address, id: string, request: ReplayRequest): Promise<Replay>;
  /** What was, and is to be, sent to it: newest first. @throws OracleError NOT_FOUND */
  deliveries(wallet: Address, id: string, query: DeliveryQuery): Promise<DeliveryDoc[]>;
  /** For the operator: no event goes there any more, nor what waits. @throws OracleError NOT_FOUND */
  disable(id: string, reason: string): Promise<Webhook>;
}

export interface RegistryParts extends ReplayParts, TestParts {
  box: SecretBox;
  targets: TargetRules;
}

const DEFAULT_DAYS = DEFAULT_HORIZONS.map(horizonDaysOf);

/** Longest reason that is kept. */
const LONGEST_REASON = 200;

/** Who may register is not asked here: that is the door's business. */
export function createWebhookRegistry(parts: RegistryParts): WebhookRegistry {
  const { store, queue, now } = parts;
  const targetsOf = lookUpsByWallet(parts.targets);
  return {
    register: (wallet, registration) =>
      register({ ...parts, targets: targetsOf(wallet.toLowerCase()) }, wallet.toLowerCase(), registration),
    list: async (wallet) => (await store.list(wallet.toLowerCase())).map((doc) => shown(doc, now())),
    get: async (wallet, id) => shown(await ownWebhook(store, wallet.toLowerCase(), id), now()),
    async change(of, id, change) {
      const wallet = of.toLowerCase();
      return shown(await changeWebhook({ ...parts, targets: targetsOf(wallet) }, { wallet, id, change }), now());
    },
    async remove(wallet, id) {
      if (!(await store.remove(wallet.toLowerCase(), id))) throw noSuchWebhook();
      await queue.forget(id);
    },
    async rotate(wallet, id, wanted) {
      const { doc, secret } = await rotateSecret(parts, { wallet: wallet.toLowerCase(), id, secret: wanted });
      return { ...shown(doc, now()), secret };
    },
    enable: (wallet, id) => enable(parts, wallet.toLowerCase(), id),
    test: (wallet, id) => testWebhook(parts, wallet.toLowerCase(), id),
    replay: (wallet, id, request) => replayTo(parts, { wallet: wallet.toLowerCase(), id, request }),
    async deliveries(wallet, id, query) {
      await ownWebhook(store, wallet.toLowerCase(), id);
      return queue.list(id, query);
    },
    async disable(id, reason) {
      const at = now();
      const disabled = await store.disable(id, reason.slice(0, LONGEST_REASON), at);
      if (disabled === null) throw noSuchWebhook();
      await queue.cancel(id, at);
      return shown(disabled, at);
    },
  };
}

async function register({ store, events: log, box, targets, now }: RegistryParts, wallet: string, wanted: Registration) {
  const secret = wanted.secret ?? generateSecret();
  // Refuses one that cannot sign.
  secretKey(secret);
  // Before the host is looked up: a wallet that is full makes nobody ask for anything.
  await store.requireRoom(wallet);
  // A name that leads nowhere yet is looked up again before each call.
  const { url } = await checkTarget(wanted.url, targets, 'accept');
  const { events, horizons = DEFAULT_DAYS } = wanted;
  const subscription = inOrder({ url, events, horizons });
  // A webhook from the time when all horizons were the default still is what this client has registered.
  if (wanted.horizons === undefined) await store.requireUnknown(fingerprintOf({ wallet, ...subscription, horizons: null }));
  const [id, at] = [randomUUID(), now()];
  const doc = await store.add({
    _id: id,
    wallet,
    fingerprint: fingerprintOf({ wallet, ...subscription }),
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
  return { ...shown(doc, at), secret };
}

/** What happened meanwhile is not sent by itself: it can be asked for by a replay. */
async function enable({ store, queue, events: log, now }: RegistryParts, wallet: string, id: string): Promise<Webhook> {
  // A round that is lost was won by another change of its status.
  for (;;) {
    const resumed = await store.resume(wallet, id);
    if (resumed !== null) {
      await queue.hurry(id, now());
      return shown(resumed, now());
    }
    const enabled = await store.enable(wallet, id, await log.lastId());
    const doc = enabled ?? (await ownWebhook(store, wallet, id));
    if (doc.status === 'active') return shown(doc, now());
    if (doc.status === 'disabled' && !mayEnable(doc)) throw endedForGood(doc);
  }
}

function endedForGood({ disabledReason }: WebhookDoc): OracleError {
  return new OracleError('CONFLICT', `The operator has ended the calls of this webhook: ${disabledReason}`, {
    suggestedAction: 'Ask the operator, or delete it.',
  });
}
