import { createHash } from 'node:crypto';
import type { OutboxEntry } from '../../../platform/outbox.ts';
import type { PushedName } from '../../event-names.ts';

/**
 * `active` ones get events; a disabled one gets none until it is enabled again; of a suspended one, whose wallet has lost its tier,
 * the events wait in the log.
 */
export const WEBHOOK_STATUSES = ['active', 'suspended', 'disabled'] as const;

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** Who ended a webhook's calls: the operator for good, the receiver by answering 410, failures by going on for five days. */
export const DISABLERS = ['operator', 'receiver', 'failures'] as const;

export type Disabler = (typeof DISABLERS)[number];

/** Those after whom the owner may enable it again. */
export const REVERSIBLE_DISABLERS = ['receiver', 'failures'] as const satisfies Disabler[];

/** What bounds replays: one at a time gets into the queue. */
export interface ReplayState {
  /** Until when somebody is at it; a process that dies meanwhile holds up nobody for long. */
  claimedUntil: Date;
}

/** A registered callback as it is kept. `_id` is random. */
export interface WebhookDoc {
  _id: string;
  /** In lower case. */
  wallet: string;
  /** 0 to 9, each once a wallet: what holds the limit under parallel registrations. */
  slot: number;
  /** Digest of wallet, URL, events and horizons: the same registration twice is refused. */
  fingerprint: string;
  url: string;
  /** Since when it leads there; unset: since its registration. */
  urlSetAt?: Date;
  /** In the order of the list of event names. */
  events: PushedName[];
  /** Days; null: of all horizons. */
  horizons: number[] | null;
  /** Opens for this webhook's id only. */
  sealedSecret: string;
  secretSetAt: Date;
  /** The secret before, while both sign; null when there is none. */
  previousSecret: { sealed: string; validUntil: Date } | null;
  status: WebhookStatus;
  /** When it was suspended; null or unset while it is not. */
  suspendedAt?: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  disabledBy: Disabler | null;
  /** Since when every attempt has failed; null after a success. */
  failingSince: Date | null;
  /** Id of the last event that was looked at for it: what matched of those up to there is in its queue. */
  queuedThrough: number;
  /** Who sends to it, and until when that is believed, by the database's clock: one at a time keeps the order. */
  sender: { holder: string; until: Date } | null;
  /** When it was last tested; unset: never. */
  testedAt?: Date;
  /** What was replayed to it; unset: nothing. */
  replays?: ReplayState;
  /** Ends that its owner is yet to be told of. */
  outbox?: WebhookEnding[];
  createdAt: Date;
}

/** The end of a webhook's calls, as its owner is told of it: it may be enabled again before that. */
export interface WebhookEnding extends OutboxEntry<`disabled:${number}`> {
  reason: string;
  failingSince: Date | null;
}

/** Whether its owner may enable a webhook that is disabled. */
export function canOwnerEnable({ disabledBy }: Pick<WebhookDoc, 'disabledBy'>): boolean {
  return REVERSIBLE_DISABLERS.some((one) => one === disabledBy);
}

/** Two registrations with the same fingerprint would deliver everything twice. */
export function buildFingerprint({ wallet, url, events, horizons }: Pick<WebhookDoc, 'wallet' | 'url' | 'events' | 'horizons'>): string {
  return createHash('sha256')
    .update(JSON.stringify([wallet, url, events, horizons]))
    .digest('hex');
}
