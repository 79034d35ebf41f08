import { toDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { DatedValue } from '../source.ts';

const MAX_PRICE_AGE_MS = 3_600_000;

/** Current basis: mark price over index price minus one. @throws OracleError FEED_UNAVAILABLE for prices older than an hour */
export function computeCurrentBasis(
  { markUsd, indexUsd, atMs }: Record<'markUsd' | 'indexUsd' | 'atMs', number>,
  title: string,
  nowMs: number,
): DatedValue[] {
  if (nowMs - atMs > MAX_PRICE_AGE_MS) {
    throw new OracleError('FEED_UNAVAILABLE', `${title}: its latest prices are of ${new Date(atMs).toISOString()}`);
  }
  return [{ day: toDay(atMs), value: markUsd / indexUsd - 1, providerAtMs: atMs }];
}
