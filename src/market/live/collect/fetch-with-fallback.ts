import { getErrorMessage, isOracleError, OracleError } from '../../../platform/errors.ts';
import type { ProviderId } from '../providers/providers.ts';

interface SourceQuery<Source, Value> {
  fetchFrom(source: Source): Promise<Value>;
  /** Null for an acceptable result. */
  findProblem?(value: Value): string | null;
}

/**
 * Queries sources in order until one returns an acceptable result. Inferior results are saved as well, since they are better than none.
 * @throws OracleError FEED_UNAVAILABLE with the reason of each source; any error other than FEED_UNAVAILABLE and FEED_INVALID
 */
export async function fetchWithFallback<Source extends { provider: ProviderId }, Value>(
  sources: readonly Source[],
  { fetchFrom, findProblem }: SourceQuery<Source, Value>,
  save: (result: { provider: ProviderId; value: Value }) => Promise<void>,
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
