import { known, one, type StateMetric, secondsOverdue } from '../metric-definition.ts';

/** Work that waits, and what was sold. */
export const WORK_METRICS: readonly StateMetric[] = [
  {
    name: 'oracle_database_ping_seconds',
    help: 'Time of a command that does nothing, over the connections of all requests.',
    read: ({ work }) => one(work.databasePingMs / 1_000),
  },
  {
    name: 'oracle_deliveries_pending',
    help: 'Webhook deliveries in the queues, those of wagers left out.',
    read: ({ work }) => one(work.deliveries.pending),
  },
  {
    name: 'oracle_delivery_overdue_seconds',
    help: 'Seconds that the most overdue webhook delivery waits, those of wagers left out; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.deliveries.oldestDueAt, nowMs)),
  },
  {
    name: 'oracle_payment_unsettled_seconds',
    help: 'Seconds since the oldest payment that is neither settled nor released; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestPayment, nowMs)),
  },
  {
    name: 'oracle_event_log_lag_seconds',
    help: 'Seconds since the oldest change of the record that the event log does not have; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestUnpublished, nowMs)),
  },
  {
    name: 'oracle_backup_age_seconds',
    help: 'Seconds since the newest backup was written and read back; no sample before the first.',
    read: ({ work, nowMs }) => known(work.lastBackup, (at) => one((nowMs - at.getTime()) / 1_000)),
  },
  {
    name: 'oracle_timestamp_pending_seconds',
    help: 'Seconds since stamping of the oldest day began whose commitments are in no Bitcoin block; 0 without one.',
    read: ({ work, nowMs }) => one(secondsOverdue(work.oldestTimestamp, nowMs)),
  },
  {
    name: 'oracle_sales',
    help: 'Paid calls of the ledger by channel.',
    labels: ['channel'],
    read: ({ sales }) => sales.map(({ channel, payments }) => ({ labels: { channel }, value: payments })),
  },
  {
    name: 'oracle_sales_usd',
    help: 'Amount of the paid calls, dollars of the stablecoin.',
    labels: ['channel'],
    read: ({ sales }) => sales.map(({ channel, amountMicros }) => ({ labels: { channel }, value: Number(amountMicros) / 1e6 })),
  },
];
