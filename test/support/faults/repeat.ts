import { setTimeout as delay } from 'node:timers/promises';
import { OracleError } from '../../../src/errors.ts';
import { toDatabaseError } from '../../../src/platform/mongo.ts';

/** What a client does: repeats the same request after a retryable error. @throws any other error, and the last one */
export async function repeatWhileRetryable<T>(work: () => Promise<T>, { maxRepeats = 10, pauseMs = 50 } = {}): Promise<T> {
  for (let repeat = 1; ; repeat++) {
    try {
      return await work();
    } catch (caught) {
      const error = toDatabaseError(caught);
      if (!(error instanceof OracleError && error.retryable) || repeat === maxRepeats) throw error;
      await delay(pauseMs);
    }
  }
}
