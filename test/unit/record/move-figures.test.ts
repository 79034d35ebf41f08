import { describe, expect, it } from 'vitest';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { computeMoveSkill } from '../../../src/forecast/move-skill.ts';
import { formatMoveVerdict } from '../../../src/record/move-figures.ts';
import { type Drawn, toDays } from '../../support/record/move-days.ts';

describe('the verdict on the size of the move', () => {
  const drawn = Array.from({ length: 92 }, (_, day) => ({
    pBig: day % 3 ? 0.2 : 0.4,
    big: day % 5 === 0,
    frequency: 0.3,
    ewma: 0.25,
    moveSize: (['CALM', 'USUAL', 'WILD'] as const)[day % 3]!,
  }));
  const verdictOf = (days: readonly Drawn[], horizonDays: number) =>
    formatMoveVerdict(computeMoveSkill(toDays(days), horizonDays), horizonDays);

  it('has the skill against both references, and what is proven', () => {
    expect(verdictOf(drawn, 1)).toMatch(
      /^P\(big move\) at 1d on 92 resolved days: Brier skill -?\d+\.\d % \(-?\d+\.\d to -?\d+\.\d\) against the four-year frequency, -?\d+\.\d % \(-?\d+\.\d to -?\d+\.\d\) against EWMA; not proven on this record\.$/,
    );
    expect(verdictOf([{ ...drawn[0]!, replayed: true }], 2)).toBe(
      'P(big move) at 2d on 1 resolved day, 1 of them replayed: Brier skill 26.5 % (no interval yet) against the four-year frequency, 36.0 % (no interval yet) against EWMA; not proven on this record, replayed days do not count.',
    );
  });

  it('says since when, and against which reference', () => {
    const good = Array.from({ length: 200 }, (_, day) => ({ pBig: day % 4 ? 0.02 : 0.98, big: day % 4 === 0, frequency: 0.25 }));
    expect(verdictOf(good, 3)).toMatch(
      /; proven better than the four-year frequency since the forecast of 2026-0\d-\d\d, proven better than EWMA since/,
    );
    const half = good.map(({ pBig, ...one }) => ({ ...one, pBig, ewma: pBig }));
    expect(verdictOf(half, 1)).toMatch(
      /; proven better than the four-year frequency since the forecast of \S+, not proven against EWMA\.$/,
    );
    const bad = good.map(({ pBig, ...one }) => ({ ...one, pBig: 1 - pBig }));
    expect(verdictOf(bad, 1)).toMatch(/; proven worse than the four-year frequency since \S+ \S+ \S+ \S+, proven worse than EWMA since/);
  });

  it('gives shares at 7 days, and never the word skill', () => {
    expect(verdictOf(drawn, 7)).toMatch(
      /^P\(big move\) at 7d on 92 resolved days: big on 21 % \(23 % of 31 CALM, 19 % of 31 USUAL, 20 % of 30 WILD\); Brier score 0\.\d{4}, 0\.\d{4} of the four-year frequency, 0\.\d{4} of EWMA; not proven on this record\.$/,
    );
    for (const days of [[], drawn.slice(0, 1), drawn]) expect(verdictOf(days, 7)).not.toContain('skill');
  });

  it.each(HORIZONS)('of an empty record says that nothing is proven, at %i days', (horizonDays) => {
    expect(verdictOf([], horizonDays)).toBe(`P(big move) at ${horizonDays}d: no resolved day yet, so that nothing is proven.`);
  });
});
