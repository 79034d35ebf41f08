import { describe, expect, it } from 'vitest';
import {
  type Canary,
  type CanaryName,
  type CanaryRun,
  runAccuracyLimitCanary,
  runPointInTimeCanary,
  runTrainingCutCanary,
} from '../../../../src/forecast/backtest/canaries.ts';
import { walkMoves } from '../../../../src/forecast/backtest/move-walk.ts';
import {
  buildFolds,
  fitBlocks,
  type HistoryDay,
  type OutOfSampleDay,
  PIPELINE,
  type Pipeline,
} from '../../../../src/forecast/backtest/out-of-sample.ts';
import { runCanaries, VERSION_MUTANTS, walkVersions } from '../../../../src/forecast/backtest/versions.ts';
import {
  areCanariesHealthy,
  buildWalkForwardReport,
  formatCanaryName,
  formatLeakVerdict,
} from '../../../../src/forecast/backtest/walk-forward.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import {
  type BlockFit,
  computeCalibratedLogit,
  computeDeviation,
  fitCalibration,
  logit,
  sigmoid,
  walkForward,
} from '../../../../src/forecast/fit.ts';
import { BUSINESS_DAY_COLUMNS, type FeatureName, type FeatureTable, type InputFrame } from '../../../../src/forecast/inputs.ts';
import { HORIZONS, LEARNING_RULES, type LearningRules, MODEL_INPUTS, MODEL_NAME } from '../../../../src/forecast/model.ts';
import { type ModelVersion, m0d1, m1 } from '../../../../src/forecast/models.ts';
import { syntheticFrame } from '../synthetic-frame.ts';

const frame = syntheticFrame({ rows: 2900 });

/** What a pipeline that is the service's but for `broken` makes of the history. */
function walked(broken: Partial<Pipeline>) {
  const pipeline = { ...PIPELINE, ...broken };
  const features = pipeline.features(frame);
  const history = { closes: frame.close, features };
  const walks = HORIZONS.map((horizonDays) => {
    const blocks = fitBlocks({ ...history, horizon: horizonDays, rules: pipeline.rules }, pipeline.walk);
    return { horizonDays, blocks };
  });
  return { pipeline, history, walks };
}

/** All canaries of such a pipeline. */
function allCanariesOf(broken: Partial<Pipeline>): Canary[] {
  const { pipeline, history, walks } = walked(broken);
  const folded = walks.map((walk) => ({ ...walk, folds: buildFolds(history, walk.blocks, pipeline) }));
  const versions = walkVersions(pipeline, folded, history);
  const moves = walkMoves(versions, { frame, features: history.features });
  return runCanaries({ ...history, frame }, { walks: folded, versions, moves }, pipeline);
}

/** Those of all versions and of the first one. */
function canariesOf(broken: Partial<Pipeline>): Record<CanaryName, Canary> {
  const canaries = allCanariesOf(broken).filter(({ versions }) => versions.includes(MODEL_NAME));
  return Object.fromEntries(canaries.map((canary) => [canary.name, canary])) as Record<CanaryName, Canary>;
}

function trainingCutOf(broken: Partial<Pipeline>): CanaryRun {
  const { pipeline, history, walks } = walked(broken);
  return runTrainingCutCanary(walks, history, pipeline);
}

function failed(canaries: Record<CanaryName, Canary>): string[] {
  return Object.values(canaries).flatMap(({ name, passed }) => (passed ? [] : [name]));
}

const withRules = (rules: Partial<LearningRules>) => ({ rules: { ...LEARNING_RULES, ...rules } });

describe('leak canaries', () => {
  const healthy = canariesOf({});

  it('pass without a leak and catch every mutant', () => {
    expect(failed(healthy)).toEqual([]);
    for (const { name, figure, limit, mutants } of Object.values(healthy)) {
      expect(figure, name).toBeLessThanOrEqual(limit!);
      expect(mutants.length, name).toBeGreaterThan(0);
      for (const mutant of mutants) expect(mutant.caught && mutant.figure > limit!, `${name}: ${mutant.what}`).toBe(true);
    }
  });

  it('separate leaked labels from purged ones by a wide margin', () => {
    expect(healthy['repeated-label'].figure).toBeLessThan(0.55);
    expect(healthy['repeated-label'].mutants[0].figure).toBeGreaterThan(0.78);
    expect(healthy['label-average'].figure).toBeLessThan(0.55);
    expect(healthy['label-average'].mutants[0].figure).toBeGreaterThan(0.68);
  });
});

describe('leak canaries of each version', () => {
  const canariesBy = (version: ModelVersion) => allCanariesOf({ versions: [m0d1, version] });
  const failedOf = (canaries: readonly Canary[]) => canaries.filter(({ passed }) => !passed).map(formatCanaryName);

  it('name the versions that they ran for, and pass for the versions of the service', () => {
    const canaries = canariesBy(m1);
    expect(canaries.map(formatCanaryName)).toEqual([
      'repeated-label',
      'label-average',
      'training-cut of m0-d1',
      'training-cut of m1',
      'calibration',
      'point-in-time',
      'forecast-cut of m0-d1',
      'forecast-cut of m1',
      'move-cut of m1',
      'accuracy-limit',
    ]);
    expect(canaries[0].versions).toEqual(['m0-d1', 'm1']);
    expect(failedOf(canaries)).toEqual([]);
    for (const { mutants, name } of canaries) expect(mutants.length > 0 && mutants.every(({ caught }) => caught), name).toBe(true);
  });

  it.each(VERSION_MUTANTS.m1.fits)('catch an m1 whose $what', ({ version }) => {
    expect(failedOf(canariesBy(version))).toEqual(['training-cut of m1']);
  });

  it.each(VERSION_MUTANTS.m1.forecasts)('catch an m1 where $what', ({ version }) => {
    expect(failedOf(canariesBy(version))).toEqual(['forecast-cut of m1']);
  });

  it('catch a missing purge in the fits of both versions', () => {
    const canaries = allCanariesOf(withRules({ lastKnownDay: (day) => day - 1 }));
    expect(failedOf(canaries)).toEqual(['repeated-label', 'label-average', 'training-cut of m0-d1', 'training-cut of m1', 'calibration']);
    expect(formatLeakVerdict(canaries)).toContain('; training-cut of m1 (');
  });

  it('catch features that read the high and low of the next day', () => {
    const features: Pipeline['features'] = (given) => {
      const ahead = (column: Float64Array) => column.map((value, row) => column[row + 1] ?? value);
      return computeFeatures({ ...given, high: ahead(given.high), low: ahead(given.low) });
    };
    expect(failedOf(allCanariesOf({ features }))).toEqual(['point-in-time', 'forecast-cut of m1', 'move-cut of m1']);
  });
});

describe('a missing purge', () => {
  it('is caught by the label and training canaries', () => {
    const canaries = canariesOf(withRules({ lastKnownDay: (day) => day - 1 }));
    expect(failed(canaries)).toEqual(['repeated-label', 'label-average', 'training-cut', 'calibration']);
    expect(canaries['repeated-label'].figure).toBe(canaries['repeated-label'].mutants[0].figure);
    expect(areCanariesHealthy(Object.values(canaries))).toBe(false);
    expect(formatLeakVerdict(Object.values(canaries))).toMatch(
      /^LEAK SUSPECTED: repeated-label \(0\.\d{3}, at most 0\.6\d*\); label-average .*; training-cut of m0-d1 /,
    );
  });

  it('is caught at a single horizon and at one day short', () => {
    const atThree = withRules({ lastKnownDay: (day, horizonDays) => (horizonDays === 3 ? day - 1 : day - horizonDays) });
    expect(trainingCutOf(atThree).passed).toBe(false);
    expect(trainingCutOf(withRules({ lastKnownDay: (day, horizonDays) => day - horizonDays + 1 })).passed).toBe(false);
  });
});

describe('a missing embargo', () => {
  it.each([0, 6])('is caught at %d days', (embargoDays) => {
    expect(trainingCutOf(withRules({ embargoDays })).passed).toBe(false);
  });
});

describe('a fit with lookahead', () => {
  it('is caught when scores are centred on their full-history mean', () => {
    const walk: Pipeline['walk'] = (source) =>
      walkForward(source).map((fit) => {
        const { trend } = source.features;
        const meanX = [trend.reduce((sum, value) => sum + value, 0) / trend.length, ...fit.model.meanX.slice(1)];
        return { ...fit, model: { ...fit.model, meanX } };
      });
    expect(trainingCutOf({ walk }).passed).toBe(false);
  });

  it('is caught when calibrated in sample', () => {
    const walk: Pipeline['walk'] = (source) => walkForward(source).map((fit) => calibratedInSample(fit, source));
    expect(failed(canariesOf({ walk }))).toEqual(['calibration']);
  });

  it('is caught when its accuracy exceeds the limit', () => {
    const forecast: Pipeline['forecast'] = (day) => {
      const { row, model } = day;
      return { ...PIPELINE.forecast(day), pUp: frame.close[row + model.horizonDays] > frame.close[row] ? 0.6 : 0.4 };
    };
    const canaries = canariesOf({ forecast });
    // What the fit itself says is another thing.
    expect(failed(canaries)).toEqual(['forecast-cut', 'accuracy-limit']);
    expect(canaries['accuracy-limit'].figure).toBe(1);
  });

  it('is caught when its output differs from its model', () => {
    const walk: Pipeline['walk'] = (source) => walkForward(source).map((fit) => ({ ...fit, pUp: fit.pUp.map((p) => p + 1e-15) }));
    expect(failed(canariesOf({ walk }))).toEqual(['forecast-cut']);
  });
});

describe('a forecast with lookahead', () => {
  const leaking = (leak: (day: HistoryDay) => HistoryDay) => canariesOf({ forecast: (day) => PIPELINE.forecast(leak(day)) });

  it.each([
    ['the scale', ({ features, row }: HistoryDay, ahead: number) => ({ features: moved(features, ['v94', 'v99'], row, ahead) })],
    ['the scores', ({ features, row }: HistoryDay, ahead: number) => ({ features: moved(features, MODEL_INPUTS, row, ahead) })],
    ['the regime', ({ regimes, row }: HistoryDay, ahead: number) => ({ regimes: regimes.with(row, regimes[row + ahead]) })],
  ] as const)("is noticed where %s of the window's end are read", (_, changed) => {
    const canaries = leaking((day) => ({ ...day, ...changed(day, day.model.horizonDays) }));
    expect(canaries['forecast-cut'].passed).toBe(false);
    expect(canaries['forecast-cut'].mutants.every(({ caught }) => caught)).toBe(true);
    expect(formatLeakVerdict(Object.values(canaries))).toContain('LEAK SUSPECTED: forecast-cut of m0-d1');
  });

  it('is caught when it reads one day ahead', () => {
    const canaries = leaking((day) => ({ ...day, regimes: day.regimes.with(day.row, day.regimes[day.row + 1] ?? day.regimes[day.row]) }));
    expect(failed(canaries)).toEqual(['forecast-cut']);
  });
});

/** A table whose row has what stands in a later one; nothing where that is not there. */
function moved(features: FeatureTable, names: readonly FeatureName[], row: number, ahead: number): FeatureTable {
  const changed = { ...features };
  for (const name of names) changed[name] = features[name].with(row, features[name][row + ahead]);
  return changed;
}

describe('the accuracy limit', () => {
  const days = (share: number, ups: number): OutOfSampleDay[] =>
    Array.from({ length: 2_000 }, (_, day) => {
      const rose = day % 100 < 100 * ups;
      return { day, rose, row: day, pUp: day % 100 < 100 * share === rose ? 0.6 : 0.4 } as OutOfSampleDay;
    });

  it('uses the horizon beyond its own limit, not the most accurate one', () => {
    const healthy = walked({});
    const horizons = [
      { horizonDays: 1, days: days(0.66, 0.7) },
      { horizonDays: 2, days: days(0.63, 0.5) },
    ] as const;
    const { figure, limit, passed, note } = runAccuracyLimitCanary(horizons, healthy.history, PIPELINE);
    expect([figure, limit, passed, note]).toEqual([0.63, 0.6, false, 'at 2 days']);
  });
});

function calibratedInSample(fit: BlockFit, { closes, features, horizon }: Parameters<Pipeline['walk']>[0]): BlockFit {
  const { model } = fit;
  const from = model.trainFrom - features.firstDay;
  const rows = Array.from({ length: model.nTrain }, (_, index) => from + index);
  const calibration = fitCalibration({
    deviations: Float64Array.from(rows, (row) => computeDeviation(model, features, row)),
    offset: new Float64Array(rows.length).fill(logit(model.baseRate)),
    labels: Float64Array.from(rows, (row) => (closes[row + horizon] > closes[row] ? 1 : 0)),
    weights: new Float64Array(rows.length).fill(1 / horizon),
    from: 0,
    to: rows.length,
  });
  const calibrated = { ...model, ...calibration };
  const pUp = fit.pUp.map((_, index) =>
    sigmoid(computeCalibratedLogit(calibrated, computeDeviation(calibrated, features, fit.from + index))),
  );
  return { ...fit, model: calibrated, pUp };
}

describe('features with lookahead', () => {
  const unlagged = (name: (typeof BUSINESS_DAY_COLUMNS)[number]) => (given: InputFrame) =>
    computeFeatures({ ...given, [name]: { ...given[name], days: given[name].days.map((day) => day - 1) } });

  const pointInTimeOf = (features: Pipeline['features']) =>
    runPointInTimeCanary({ frame, features: features(frame) }, { ...PIPELINE, features });

  it.each(BUSINESS_DAY_COLUMNS)('are caught when %s is read on its own date', (name) => {
    const { figure, passed } = pointInTimeOf(unlagged(name));
    expect(passed).toBe(false);
    expect(figure).toBeGreaterThan(0);
  });

  it('are caught for centred averages and full-history scaling', () => {
    const centred = (given: InputFrame) => {
      const table = computeFeatures(given);
      return { ...table, flow: table.flow.map((_, row) => (table.flow[Math.max(0, row - 1)] + (table.flow[row + 1] ?? 0)) / 2) };
    };
    const scaled = (given: InputFrame) => {
      const table = computeFeatures(given);
      const most = table.momentum.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
      const sum = table.momentum.reduce((total, value) => total + value, 0);
      return { ...table, momentum: table.momentum.map((value) => (value - sum / table.length) / most) };
    };
    for (const features of [centred, scaled]) expect(pointInTimeOf(features).passed).toBe(false);
  });
});

describe('the verdict', () => {
  it('leads with mutants that a canary missed', () => {
    const short = syntheticFrame({ rows: 1700 });
    const blind: Pipeline['walk'] = ({ rules: _, ...source }) => walkForward(source);
    const report = buildWalkForwardReport(
      { closes: short.close, features: computeFeatures(short), frame: short },
      { ...PIPELINE, walk: blind },
    );
    expect(report.healthy).toBe(false);
    expect(report.canaries.every(({ passed }) => passed !== false)).toBe(true);
    expect(report.verdict).toMatch(/^UNRELIABLE: mutants not caught by training-cut of m0-d1 \(labels count as known/);
  });
});
