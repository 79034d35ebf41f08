import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../../src/forecast/backtest/out-of-sample.ts';
import {
  buildStabilityReport,
  classifyStability,
  computeAccuracyChange,
  countCallsUnder,
  DECISION_THRESHOLDS,
  findWorstStability,
  scaleThresholds,
  summarizeJointChange,
  THRESHOLD_NAMES,
} from '../../../../src/forecast/backtest/stability.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { STABILITY } from '../../../../src/record/schemas/self-tests.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { between } from '../../../support/record/arbitraries.ts';
import { describeGolden, readGoldenFrame } from '../golden-frame.ts';
import { syntheticFrame } from '../synthetic-frame.ts';
import { historyOf, LENGTHS_WITHOUT_FOLDS } from './short-histories.ts';

/** Changes of which all are the same. */
const constant = (at10: number, at20: number) => [summarizeJointChange(10, [at10, -at10]), summarizeJointChange(20, [at20, -at20])];

describe('stability', () => {
  it.each([
    ['STABLE', 1, 2],
    ['MODERATE', 1.01, 2],
    ['MODERATE', 1, 2.01],
    ['MODERATE', 4.9, 5],
    ['MODERATE', 9, 5],
    ['OVERFIT', 0, 5.01],
  ] as const)('is %s at %d points by 10 %% and %d points by 20 %%', (result, at10, at20) => {
    expect(classifyStability(constant(at10, at20))).toBe(result);
  });

  it('is null without calls', () => {
    expect(classifyStability([summarizeJointChange(10, [null]), summarizeJointChange(20, [1])])).toBeNull();
    expect(summarizeJointChange(20, [null])).toEqual({ levelPct: 20, draws: 0, p50Points: null, p95Points: null, maxPoints: null });
  });

  it('is that of the worst horizon', () => {
    expect(findWorstStability(['STABLE', 'OVERFIT', 'MODERATE'])).toBe('OVERFIT');
    expect(findWorstStability(['STABLE', null])).toBe('STABLE');
    expect(findWorstStability([null])).toBeNull();
  });

  it('uses absolute changes', () => {
    const { p50Points, p95Points, maxPoints, draws } = summarizeJointChange(10, [-4, 3, null, -2, 1, 0]);
    expect({ p50Points, maxPoints, draws }).toEqual({ p50Points: 2, maxPoints: 4, draws: 5 });
    expect(p95Points).toBeCloseTo(3.8, 12);
  });

  it('has quantiles in order', () => {
    fc.assert(
      fc.property(fc.array(between(-100, 100), { minLength: 1 }), (changes) => {
        const { p50Points, p95Points, maxPoints } = summarizeJointChange(20, changes);
        expect(p50Points!).toBeLessThanOrEqual(p95Points!);
        expect(p95Points!).toBeLessThanOrEqual(maxPoints!);
        expect(maxPoints).toBe(Math.max(...changes.map(Math.abs)));
      }),
    );
  });
});
const history = historyOf(syntheticFrame({ rows: 2600, seed: 3 }));
const report = buildStabilityReport(history);

describe('the stability report', () => {
  it('moves thirteen regime limits and seven thetas', () => {
    expect(report.thresholds.map(({ name }) => name)).toEqual(THRESHOLD_NAMES);
    expect(report.thresholds).toHaveLength(20);
    expect(report.thresholds).toContainEqual({ name: 'theta.BULL_TREND', value: 0.03 });
    expect(report.thresholds).toContainEqual({ name: 'crisisRet7', value: -0.2 });
  });

  it('starts from the actual calls', () => {
    for (const { horizonDays, calls, accuracy, folds } of report.horizons) {
      const made = computeOutOfSampleFolds(history, horizonDays).flatMap(({ days }) => days.filter(({ call }) => call !== null));
      expect(calls).toBe(made.length);
      expect(accuracy).toBeCloseTo(made.filter(({ call, rose }) => (call === 'UP') === rose).length / made.length, 12);
      expect(folds).toBe(report.folds);
    }
  });

  it('lists single effects, largest first', () => {
    expect(report.single).toHaveLength(80);
    expect(new Set(report.single.map(({ threshold, changePct }) => `${threshold} ${changePct}`)).size).toBe(80);
    const sizes = report.single.map(({ largestPoints }) => largestPoints);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(sizes[0]).toBeGreaterThan(0);
    const days = computeOutOfSampleFolds(history, 7).flatMap((fold) => fold.days);
    const effect = report.single.find(({ threshold, changePct }) => threshold === 'theta.CHOP' && changePct === 20)!;
    const moved = { ...DECISION_THRESHOLDS, thetas: { ...DECISION_THRESHOLDS.thetas, CHOP: 0.06 * 1.2 } };
    const [base, after] = [DECISION_THRESHOLDS, moved].map((thresholds) => countCallsUnder(thresholds, history.features, [days])[0]);
    expect(effect.horizons.find(({ horizonDays }) => horizonDays === 7)).toEqual({
      horizonDays: 7,
      accuracyChangePoints: computeAccuracyChange(base, after),
      callsChange: after.calls - base.calls,
    });
  });

  it('is deterministic and matches its schema', () => {
    expect(buildStabilityReport(history)).toEqual(report);
    expect(STABILITY.parse(report)).toEqual(report);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(undocumented(STABILITY, report)).toEqual([]);
  });

  it.each(LENGTHS_WITHOUT_FOLDS)('has no result for %d days', (rows) => {
    const short = buildStabilityReport(historyOf(syntheticFrame(), rows));
    expect(short).toMatchObject({ folds: 0, result: null, verdict: 'Too few out-of-sample calls for a result' });
    expect(short.note).toContain('0 of 19 folds');
    expect(STABILITY.parse(JSON.parse(JSON.stringify(short)))).toEqual(short);
  });
});

describe('calls under other thresholds', () => {
  it('decrease with theta, to none for an unreachable one', () => {
    const days = computeOutOfSampleFolds(history, 2).flatMap((fold) => fold.days);
    const countAt = (factor: number) =>
      countCallsUnder(
        scaleThresholds((name) => (name.startsWith('theta.') ? factor : 1)),
        history.features,
        [days],
      )[0];
    const counts = [0, 0.5, 1, 2, 20].map((factor) => countAt(factor).calls);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(counts[0]).toBe(days.length);
    expect(counts.at(-1)).toBe(0);
    expect(computeAccuracyChange(countAt(1), countAt(20))).toBeNull();
  });
});

describeGolden('the stability of the model on real history', () => {
  it('is MODERATE with the reference percentiles', () => {
    const frame = readGoldenFrame();
    const found = buildStabilityReport({ closes: frame.close, features: computeFeatures(frame) });
    expect(found).toMatchObject({ folds: 19, note: null, result: 'MODERATE' });
    const expected = [
      [0.9, 1.1, 1.4],
      [2.1, 1.5, 2.4],
    ];
    expected.forEach((points, level) => {
      points.forEach((point, index) => {
        expect(Math.abs(found.horizons[index].joint[level].p95Points! - point)).toBeLessThan(0.2);
      });
    });
  });
});
