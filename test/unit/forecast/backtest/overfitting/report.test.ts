import { describe, expect, it } from 'vitest';
import { computeOutOfSampleFolds } from '../../../../../src/forecast/backtest/out-of-sample.ts';
import { buildOverfittingReport, formatOverfittingVerdict, VARIANTS } from '../../../../../src/forecast/backtest/overfitting.ts';
import { computeFeatures } from '../../../../../src/forecast/features.ts';
import { MODEL_SETTINGS } from '../../../../../src/forecast/fit.ts';
import { TRIAL_COUNT } from '../../../../../src/forecast/model.ts';
import { OVERFITTING } from '../../../../../src/record/schemas/self-tests.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { describeGolden, readGoldenFrame } from '../../golden-frame.ts';
import { syntheticFrame } from '../../synthetic-frame.ts';
import { historyOf, LENGTHS_WITHOUT_FOLDS } from '../short-histories.ts';

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
