import { z } from 'zod';
import { parseDay } from '../../../../forecast/day.ts';
import { createHttpSource, finite, parseAnswer } from '../http-source.ts';
import type { SeriesSource } from '../source.ts';

const DAY_ZERO = parseDay('2009-01-01');

const answer = z
  .object({
    index: z.literal('day1'),
    start: z.number().int().min(0),
    /** Exclusive. */
    end: z.number().int(),
    data: z.array(finite.positive().nullable()),
  })
  .refine(({ start, end, data }) => data.length === end - start, { message: 'does not have the declared length', path: ['data'] });

function createBitviewSource(name: string): SeriesSource {
  return createHttpSource({
    provider: 'bitview',
    history: { from: '2011-08-18' },
    pageDays: 10_000,
    daily: true,
    // One extra day, because `read` drops the last one.
    request: ({ from, to }) => ({ path: `/api/series/${name}/day1`, query: { start: from - DAY_ZERO, end: to + 2 - DAY_ZERO } }),
    read(body, _range, title) {
      const { start, data } = parseAnswer(answer, body, title);
      // The last day is still running.
      const complete = data.slice(0, -1);
      return complete.flatMap((value, index) => (value === null ? [] : [{ day: DAY_ZERO + start + index, value, providerAtMs: null }]));
    },
  });
}

export const bitviewRealizedPrice = createBitviewSource('realized_price');
/** Of coins that moved within the last 150 days. */
export const bitviewSthRealizedPrice = createBitviewSource('sth_realized_price');
