import { describe, expect, it } from 'vitest';
import { DAY_MS, dayOf, parseDay } from '../../../src/forecast/day.ts';
import { forecastAsOf } from '../../../src/record/as-of.ts';
import { type ForecastDoc, isTold, lastDayTold } from '../../../src/record/forecast.ts';
import { forecastDoc } from './forecast-doc.ts';

const NOW = new Date('2026-02-01T12:00:00Z');
/** Its last window ended on 1 February. */
const LAST_OVER = parseDay('2026-01-24');

describe('the last day that is told', () => {
  it('is the last whose windows are all over, where nothing is late', () => {
    expect(lastDayTold([], NOW)).toBe(LAST_OVER);
    expect(lastDayTold([forecastDoc({ date: '2026-01-24', state: 'WIN' }), forecastDoc({ date: '2026-01-25' })], NOW)).toBe(LAST_OVER);
  });

  it.each([1, 2, 3, 7])('is held back by a single forecast of %i days that is over and not revealed', (horizonDays) => {
    const late = forecastDoc({ date: '2026-01-10', horizonDays });
    expect(lastDayTold([late, forecastDoc({ date: '2026-01-20', state: 'LOSS' })], NOW)).toBe(parseDay('2026-01-09'));
    // Decided is not revealed: only the reveal is public.
    const decided = { ...late, resolution: forecastDoc({ state: 'WIN' }).resolution };
    expect(lastDayTold([decided], NOW)).toBe(parseDay('2026-01-09'));
  });

  it('is held back by a void forecast only until its window is over', () => {
    const docs = [forecastDoc({ date: '2026-01-20', state: 'VOID' })];
    expect(lastDayTold(docs, new Date(docs[0].resolvesAt.getTime() - 1))).toBeLessThan(parseDay('2026-01-20'));
    expect(lastDayTold(docs, new Date(docs[0].resolvesAt.getTime() + DAY_MS))).toBeGreaterThanOrEqual(parseDay('2026-01-20'));
  });

  it('never lies behind the calendar', () => {
    for (let hour = 0; hour < 48; hour++) {
      const at = new Date(NOW.getTime() + hour * 3_600_000);
      expect(lastDayTold([], at)).toBe(dayOf(at.getTime()) - 8);
    }
  });
});

describe('a forecast as of an instant', () => {
  const won = forecastDoc({ date: '2026-01-05', state: 'WIN' });
  const justBefore = (at: Date) => new Date(at.getTime() - 1);

  it('is what it is from its reveal on', () => {
    expect(forecastAsOf(won, won.reveal!.at)).toEqual(won);
  });

  it('is pending and tells nothing before its reveal', () => {
    const then = forecastAsOf(won, justBefore(won.reveal!.at));
    expect(then).toMatchObject({ state: 'PENDING', reveal: null, resolution: null, attestation: won.attestation });
    expect(isTold(then, justBefore(won.reveal!.at))).toBe(false);
  });

  it('is a draft before it is on chain', () => {
    const then = forecastAsOf(won, justBefore(won.attestation!.at));
    expect(then).toMatchObject({ state: 'DRAFT', attestation: null, reveal: null, resolution: null });
  });

  it('has no decision before its reveal', () => {
    const decided: ForecastDoc = { ...forecastDoc(), resolution: won.resolution };
    expect(forecastAsOf(decided, NOW).resolution).toBeNull();
  });
});
