import { z } from 'zod';
import { formatDay, parseDay, toDay } from '../../forecast/day.ts';
import { createHttpSource, invalidAnswer, parseAnswer, positive, requireUsable, type SeriesSource } from './source.ts';

const DAY_ZERO = parseDay('2009-01-01');

const answer = z
  .object({
    index: z.literal('day1'),
    start: z.number().int().min(0),
    /** Exclusive. */
    end: z.number().int(),
    data: z.array(z.unknown()),
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
    read(body, _range, reader, nowMs) {
      const { start, data } = parseAnswer(answer, body, reader.title);
      // The last day is still running.
      const dated = data.slice(0, -1).map((value, index) => ({ day: DAY_ZERO + start + index, value, index }));
      const last = dated.at(-1)?.day ?? 0;
      // Values are dated by their position: if one is wrong, all are.
      if (last > toDay(nowMs) + 1) throw invalidAnswer(reader.title, 'date', `${formatDay(last)} is in the future`);
      const known = dated.filter(({ value }) => value !== null);
      return requireUsable(known, reader, ({ day, value, index }) => {
        return { day, value: parseAnswer(positive, value, reader.title, ['data', index]), providerAtMs: null };
      });
    },
  });
}

export const bitviewRealizedPrice = createBitviewSource('realized_price');
/** Of coins that moved within the last 150 days. */
export const bitviewSthRealizedPrice = createBitviewSource('sth_realized_price');
