import { OracleError } from '../../../platform/errors.ts';
import { ACTIVE_STATES } from './states.ts';

/**
 * No answer takes longer: after it the process that worked on a task is taken for dead. Measured by the database's clock alone, so
 * that the clocks of the processes may differ by any time.
 */
export const TASK_LEASE_MS = 120_000;

/** Sets when a task was last worked on. */
export const HEARTBEAT = { $currentDate: { aliveAt: true } } as const;
/** So long ago that nobody is thought to work on it. */
export const RELEASED_AT = new Date(0);

const IS_EXPIRED = { $lte: ['$aliveAt', { $subtract: ['$$NOW', TASK_LEASE_MS] }] };
/** An expression of the database. */
export const IS_ABANDONED = { $and: [{ $in: ['$state', [...ACTIVE_STATES]] }, IS_EXPIRED] };
/** The same as a filter. */
export const ABANDONED_FILTER = { state: { $in: [...ACTIVE_STATES] }, $expr: IS_EXPIRED };

/** What is told of such a task. */
export function taskAbandoned(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service broke off its work on this task', {
    suggestedAction:
      'Send the message again under a new messageId. A payment that came with it is never charged twice: send the same one with it.',
  });
}
