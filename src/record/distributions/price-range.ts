import type { z } from 'zod';
import { orElse } from '../../platform/errors.ts';
import type { PRICE_RANGE } from '../schemas/expected-range.ts';
import { type ExpectedRange, type ExpectedRangeDeps, getExpectedRange } from './expected-range.ts';

const SHOWN_SHARE = 0.8;

interface ForecastDay {
  horizonDays: number;
  /** YYYY-MM-DD */
  date: string;
}

/** The central 80 % of the newest forecast's price at its end; null for another day, and for a day without stored widths. */
export async function findPriceRange(deps: ExpectedRangeDeps, { horizonDays, date }: ForecastDay): Promise<z.input<typeof PRICE_RANGE>> {
  const newest = await getExpectedRange(deps, horizonDays).catch(orElse<ExpectedRange | null>('STEP_WAITING', null));
  const found = newest?.date === date ? newest.ranges.find(({ share }) => share === SHOWN_SHARE) : undefined;
  if (found === undefined) return null;
  const { share, low, high } = found;
  return { share, low, high };
}
