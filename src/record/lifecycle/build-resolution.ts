import { createHash } from 'node:crypto';
import { formatDay, toDay } from '../../forecast/day.ts';
import { scoreDirection } from '../../forecast/scoring.ts';
import type { ForecastDoc, Resolution } from '../forecast-doc.ts';

/** What a resolution follows from, with the values of the forecast. */
export type ResolutionFacts = Omit<Resolution, 'returnBps' | 'actualDirection' | 'outcome'>;

/** Of a forecast that is not missed. */
export function buildResolution({ values }: Pick<ForecastDoc, 'values'>, facts: ResolutionFacts): Resolution {
  const { btcAtSignalCents: from, btcAtResolutionCents: to } = facts;
  const { signal, direction } = values!;
  return {
    ...facts,
    returnBps: Math.round((to / from - 1) * 10_000),
    actualDirection: to > from ? 'UP' : 'DOWN',
    outcome: signal === 'HOLD' ? 'HOLD' : scoreDirection(direction, from, to),
  };
}

/**
 * Key of the transaction that reveals these forecasts, whose windows end together. Derived from the ids of all that are due, so that workers that
 * read the same set share the key, and a key's content is fixed.
 */
export function formatBatchKey(docs: readonly Pick<ForecastDoc, '_id' | 'resolvesAt'>[]): string {
  const ids = createHash('sha256')
    .update(docs.map((doc) => doc._id).join(' '))
    .digest('hex');
  return `resolve:${formatDay(toDay(docs[0]!.resolvesAt.getTime()))}:${ids.slice(0, 16)}`;
}
