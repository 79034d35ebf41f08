import { zeroHash } from 'viem';
import { type Day, formatDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { DayDoc } from '../../../src/record/forecast-doc.ts';

/** A day of the record with a forecast by default. */
export function buildTestDay(day: Day, rest: Partial<DayDoc> = {}): DayDoc {
  const signalAt = new Date(toInstantMs(day, 21, 35));
  return {
    _id: formatDay(day),
    day,
    sequence: 1,
    signalAt,
    replayed: false,
    late: false,
    missedBecause: null,
    price: { cents: 10_000_000, observedAt: signalAt, source: 'test' },
    context: null,
    modelVersion: 'm0-d1.2025-08-19',
    regime: 'CHOP',
    regimeFactors: null,
    categories: null,
    variance: null,
    moves: null,
    inputsDigest: zeroHash,
    metadata: { json: '{}', digest: zeroHash, cid: 'b' },
    forecasts: {},
    ...rest,
  };
}
