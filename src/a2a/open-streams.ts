import type { ServerCallContext } from '@a2a-js/sdk/server';
import { OracleError } from '../errors.ts';
import { countedAs } from './owner.ts';

/** Streams that are open at a time, in one process. */
export const MOST_STREAMS = { perOwner: 8, overall: 200 } as const;

/** Most streams end with their task within seconds. */
const RETRY_AFTER_SECONDS = 30;

/** Streams take connections and look-ups for as long as they are open, so that their number is bounded. */
export class OpenStreams {
  readonly #open = new Map<string, number>();
  #overall = 0;

  /** Counts a stream until the function is called that it returns. @throws OracleError RATE_LIMITED */
  begin(context: ServerCallContext): () => void {
    const owner = countedAs(context);
    const own = this.#open.get(owner) ?? 0;
    if (own >= MOST_STREAMS.perOwner) throw refused(`${MOST_STREAMS.perOwner} streams of yours are open`);
    if (this.#overall >= MOST_STREAMS.overall) throw refused('Too many streams are open');
    this.#count(owner, 1);
    return () => this.#count(owner, -1);
  }

  #count(owner: string, by: 1 | -1): void {
    const own = (this.#open.get(owner) ?? 0) + by;
    if (own === 0) this.#open.delete(owner);
    else this.#open.set(owner, own);
    this.#overall += by;
  }
}

function refused(message: string): OracleError {
  return new OracleError('RATE_LIMITED', message, {
    suggestedAction: 'Close a stream, or read the task with GetTask.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
