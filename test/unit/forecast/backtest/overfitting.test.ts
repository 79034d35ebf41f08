import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../../src/forecast/backtest/out-of-sample.ts';
import {
  buildOverfittingReport,
  computeCscv,
  computeDeflatedSharpe,
  computeExpectedBestSharpe,
  computeFollowedReturns,
  computeReturnMoments,
  formatOverfittingVerdict,
  type ReturnMoments,
  sampleStandardDeviation,
  VARIANTS,
} from '../../../../src/forecast/backtest/overfitting.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { MODEL_SETTINGS } from '../../../../src/forecast/fit.ts';
import { TRIAL_COUNT } from '../../../../src/forecast/model.ts';
import { OVERFITTING } from '../../../../src/record/schemas/self-tests.ts';
import { undocumented } from '../../../support/http/reply-schema.ts';
import { between } from '../../../support/record/arbitraries.ts';
import { describeGolden, readGoldenFrame } from '../golden-frame.ts';
import { seededRandom, syntheticFrame } from '../synthetic-frame.ts';
import { historyOf, LENGTHS_WITHOUT_FOLDS } from './short-histories.ts';

const column = (length: number, lossOf: (day: number) => number) => Float64Array.from({ length }, (_, day) => lossOf(day));

describe('the probability of backtest overfitting', () => {
  it('evaluates every half of the blocks', () => {
    const { splits, blocks, blockDays } = computeCscv({ losses: [column(3420, () => 1), column(3420, () => 2)], blocks: 16 });
    expect({ splits, blocks, blockDays }).toEqual({ splits: 12_870, blocks: 16, blockDays: 213 });
  });

  it('is 0 when one variant is always best', () => {
    const random = seededRandom(1);
    const losses = [0.3, 0.1, 0.3, 0.3].map((level) => column(320, () => level + random() * 0.01));
    expect(computeCscv({ losses, blocks: 16 })).toMatchObject({ probability: 0, chosen: [0, 12_870, 0, 0] });
  });

  it('is 1 when in-sample winners lose out of sample', () => {
    // Each variant is best in two of four blocks and worst in the two others, so that the best of a half is the worst of the rest.
    const losses = [
      [0, 0, 1, 1],
      [1, 1, 0, 0],
    ].map((blocks) => column(8, (day) => blocks[Math.floor(day / 2)]));
    const { probability, splits } = computeCscv({ losses, blocks: 4 });
    expect(splits).toBe(6);
    // Four of the splits mix good and bad blocks: all equal, so that the first is taken and has the middle rank.
    expect(probability).toBe(1);
  });

  it('matches two variants and two blocks by hand', () => {
    const first = Float64Array.of(1, 1, 2, 2);
    // Better in block 0, worse in block 1.
    expect(computeCscv({ losses: [first, Float64Array.of(0, 0, 3, 3)], blocks: 2 })).toMatchObject({ probability: 1, chosen: [1, 1] });
    // Better in both.
    expect(computeCscv({ losses: [first, Float64Array.of(0, 0, 1, 1)], blocks: 2 })).toMatchObject({ probability: 0, chosen: [0, 2] });
  });

  it('ignores leftover days at the start', () => {
    const losses = [Float64Array.of(-100, 1, 2, 1, 2), Float64Array.of(100, 0, 1, 0, 1)];
    expect(computeCscv({ losses, blocks: 2 })).toMatchObject({ blockDays: 2, probability: 0, chosen: [0, 2] });
  });

  it('is about one half for pure noise', () => {
    const runs = Array.from({ length: 30 }, (_, seed) => {
      const random = seededRandom(seed + 1);
      return computeCscv({ losses: Array.from({ length: 12 }, () => column(240, random)), blocks: 8 }).probability;
    });
    const mean = runs.reduce((sum, one) => sum + one, 0) / runs.length;
    expect(mean).toBeGreaterThan(0.4);
    expect(mean).toBeLessThan(0.6);
  });

  it('is a share invariant to order and scale without ties', () => {
    const losses = fc.array(fc.array(between(0, 1), { minLength: 24, maxLength: 24 }), {
      minLength: 2,
      maxLength: 6,
    });
    fc.assert(
      fc.property(losses, (rows) => {
        const columns = rows.map((row, index) =>
          Float64Array.from(row, (loss, day) => Math.round(loss * 1e6) / 64 + (index + 1) * 2 ** -(day % 5)),
        );
        const { probability, chosen, splits } = computeCscv({ losses: columns, blocks: 4 });
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeLessThanOrEqual(1);
        expect(chosen.reduce((sum, count) => sum + count, 0)).toBe(splits);
        // Twice the losses are the same bits apart from the exponent.
        expect(computeCscv({ losses: columns.map((one) => one.map((loss) => 2 * loss)), blocks: 4 }).probability).toBe(probability);
      }),
      { numRuns: 50 },
    );
  });
});
describe('the deflated Sharpe ratio', () => {
  /** The example of the paper: five years of daily returns with an annual ratio of 2.5, trials whose annual ratios have a variance of one half. */
  const example: ReturnMoments = { n: 1250, mean: 0, sharpe: 2.5 / Math.sqrt(250), skewness: -3, kurtosis: 10 };
  const deviation = Math.sqrt(1 / 2 / 250);

  it('matches the example of Bailey and Lopez de Prado (2014)', () => {
    const best = computeExpectedBestSharpe(100, deviation);
    expect(best).toBeCloseTo(0.1132, 4);
    expect(computeDeflatedSharpe(example, best)).toBeCloseTo(0.9004, 4);
    expect(computeDeflatedSharpe(example, computeExpectedBestSharpe(46, deviation))).toBeCloseTo(0.9505, 4);
  });

  it('is .95 for normal returns after 88 trials, as in the paper', () => {
    expect(computeDeflatedSharpe({ ...example, skewness: 0, kurtosis: 3 }, computeExpectedBestSharpe(88, deviation))).toBeCloseTo(
      0.9505,
      3,
    );
  });

  it('is one half at the expected best ratio', () => {
    expect(computeDeflatedSharpe(example, example.sharpe!)).toBeCloseTo(0.5, 7);
  });

  it('decreases with the number and deviation of trials', () => {
    const shares = [2, 10, 147, 1000].map((trials) => computeDeflatedSharpe(example, computeExpectedBestSharpe(trials, deviation))!);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(computeDeflatedSharpe(example, computeExpectedBestSharpe(100, 2 * deviation))).toBeLessThan(0.5);
  });

  it('is null without variance', () => {
    expect(computeDeflatedSharpe(computeReturnMoments([0.1, 0.1]), 0)).toBeNull();
    expect(computeDeflatedSharpe(computeReturnMoments([]), 0)).toBeNull();
  });
});

describe('moments of returns', () => {
  it('match values computed by hand', () => {
    const { n, mean, sharpe, skewness, kurtosis } = computeReturnMoments([0, 0, 0, 4]);
    expect([n, mean]).toEqual([4, 1]);
    // Variance 3, third central moment 6, fourth 21.
    expect(sharpe).toBeCloseTo(1 / Math.sqrt(3), 12);
    expect(skewness).toBeCloseTo(6 / 3 ** 1.5, 12);
    expect(kurtosis).toBeCloseTo(21 / 9, 12);
  });

  it('include the deviation of several ratios', () => {
    expect(sampleStandardDeviation([1, 2, 3, 4])).toBeCloseTo(Math.sqrt(5 / 3), 12);
    expect(sampleStandardDeviation([3])).toBe(0);
  });
});
/** To nine digits, zero without a sign. */
const rounded = (values: Float64Array) => Array.from(values, (value) => Math.round(value * 1e9) / 1e9 + 0);

describe('returns of following calls', () => {
  const closes = Float64Array.of(50, 100, 110, 99, 99, 198);

  it('split the capital over the days of the horizon', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, 1, -1], horizonDays: 2 });
    // Calls of rows 1 and 2 are open on the day after row 2, those of rows 2 and 3 on the day after row 3.
    expect(rounded(held)).toEqual([-0.1, 0]);
    expect(rounded(followed)).toEqual([-0.1, 0]);
  });

  it('are positive for DOWN in a fall and 0 without a call', () => {
    const { followed, held } = computeFollowedReturns({ closes, firstRow: 1, positions: [1, -1, 0, 1], horizonDays: 1 });
    expect(rounded(held)).toEqual([0.1, -0.1, 0, 1]);
    expect(rounded(followed)).toEqual([0.1, 0.1, 0, 1]);
  });

  it('have an excess over holding with equal volatility', () => {
    const always = computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1, 1, 1, 1], horizonDays: 1 });
    expect(rounded(always.excess)).toEqual([0, 0, 0, 0, 0]);
    const never = computeFollowedReturns({ closes, firstRow: 0, positions: [0, 0, 0, 0, 0], horizonDays: 1 });
    expect(rounded(never.excess)).toEqual([0, 0, 0, 0, 0]);
    const short = computeFollowedReturns({ closes, firstRow: 0, positions: [-1, -1, -1, -1, -1], horizonDays: 1 });
    expect(rounded(short.excess)).toEqual([-2, -0.2, 0.2, 0, -2]);
  });

  it('are empty with fewer calls than days of the horizon', () => {
    expect(computeFollowedReturns({ closes, firstRow: 0, positions: [1, 1], horizonDays: 3 }).followed).toHaveLength(0);
  });
});
const history = historyOf(syntheticFrame({ rows: 2100 }));
const report = buildOverfittingReport(history);

describe('the overfitting report', () => {
  it('compares forty distinct variants, the model first', () => {
    expect(VARIANTS).toHaveLength(40);
    expect(new Set(VARIANTS.map(({ id }) => id)).size).toBe(40);
    expect(
      new Set(VARIANTS.map(({ settings }) => JSON.stringify(Object.values(settings).map(String)) + settings.calibration?.calB)).size,
    ).toBe(40);
    expect(VARIANTS[0]).toMatchObject({ id: 'm0-d1', settings: MODEL_SETTINGS });
  });

  it('lists all trials, with figures of recomputable ones only', () => {
    expect(report.trials).toBe(TRIAL_COUNT);
    expect(report.ledger.reduce((sum, { trials }) => sum + trials, 0)).toBe(TRIAL_COUNT);
    for (const { recomputable, figures } of report.ledger) expect(figures).toHaveLength(recomputable ? 3 : 0);
    expect(report.ledger.filter(({ recomputable }) => !recomputable)).toHaveLength(1);
  });

  it("has the model's figures of the walk-forward", () => {
    for (const [index, { horizonDays, days, modelBrier, folds }] of report.horizons.entries()) {
      const own = computeOutOfSampleFolds(history, horizonDays);
      const scored = own.flatMap((fold) => fold.days);
      expect({ folds, days }).toEqual({ folds: own.length, days: scored.length });
      expect(modelBrier).toBeCloseTo(scored.reduce((sum, { pUp, rose }) => sum + (pUp - (rose ? 1 : 0)) ** 2, 0) / days, 12);
      const right = scored.filter(({ pUp, rose }) => pUp >= 0.5 === rose).length;
      expect(report.ledger[0].figures[index].accuracy).toBeCloseTo(right / days, 12);
    }
  });

  it('ranks the model among the variants', () => {
    report.horizons.forEach(({ modelRank, best, modelBrier }, index) => {
      const briers = report.ledger.flatMap(({ id, figures }) => (figures.length === 0 ? [] : [{ id, brier: figures[index].brier! }]));
      const sorted = briers.sort((a, b) => a.brier - b.brier);
      expect(best).toEqual(sorted[0]);
      expect(sorted[modelRank! - 1].brier).toBe(modelBrier);
    });
  });

  it('deflates by all trials', () => {
    for (const { pbo, deflatedSharpe } of report.horizons) {
      expect(pbo).toMatchObject({ splits: 12_870, variants: 40, blocks: 16 });
      expect(deflatedSharpe!.trials).toBe(TRIAL_COUNT);
      // The expected maximum of 147 standard normal numbers.
      const larger = Math.max(deflatedSharpe!.variantDeviation, deflatedSharpe!.independentDeviation);
      expect(deflatedSharpe!.expectedBest / larger).toBeCloseTo(2.6633, 4);
    }
  });

  it('is deterministic and matches its schema', () => {
    expect(OVERFITTING.parse(report)).toEqual(report);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(undocumented(OVERFITTING, report)).toEqual([]);
  });

  it.each(LENGTHS_WITHOUT_FOLDS)('has null figures for %d days', (rows) => {
    const short = buildOverfittingReport(historyOf(syntheticFrame(), rows));
    expect(short).toMatchObject({ folds: 0, verdict: 'Too few out-of-sample days for a result' });
    expect(short.note).toContain('0 of 19 folds');
    for (const { pbo, deflatedSharpe, modelBrier } of short.horizons) expect([pbo, deflatedSharpe, modelBrier]).toEqual([null, null, null]);
    expect(OVERFITTING.parse(JSON.parse(JSON.stringify(short)))).toEqual(short);
  });
});

describe('the overfitting verdict', () => {
  const withFigures = (probability: number, deflated: number) =>
    formatOverfittingVerdict(
      report.horizons.map((one) => ({
        ...one,
        pbo: { ...one.pbo!, probability },
        deflatedSharpe: { ...one.deflatedSharpe!, probability: deflated },
      })),
      report.ledger,
    );

  it('follows from the figures', () => {
    const chance = 'at 2, 3 and 7 days selection by the past does not differ from chance';
    for (const probability of [0.06, 0.35, 0.75]) expect(withFigures(probability, 0.02)).toContain(chance);
    expect(withFigures(0.35, 0.02)).not.toContain('better variants stay better');
    expect(withFigures(0.35, 0.02)).toContain('Noise gives about 50 %, with a standard deviation of about 20 points');
    expect(withFigures(0.75, 0.02)).toContain('does not differ from luck');
    expect(withFigures(0.05, 0.02)).toContain('at 2, 3 and 7 days better variants stay better');
    expect(withFigures(0.1, 0.97)).toContain('which suggests a leak');
  });
});

describe('the verdict on trials', () => {
  const withLow = (low: number) =>
    formatOverfittingVerdict(
      report.horizons,
      report.ledger.map((row) => ({
        ...row,
        figures: row.figures.map((one) => ({ ...one, brierSkill: { value: 0.01, low: row.id === 'ridge-4' ? low : -1, high: 1 } })),
      })),
    );

  it('separates recomputed trials from counted ones', () => {
    expect(withLow(0)).toMatch(
      /^Of the 40 recomputed variants none has a .* by chance about 3 would. The other 107 trials are only counted\./,
    );
    expect(withLow(0.001)).toContain('only ridge-4 at 2 days, ridge-4 at 3 days, ridge-4 at 7 days have');
  });

  it('uses the skill against the base rate known at the time', () => {
    for (const [index, horizonDays] of ([2, 3, 7] as const).entries()) {
      const days = computeOutOfSampleFolds(history, horizonDays).flatMap((fold) => fold.days);
      const mean = (of: (day: (typeof days)[number]) => number) => days.reduce((sum, day) => sum + of(day), 0) / days.length;
      const base = mean(({ climatology, rose }) => (climatology - Number(rose)) ** 2);
      for (const { figures } of report.ledger.slice(0, 40)) {
        const { brier, brierSkill } = figures[index];
        expect(brierSkill!.value).toBeCloseTo(1 - brier! / base, 12);
      }
    }
  });
});

describeGolden('overfitting on real history', () => {
  it('finds selection by chance and a model indistinguishable from luck', () => {
    const frame = readGoldenFrame();
    const { horizons, folds, verdict } = buildOverfittingReport({ closes: frame.close, features: computeFeatures(frame) });
    expect(folds).toBe(19);
    // The forty variants of the reference are not known: .80, .71, .57 of theirs.
    for (const { pbo } of horizons) {
      expect(pbo!.probability).toBeGreaterThan(0.5);
      expect(pbo!.probability).toBeLessThan(0.85);
    }
    [0.02, 0.03, 0].forEach((reference, index) => {
      expect(Math.abs(horizons[index].deflatedSharpe!.probability! - reference)).toBeLessThan(0.02);
    });
    expect(verdict).toContain('does not differ from luck');
    expect(verdict).toContain('Of the 40 recomputed variants none has a Brier skill');
  });
});
