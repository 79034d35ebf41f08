import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ForecastState, requireTransition, TRANSITIONS } from '../../../../src/record/forecast-doc.ts';

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
