import { OracleError } from '../../../platform/errors.ts';
import { ACTIVE_STATES } from './states.ts';

/** Above the duration of any skill. Measured by the clock of the database, so that clock skew of processes does not matter. */
export const TASK_LEASE_MS = 120_000;

/** Update that renews the lease. */
export const HEARTBEAT = { $currentDate: { aliveAt: true } } as const;
/** Epoch: the lease counts as expired. */
export const RELEASED_AT = new Date(0);

const IS_EXPIRED = { $lte: ['$aliveAt', { $subtract: ['$$NOW', TASK_LEASE_MS] }] };
/** Aggregation expression. */
export const IS_ABANDONED = { $and: [{ $in: ['$state', [...ACTIVE_STATES]] }, IS_EXPIRED] };
/** The same as a query filter. */
export const ABANDONED_FILTER = { state: { $in: [...ACTIVE_STATES] }, $expr: IS_EXPIRED };

export function taskAbandoned(): OracleError {
  const suggestedAction =
    'Send the message again with a new messageId, and with the same payment if there was one: it is not charged twice.';
  return new OracleError('SHUTTING_DOWN', 'The service stopped while this task was running', { suggestedAction });
}
