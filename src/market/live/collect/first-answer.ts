import { isOracleError, messageOf, OracleError } from '../../../errors.ts';
import type { ProviderId } from '../providers.ts';

export interface Answer<Value> {
  provider: ProviderId;
  value: Value;
}

/** What a source is asked, and what of its answer is wrong; null when it will do. */
export interface Question<Source, Value> {
  ask(source: Source): Promise<Value>;
  complaint?(value: Value): string | null;
}

/**
 * Asks sources in their order until one gives an answer that will do. An answer that will not do is better than none: it is given to
 * `keep`, and the next source is asked.
 * @throws OracleError FEED_UNAVAILABLE with what each source said; whatever is not an error of a feed
 */
export async function firstAnswer<Source extends { provider: ProviderId }, Value>(
  sources: readonly Source[],
  { ask, complaint }: Question<Source, Value>,
  keep: (answer: Answer<Value>) => Promise<void>,
): Promise<void> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const value = await ask(source);
      await keep({ provider: source.provider, value });
      const problem = complaint?.(value) ?? null;
      if (problem === null) return;
      reasons.push(`${source.provider}: ${problem}`);
    } catch (error) {
      if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
      reasons.push(messageOf(error));
    }
  }
  throw new OracleError('FEED_UNAVAILABLE', reasons.join('; ') || 'no source reaches that far');
}
