import { describe, expect, it } from 'vitest';
import { committed, evidence, made, OPEN, OPENS, openIn, PLACE, prediction, wrongIn } from './evidence.ts';

describe('a second prediction for one day and horizon', () => {
  const first = prediction();
  const twin = prediction({}, `0x${'77'.repeat(32)}`);

  it('fails when it came in time', () => {
    expect(wrongIn(evidence({}, { first, rivals: committed(first, twin) }))).toEqual(['onePrediction']);
    // Even when the endpoint lists only the other one.
    expect(wrongIn(evidence({}, { first, rivals: committed(twin) }))).toEqual(['onePrediction']);
    const late = prediction({ time: OPENS / 1_000 }, `0x${'77'.repeat(32)}`);
    expect(wrongIn(evidence({}, { first, rivals: committed(first, late) }))).toEqual([]);
    const elsewhere = [{ day: PLACE.day + 1 }, { horizonDays: 3 }].map((place) =>
      prediction({ data: made(place, `0x${'77'.repeat(32)}`) }),
    );
    expect(wrongIn(evidence({}, { first, rivals: committed(first, ...elsewhere) }))).toEqual([]);
  });

  it('fails for a void row when it came in time', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const row = { ...OPEN, status: 'VOID' };
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late, twin) }))).toEqual(['onePrediction']);
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late) }))).toEqual([]);
  });

  it('is left open until the window opens', () => {
    const rivals = { ...committed(first), newest: new Date(OPENS - 8_000_000) };
    expect(openIn(evidence(OPEN, { first, second: null, rivals, now: new Date(OPENS - 1) }))).toContain('onePrediction');
    expect(openIn(evidence(OPEN, { first, second: null, now: new Date(OPENS) }))).not.toContain('onePrediction');
  });
});
