import { OracleError } from '../errors.ts';
import { ACTIVE } from './task-states.ts';

/**
 * No answer takes longer: after it the process that worked on a task is taken for dead. Measured by the database's clock alone, so
 * that the clocks of the processes may differ by any time.
 */
export const LEASE_MS = 120_000;

/** Sets when a task was last worked on. */
export const ALIVE = { $currentDate: { aliveAt: true } } as const;
/** So long ago that nobody is thought to work on it. */
export const GIVEN_UP = new Date(0);

const IS_OLD = { $lte: ['$aliveAt', { $subtract: ['$$NOW', LEASE_MS] }] };
/** An expression of the database. */
export const IS_ABANDONED = { $and: [{ $in: ['$state', [...ACTIVE]] }, IS_OLD] };
/** The same as a filter. */
export const ABANDONED = { state: { $in: [...ACTIVE] }, $expr: IS_OLD };

/** What is told of such a task. */
export function abandoned(): OracleError {
  return new OracleError('SHUTTING_DOWN', 'The service broke off its work on this task', {
    suggestedAction:
      'Send the message again under a new messageId. A payment that came with it is never charged twice: send the same one with it.',
  });
}
