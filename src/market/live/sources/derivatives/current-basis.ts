import { toDay } from '../../../../forecast/day.ts';
import { OracleError } from '../../../../platform/errors.ts';
import type { DatedValue } from '../source.ts';

const MAX_PRICE_AGE_MS = 3_600_000;

interface PerpetualPrices {
  markUsd: number;
  indexUsd: number;
  /** On the exchange's clock. */
  atMs: number;
}

/**
 * The basis of a perpetual at this moment: mark over index, less one.
 * @throws OracleError FEED_UNAVAILABLE when the prices are over an hour old
 */
export function computeCurrentBasis({ markUsd, indexUsd, atMs }: PerpetualPrices, title: string, nowMs: number): DatedValue[] {
  if (nowMs - atMs > MAX_PRICE_AGE_MS) {
    throw new OracleError('FEED_UNAVAILABLE', `${title}: its latest prices are of ${new Date(atMs).toISOString()}`);
  }
  return [{ day: toDay(atMs), value: markUsd / indexUsd - 1, providerAtMs: atMs }];
}
