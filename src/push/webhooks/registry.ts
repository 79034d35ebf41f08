import { randomUUID } from 'node:crypto';
import type { Address } from 'viem';
import { OracleError } from '../../errors.ts';
import type { SecretBox } from '../../secret-box.ts';
import { PUSHED_NAMES, type PushedName } from '../event-names.ts';
import type { EventLog } from '../events/log.ts';
import { checkTarget, type TargetRules } from '../target.ts';
import { generateSecret, secretKey } from './secret.ts';
import type { WebhookStore } from './store.ts';
import { fingerprintOf, type WebhookDoc } from './webhook.ts';

/** What a caller wants called, for what. */
export interface Registration {
  url: string;
  /** At least one. */
  events: readonly PushedName[];
  /** Days; unset: all. */
  horizons?: readonly number[];
  /** Unset: one is made. */
  secret?: string;
}

/** A webhook without its secret and the like. */
export type Webhook = Omit<WebhookDoc, Kept>;

/** What nobody is told. */
type Kept = 'slot' | 'fingerprint' | 'sealedSecret' | 'wallet' | 'previousSecret' | 'queuedThrough' | 'sender';

/** Registered callbacks: whoever registered one, and the operator, may end it. */
export interface WebhookRegistry {
  /**
   * The secret is told here and never again.
   * @throws OracleError INPUT_INVALID naming `url` or `secret`; CONFLICT beyond the limit, and for the same again.
   */
  register(wallet: Address, registration: Registration): Promise<Webhook & { secret: string }>;
  /** A wallet's own, oldest first. */
  list(wallet: Address): Promise<Webhook[]>;
  /** @throws OracleError NOT_FOUND, for somebody else's as for none. */
  remove(wallet: Address, id: string): Promise<void>;
  /** For the operator: no event goes there any more. @throws OracleError NOT_FOUND */
  disable(id: string, reason: string): Promise<Webhook>;
}

export interface RegistryParts {
  store: WebhookStore;
  events: Pick<EventLog, 'lastId' | 'event'>;
  box: SecretBox;
  targets: TargetRules;
  now(): Date;
}

/** Longest reason that is kept. */
const LONGEST_REASON = 200;

/** Who may register is not asked here: that is the door's business. */
export function createWebhookRegistry(parts: RegistryParts): WebhookRegistry {
  const { store } = parts;
  return {
    register: (wallet, registration) => register(parts, wallet.toLowerCase(), registration),
    list: async (wallet) => (await store.list(wallet.toLowerCase())).map(shown),
    async remove(wallet, id) {
      if (!(await store.remove(wallet.toLowerCase(), id))) throw notFound();
    },
    async disable(id, reason) {
      const disabled = await store.disable(id, reason.slice(0, LONGEST_REASON), parts.now());
      if (disabled === null) throw notFound();
      return shown(disabled);
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
  const events = PUSHED_NAMES.filter((name) => wanted.events.includes(name));
  const horizons = wanted.horizons === undefined ? null : [...wanted.horizons].sort((a, b) => a - b);
  const [id, at] = [randomUUID(), now()];
  const doc = await store.add({
    _id: id,
    wallet,
    fingerprint: fingerprintOf({ wallet, url, events, horizons }),
    ...{ url, events, horizons },
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
  return { ...shown(doc), secret };
}

function shown(doc: WebhookDoc): Webhook {
  const { _id, url, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt } = doc;
  return { _id, url, events, horizons, secretSetAt, status, disabledAt, disabledReason, disabledBy, failingSince, createdAt };
}

function notFound(): OracleError {
  return new OracleError('NOT_FOUND', 'There is no such webhook of yours', {
    field: 'id',
    suggestedAction: 'GET /api/svc/webhooks lists yours.',
  });
}
