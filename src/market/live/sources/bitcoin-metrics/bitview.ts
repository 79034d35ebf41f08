import { z } from 'zod';
import { parseDay } from '../../../../forecast/day.ts';
import { createHttpSource, finite, parseAnswer } from '../http-source.ts';
import type { SeriesSource } from '../source.ts';

/** The day that the provider counts from. */
const DAY_ZERO = parseDay('2009-01-01');

const answer = z
  .object({
    index: z.literal('day1'),
    start: z.number().int().min(0),
    /** Not included. */
    end: z.number().int(),
    data: z.array(finite.positive().nullable()),
  })
  .refine(({ start, end, data }) => data.length === end - start, { message: 'is not as long as told', path: ['data'] });

function createBitviewSource(name: string): SeriesSource {
  return createHttpSource({
    provider: 'bitview',
    history: { from: '2011-08-18' },
    pageDays: 10_000,
    daily: true,
    // One day more than wanted, for the last one is given up.
    request: ({ from, to }) => ({ path: `/api/series/${name}/day1`, query: { start: from - DAY_ZERO, end: to + 2 - DAY_ZERO } }),
    read(body, _range, title) {
      const { start, data } = parseAnswer(answer, body, title);
      // The day after which there is none is still running.
      const complete = data.slice(0, -1);
      return complete.flatMap((value, index) => (value === null ? [] : [{ day: DAY_ZERO + start + index, value, providerAtMs: null }]));
    },
  });
}

export const bitviewRealizedPrice = createBitviewSource('realized_price');
/** Of coins that moved within the last 150 days. */
export const bitviewSthRealizedPrice = createBitviewSource('sth_realized_price');
