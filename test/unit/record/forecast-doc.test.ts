import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, parseDay, toDay } from '../../../src/forecast/day.ts';
import {
  computeLastPublicDay,
  type ForecastDoc,
  type ForecastState,
  forecastAsOf,
  hasPublicValues,
} from '../../../src/record/forecast-doc.ts';
import { requireTransition, TRANSITIONS } from '../../../src/record/forecasts.ts';
import { buildTestForecast } from './forecast-fixture.ts';

const NOW = new Date('2026-02-01T12:00:00Z');
/** Its last window ended on 1 February. */
const LAST_OVER = parseDay('2026-01-24');

describe('the last public day', () => {
  it('is the last whose windows have all ended when nothing is late', () => {
    expect(computeLastPublicDay([], NOW)).toBe(LAST_OVER);
    expect(
      computeLastPublicDay([buildTestForecast({ date: '2026-01-24', state: 'WIN' }), buildTestForecast({ date: '2026-01-25' })], NOW),
    ).toBe(LAST_OVER);
  });

  it.each([1, 2, 3, 7])('is held back by one ended, unrevealed forecast of %i days', (horizonDays) => {
    const late = buildTestForecast({ date: '2026-01-10', horizonDays });
    expect(computeLastPublicDay([late, buildTestForecast({ date: '2026-01-20', state: 'LOSS' })], NOW)).toBe(parseDay('2026-01-09'));
    // Only the reveal makes it public, not the decision.
    const decided = { ...late, resolution: buildTestForecast({ state: 'WIN' }).resolution };
    expect(computeLastPublicDay([decided], NOW)).toBe(parseDay('2026-01-09'));
  });

  it('is held back by a void forecast until its window ends', () => {
    const docs = [buildTestForecast({ date: '2026-01-20', state: 'VOID' })];
    expect(computeLastPublicDay(docs, new Date(docs[0].resolvesAt.getTime() - 1))).toBeLessThan(parseDay('2026-01-20'));
    expect(computeLastPublicDay(docs, new Date(docs[0].resolvesAt.getTime() + DAY_MS))).toBeGreaterThanOrEqual(parseDay('2026-01-20'));
  });

  it('never exceeds the calendar', () => {
    for (let hour = 0; hour < 48; hour++) {
      const at = new Date(NOW.getTime() + hour * 3_600_000);
      expect(computeLastPublicDay([], at)).toBe(toDay(at.getTime()) - 8);
    }
  });
});

describe('a forecast as of an instant', () => {
  const won = buildTestForecast({ date: '2026-01-05', state: 'WIN' });
  const justBefore = (at: Date) => new Date(at.getTime() - 1);

  it('is unchanged from its reveal on', () => {
    expect(forecastAsOf(won, won.reveal!.at)).toEqual(won);
  });

  it('is pending without an outcome before its reveal', () => {
    const then = forecastAsOf(won, justBefore(won.reveal!.at));
    expect(then).toMatchObject({ state: 'PENDING', reveal: null, resolution: null, attestation: won.attestation });
    expect(hasPublicValues(then, justBefore(won.reveal!.at))).toBe(false);
  });

  it('is a draft before it is on chain', () => {
    const then = forecastAsOf(won, justBefore(won.attestation!.at));
    expect(then).toMatchObject({ state: 'DRAFT', attestation: null, reveal: null, resolution: null });
  });

  it('has no decision before its reveal', () => {
    const decided: ForecastDoc = { ...buildTestForecast(), resolution: won.resolution };
    expect(forecastAsOf(decided, NOW).resolution).toBeNull();
  });
});
const STATES = Object.keys(TRANSITIONS) as ForecastState[];

describe('the states of a forecast', () => {
  it('allow scoring only after attestation, and no change once final', () => {
    const allowed = STATES.flatMap((from) => STATES.filter((to) => !refuses(from, to)).map((to) => `${from}>${to}`));
    expect(allowed.sort()).toEqual(['DRAFT>PENDING', 'DRAFT>VOID', 'PENDING>HOLD', 'PENDING>LOSS', 'PENDING>WIN']);
  });

  it('never repeat', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATES), { maxLength: 8 }), (path) => {
        let current: ForecastState = 'DRAFT';
        const seen = new Set<ForecastState>([current]);
        for (const next of path) {
          if (refuses(current, next)) continue;
          expect(seen.has(next)).toBe(false);
          seen.add(next);
          current = next;
        }
      }),
    );
  });
});

function refuses(from: ForecastState, to: ForecastState): boolean {
  try {
    requireTransition('2026-01-01:7d', from, to);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'ILLEGAL_TRANSITION', message: expect.stringContaining('2026-01-01:7d') });
    return true;
  }
}
