import { createHash } from 'node:crypto';
import type { EventName } from '../event-names.ts';

/** `active` ones get events; the operator can disable one, which stays so. */
export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;

export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

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
  /** In the order of the list of event names. */
  events: EventName[];
  /** Days; null: of all horizons. */
  horizons: number[] | null;
  /** Opens for this webhook's id only. */
  sealedSecret: string;
  secretSetAt: Date;
  status: WebhookStatus;
  disabledAt: Date | null;
  disabledReason: string | null;
  createdAt: Date;
}

/** Two registrations with the same fingerprint would deliver everything twice. */
export function fingerprintOf({ wallet, url, events, horizons }: Pick<WebhookDoc, 'wallet' | 'url' | 'events' | 'horizons'>): string {
  return createHash('sha256')
    .update(JSON.stringify([wallet, url, events, horizons]))
    .digest('hex');
}
