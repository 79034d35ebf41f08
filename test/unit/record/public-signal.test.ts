import { describe, expect, it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { computeFreshness, computeNextSignalAt } from '../../../src/record/public-signal.ts';
import { buildTestDay } from './day-fixture.ts';

const day = parseDay('2026-03-10');
const made = { day, signalAt: new Date('2026-03-10T21:35:00Z') };
const at = (text: string, lastDay = day, lastCovered: number | null = null, isStale = false) =>
  computeFreshness(made, { known: { listDays: () => [buildTestDay(lastDay)], isStale }, lastCovered }, new Date(text));

describe('the freshness of a forecast', () => {
  it('counts from its creation', () => {
    expect(at('2026-03-10T21:36:30Z')).toMatchObject({ ageSeconds: 90, stale: false, missedSince: null });
    expect(at('2026-03-10T21:34:00Z').ageSeconds).toBe(0);
  });

  it('is stale once the next one is overdue, not while it is computed', () => {
    expect(at('2026-03-11T21:37:59Z').stale).toBe(false);
    expect(at('2026-03-11T21:38:00Z').stale).toBe(true);
    expect(at('2026-03-11T00:00:00Z').stale).toBe(false);
  });

  it('is stale where changes of the record may be missing', () => {
    expect(at('2026-03-10T21:36:30Z', day, null, true).stale).toBe(true);
  });

  it('names the first missed day after it', () => {
    expect(at('2026-03-13T00:01:00Z', day + 2)).toMatchObject({ missedSince: '2026-03-11', stale: true });
  });

  it.each([
    ['2026-03-10T00:00:00Z', '2026-03-10T21:35:00.000Z'],
    ['2026-03-10T21:34:59Z', '2026-03-10T21:35:00.000Z'],
    ['2026-03-10T21:35:00Z', '2026-03-11T21:35:00.000Z'],
    ['2026-03-10T23:59:59Z', '2026-03-11T21:35:00.000Z'],
  ])('at %s the next is due at %s', (now, next) => {
    expect(computeNextSignalAt(new Date(now), { lastDay: day - 1, lastCovered: null })?.toISOString()).toBe(next);
  });

  it("is due a day later when the day's forecast was made early", () => {
    expect(at('2026-03-10T09:00:00Z').nextSignalAt).toBe('2026-03-11T21:35:00.000Z');
    expect(at('2026-03-10T09:00:00Z', day, day).nextSignalAt).toBeNull();
  });

  it('has a due time before the first forecast too', () => {
    const next = computeNextSignalAt(new Date('2026-03-10T09:00:00Z'), { lastDay: null, lastCovered: null });
    expect(next?.toISOString()).toBe('2026-03-10T21:35:00.000Z');
  });

  it('is null beyond the end of the market data', () => {
    expect(at('2026-03-10T21:36:00Z', day, day).nextSignalAt).toBeNull();
    expect(at('2026-03-10T21:36:00Z', day, day + 1).nextSignalAt).toBe('2026-03-11T21:35:00.000Z');
    expect(at('2026-03-11T21:34:59Z', day, day + 1).nextSignalAt).toBe('2026-03-11T21:35:00.000Z');
    expect(at('2026-03-11T21:35:00Z', day, day + 1).nextSignalAt).toBeNull();
  });
});
