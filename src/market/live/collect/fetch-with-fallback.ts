import { getErrorMessage, isOracleError, OracleError } from '../../../platform/errors.ts';
import type { ProviderId } from '../providers/providers.ts';

export interface SourceAnswer<Value> {
  provider: ProviderId;
  value: Value;
}

/** What a source is asked, and what of its answer is wrong; null when it will do. */
export interface SourceQuery<Source, Value> {
  fetchFrom(source: Source): Promise<Value>;
  findProblem?(value: Value): string | null;
}

/**
 * Asks sources in their order until one gives an answer that will do. An answer that will not do is better than none: it is given to
 * `keep`, and the next source is asked.
 * @throws OracleError FEED_UNAVAILABLE with what each source said; whatever is not an error of a feed
 */
export async function fetchWithFallback<Source extends { provider: ProviderId }, Value>(
  sources: readonly Source[],
  { fetchFrom, findProblem }: SourceQuery<Source, Value>,
  save: (answer: SourceAnswer<Value>) => Promise<void>,
): Promise<void> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const value = await fetchFrom(source);
      await save({ provider: source.provider, value });
      const problem = findProblem?.(value) ?? null;
      if (problem === null) return;
      reasons.push(`${source.provider}: ${problem}`);
    } catch (error) {
      if (!isOracleError(error, 'FEED_UNAVAILABLE') && !isOracleError(error, 'FEED_INVALID')) throw error;
      reasons.push(getErrorMessage(error));
    }
  }
  throw new OracleError('FEED_UNAVAILABLE', reasons.join('; ') || 'no source reaches that far');
}
