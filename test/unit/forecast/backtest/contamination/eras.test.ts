import { describe, expect, it } from 'vitest';
import {
  compareEras,
  ETF_START,
  findSuspicions,
  measureDays,
  measureEraDifference,
} from '../../../../../src/forecast/backtest/contamination.ts';
import type { OutOfSampleDay } from '../../../../../src/forecast/backtest/out-of-sample.ts';
import { parseDay } from '../../../../../src/forecast/day.ts';
import { seededRandom } from '../../synthetic-frame.ts';

const FIRST = parseDay('2023-01-01');
const DAYS = 800;

/** Days on which the price rises by chance; `pUpOf` is what was said. */
function daysWith(pUpOf: (day: number, rose: boolean) => number): OutOfSampleDay[] {
  const random = seededRandom(11);
  return Array.from({ length: DAYS }, (_, index) => {
    const rose = random() < 0.53;
    const day = FIRST + index;
    const pUp = pUpOf(day, rose);
    return {
      day,
      row: index,
      fold: 1,
      regime: index % 2 === 0 ? 'CHOP' : 'DEFAULT',
      signal: 'HOLD',
      call: null,
      rose,
      pUp,
      climatology: 0.53,
      realised: rose ? 0.01 : -0.01,
      distribution: { crps: 0.01, pit: 0.5 },
      predictive: { scale: 0.03, shift: 0, residualQuantiles: [] },
      climatologyCrps: 0.0125,
      recentCrps: 0.0105,
    };
  });
}

const erasOf = (days: OutOfSampleDay[]) => compareEras(1, [{ days }]);

describe('era figures', () => {
  const days = daysWith((_, rose) => (rose ? 0.6 : 0.55));
  const eras = erasOf(days);

  it('split at the first ETF trading day and sum to the whole', () => {
    expect(eras.preEtf).toMatchObject({ from: '2023-01-01', to: '2024-01-10', n: 375 });
    expect(eras.postEtf).toMatchObject({ from: '2024-01-11', to: '2025-03-10', n: DAYS - 375 });
    expect(eras.regimes.map(({ regime, n }) => [regime, n]).filter(([, n]) => n !== 0)).toEqual([
      ['CHOP', 400],
      ['DEFAULT', 400],
    ]);
    expect(eras.regimes).toHaveLength(7);
  });

  it('match figures computed by hand', () => {
    const before = days.filter(({ day }) => day < ETF_START);
    const rises = before.filter(({ rose }) => rose).length / before.length;
    // Always UP: right as often as it rose, so that there is no edge.
    expect(eras.preEtf.accuracy).toBeCloseTo(rises, 12);
    expect(eras.preEtf.alwaysUp).toBeCloseTo(rises, 12);
    expect(eras.preEtf.edge).toEqual({ value: 0, low: null, high: null });
    expect(eras.preEtf.downs).toBe(0);
    expect(eras.preEtf.crpsSkill!.value).toBeCloseTo(0.2, 12);
    const brier = rises * 0.4 ** 2 + (1 - rises) * 0.55 ** 2;
    const base = rises * 0.47 ** 2 + (1 - rises) * 0.53 ** 2;
    expect(eras.preEtf.brierSkill!.value).toBeCloseTo(1 - brier / base, 12);
    const { low, high } = eras.preEtf.accuracy95!;
    expect(low).toBeLessThan(rises);
    expect(high).toBeGreaterThan(rises);
  });

  it('have differences of the later minus the earlier era', () => {
    const { difference, postEtf, preEtf } = eras;
    for (const name of ['edge', 'brierSkill', 'crpsSkill'] as const) {
      expect(difference[name]!.value).toBeCloseTo(postEtf[name]!.value - preEtf[name]!.value, 12);
    }
    expect(difference.accuracy!.value).toBeCloseTo(postEtf.accuracy! - preEtf.accuracy!, 12);
    expect(difference.accuracy!.low!).toBeLessThan(difference.accuracy!.value);
    expect(difference.accuracy!.high!).toBeGreaterThan(difference.accuracy!.value);
  });

  it('are null without days, without differences for a single era', () => {
    expect(measureDays([], 'accuracy')).toBeNull();
    const early = days.filter(({ day }) => day < ETF_START);
    expect(measureEraDifference(early, ETF_START, 'brierSkill')).toBeNull();
    expect(erasOf(early).postEtf).toMatchObject({ n: 0, effectiveN: 0, from: null, accuracy: null, accuracy95: null, edge: null });
  });
});

describe('suspicions', () => {
  it('are empty for a constant model', () => {
    expect(findSuspicions([erasOf(daysWith(() => 0.54))])).toEqual([]);
  });

  it('name the era in which a model has lookahead', () => {
    const knowsLater = daysWith((day, rose) => (day >= ETF_START && day % 3 === 0 ? (rose ? 0.7 : 0.3) : 0.54));
    const found = findSuspicions([erasOf(knowsLater)]);
    expect(found.map(({ where, why }) => [where, why.slice(0, 11)])).toContainEqual(['since the ETFs', 'Brier skill']);
    const knowsEarlier = daysWith((day, rose) => (day < ETF_START && day % 3 === 0 ? (rose ? 0.7 : 0.3) : 0.54));
    expect(findSuspicions([erasOf(knowsEarlier)]).map(({ where }) => where)).toContain('before the ETFs');
  });

  it('name an era and a regime in which a model is worse than always-UP', () => {
    const wrongEarly = daysWith((day, rose) => (day < ETF_START && day % 5 === 0 ? (rose ? 0.3 : 0.54) : 0.54));
    const found = findSuspicions([erasOf(wrongEarly)]).filter(({ why }) => why.includes('below always-UP'));
    expect(found.map(({ where }) => where)).toEqual(expect.arrayContaining(['before the ETFs', 'CHOP', 'DEFAULT']));
    expect(found.map(({ where }) => where)).not.toContain('since the ETFs');
  });

  it('name a regime with too high an accuracy', () => {
    const found = findSuspicions([erasOf(daysWith((day, rose) => ((day - FIRST) % 2 === 0 ? (rose ? 0.7 : 0.3) : 0.54)))]);
    expect(found.filter(({ where }) => where === 'CHOP')).toHaveLength(1);
    expect(found.filter(({ where }) => where === 'DEFAULT')).toEqual([]);
  });
});
