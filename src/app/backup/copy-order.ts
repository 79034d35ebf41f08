import type { CopyOrder } from '../../platform/backup/dump-database.ts';

/** For databases without snapshots; `CopyOrder` has the argument. A collection that is not named depends on no other. */
export const COPY_ORDER: CopyOrder = {
  // Commitment, receipt, outbox and wager of a day refer to each other.
  stable: ['record_meta', 'days', 'forecasts', 'wagers'],
  // What is delivered and passed by a cursor comes before the event and the job that it follows from.
  early: ['purchases', 'webhook_deliveries', 'webhooks', 'agent_commerce', 'client_feedback_states'],
  // A payment is booked before its claim, purchase or job is marked as paid, and booked again where the mark is missing. An event follows from the
  // outbox of a document, and is in the log before it leaves that. Each transaction is signed here before it is sent.
  late: ['agent_jobs', 'x402_payments', 'payments', 'events', 'transactions'],
};
