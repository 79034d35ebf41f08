import type { Db } from 'mongodb';
import type { Journal, OpenTransactions } from '../../chain/tx/journal.ts';
import { PaymentClaimStore } from '../../commerce/x402/claim-store.ts';
import { DeliveryQueue, type QueueBacklog } from '../../events/webhooks/delivery/delivery-queue.ts';
import { findLastBackupAt } from '../../platform/backup/backup-log.ts';
import { findOldestUnpublished } from '../../platform/outbox.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import { TimestampStore } from '../../record/timestamps/timestamp-store.ts';
import { UNCOUNTED_EVENTS } from './uncounted.ts';

/** What is under way and has not ended, as counts and times alone. */
export interface OpenWork {
  transactions: readonly OpenTransactions[];
  /** Without those of wagers. */
  deliveries: QueueBacklog;
  /** When the oldest open payment was opened; null without one. */
  oldestPayment: Date | null;
  databasePingMs: number;
  /** When the oldest change was written that the event log does not have yet; null without one. */
  oldestUnpublished: Date | null;
  /** When the newest verified backup was finished; null without one. */
  lastBackup: Date | null;
  /** When stamping of the oldest day began that no Bitcoin block holds and that calendars are asked for; null without one. */
  oldestTimestamp: Date | null;
}

export interface OpenWorkDeps {
  db: Db;
  journal: Pick<Journal, 'countOpen'>;
  chainId: number;
  record: Pick<ForecastRecord, 'days' | 'forecasts'>;
}

/** Reads by indexes on what is open: the length of the record does not matter. */
export async function readOpenWork({ db, journal, chainId, record }: OpenWorkDeps, now: Date): Promise<OpenWork> {
  const [transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup, oldestTimestamp] = await Promise.all([
    journal.countOpen(chainId),
    new DeliveryQueue(db).readBacklog(now, { except: UNCOUNTED_EVENTS }),
    new PaymentClaimStore(db).findOldestOpen(),
    measurePing(db),
    findOldestChange(record),
    findLastBackupAt(db),
    new TimestampStore(db).findOldestUnconfirmed(),
  ]);
  return { transactions, deliveries, oldestPayment, databasePingMs, oldestUnpublished, lastBackup, oldestTimestamp };
}

/** Changes of wagers are left out: that there is one says that the forecast is no HOLD. */
async function findOldestChange({ days, forecasts }: OpenWorkDeps['record']): Promise<Date | null> {
  const times = await Promise.all([findOldestUnpublished(days), findOldestUnpublished(forecasts)]);
  const known = times.flatMap((at) => (at === null ? [] : [at.getTime()]));
  return known.length === 0 ? null : new Date(Math.min(...known));
}

async function measurePing(db: Db): Promise<number> {
  const startedAtMs = performance.now();
  await db.command({ ping: 1 });
  return performance.now() - startedAtMs;
}
