import { describe, expect, it } from 'vitest';
import { buildSkillRows } from '../../../../src/page/browser/record.ts';
import type { ApiResponses } from '../../../../src/page/browser/responses.ts';

type Scorecard = ApiResponses['scorecard'];
type Estimate = { value: number; low: number | null; high: number | null };

const BETTER = { value: 0.1, low: 0.02, high: 0.18 };
const UNCLEAR = { value: 0.1, low: -0.02, high: 0.22 };
const SHORT = { value: 0.1, low: null, high: null };

interface Given {
  difference?: Estimate | null;
  climatology?: Estimate | null;
  certainty?: Estimate | null;
  weekly?: Estimate | null;
  quotesAreOurs?: boolean;
  calls?: ('UP' | 'DOWN')[];
  overHeld?: Estimate | null;
}

function rowsOf({
  difference = null,
  climatology = null,
  certainty = null,
  weekly = null,
  quotesAreOurs = false,
  calls = [],
  overHeld = null,
}: Given) {
  const skillOf = (estimate: Estimate | null) => estimate && { brier: 0.25, ...estimate };
  const scorecard = {
    statistics: {
      calls: { n: calls.length, selection: { overHeld }, alwaysUp: difference && { accuracy: 0.5, difference } },
      probabilities: { n: 70, climatologySkill: skillOf(climatology), alwaysUpSkill: skillOf(certainty) },
    },
    marketSkill: { quotesAreOurs, skill: weekly && { weeks: 9, ...weekly } },
    predictions: calls.map((direction) => ({ direction, outcome: { actualDirection: 'UP' } })),
  };
  const [direction, choice, baseRate, market, certain] = buildSkillRows(scorecard as unknown as Scorecard);
  return { direction, choice, baseRate, market, certain };
}

describe('buildSkillRows', () => {
  it('reports better or worse only when the interval excludes zero', () => {
    expect(rowsOf({ climatology: BETTER }).baseRate).toMatchObject({ remark: 'better: clear of zero', value: 0.1, proves: true });
    expect(rowsOf({ climatology: { value: -0.1, low: -0.18, high: -0.02 } }).baseRate.remark).toBe('worse: clear of zero');
    expect(rowsOf({ climatology: UNCLEAR }).baseRate.remark).toBe('not measurably different from zero');
  });

  it('formats value, interval and count', () => {
    expect(rowsOf({ climatology: UNCLEAR }).baseRate.figures).toBe('+10.0\u00a0% (−2.0\u00a0% to +22.0\u00a0%), 70 outcomes');
  });

  it('draws no estimate without an interval', () => {
    expect(rowsOf({ climatology: SHORT }).baseRate).toMatchObject({
      remark: 'too few days',
      value: null,
      estimate: { value: 0.1 },
    });
    expect(rowsOf({}).baseRate.remark).toBe('base rate not known');
  });

  it('explains a missing comparison of the direction', () => {
    expect(rowsOf({}).direction.remark).toBe('no call resolved yet');
    expect(rowsOf({ calls: ['UP', 'UP'], difference: { value: 0, low: null, high: null } }).direction.remark).toBe(
      'every call was UP: see the choice of days',
    );
    expect(rowsOf({ calls: ['UP', 'DOWN'], difference: SHORT }).direction.remark).toBe('too few DOWN calls');
    expect(rowsOf({ calls: ['UP', 'DOWN'], difference: BETTER }).direction.remark).toBe('better: clear of zero');
  });

  it('compares the days called UP with HOLD days', () => {
    expect(rowsOf({ calls: ['UP'], overHeld: UNCLEAR }).choice).toMatchObject({
      remark: 'not measurably different from zero',
      proves: true,
    });
    expect(rowsOf({ calls: ['UP'], overHeld: SHORT }).choice.remark).toBe('too few days');
    expect(rowsOf({}).choice.remark).toBe('no HOLD or no UP call resolved yet');
  });

  it('counts skill against a market only with foreign quotes', () => {
    expect(rowsOf({ weekly: BETTER }).market).toMatchObject({ remark: 'better: clear of zero', proves: true });
    expect(rowsOf({ weekly: BETTER, quotesAreOurs: true }).market).toMatchObject({
      remark: 'own quotes: no evidence',
      proves: false,
    });
    expect(rowsOf({ quotesAreOurs: true }).market).toMatchObject({ remark: 'no week settled yet', proves: false });
  });

  it('never counts skill against certainty', () => {
    expect(rowsOf({ certainty: BETTER }).certain).toMatchObject({
      proves: false,
      remark: expect.stringContaining('no evidence about direction'),
    });
    expect(rowsOf({}).certain).toMatchObject({ proves: false, remark: 'never wrong so far' });
  });
});
