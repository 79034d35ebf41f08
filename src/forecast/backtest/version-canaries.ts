import { cdf, crps } from '../distribution.ts';
import type { FeatureName, FeatureTable, InputFrame } from '../inputs.ts';
import { sum } from '../math.ts';
import { BLOCK_DAYS, EMBARGO_DAYS, fitWeekdayFactors, getBlockStart, type HorizonModel, LEARNING_RULES, type M1Fit } from '../model.ts';
import { fitM1, type ModelRows, type ModelVersion, m1 } from '../models.ts';
import {
  type Canary,
  type CanaryDescription,
  type CanaryRun,
  completedCanary,
  countDifferences,
  cutForecastDays,
  type ForecastCuts,
  type HorizonBlocks,
  type KnownHistory,
  maskFuture,
  maxAbsoluteDifference,
  NO_FOLD,
  pickFirstMiddleLast,
  runAccuracyLimitCanary,
  runCalibrationCanary,
  runForecastCutCanary,
  runLabelCanaries,
  runPointInTimeCanary,
  runTrainingCutCanary,
  skippedCanary,
} from './canaries.ts';
import type { BacktestHistory, Fold, Pipeline } from './out-of-sample.ts';
import type { WalkedVersion } from './versions.ts';

/**
 * Runs all leak canaries: of labels, features and direction for all versions at once, of fits and distributions for each. Walks are given
 * from the shortest horizon to the longest.
 */
export function runCanaries(
  source: BacktestHistory & { frame: InputFrame },
  { walks, versions }: { walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[]; versions: readonly WalkedVersion[] },
  pipeline: Pipeline,
): Canary[] {
  const horizons = walks.map(({ horizonDays, folds }) => ({ horizonDays, days: folds.flatMap(({ days }) => days) }));
  // Windows overlap most at the longest horizon.
  const longest = horizons[horizons.length - 1];
  const [reference, ...others] = versions;
  const [cuts, blockCuts] = [cutForecastDays(walks, source, pipeline), cutBlocks(walks, source, pipeline)];
  const forAll = (run: CanaryRun): Canary => ({ ...run, versions: versions.map(({ version }) => version.name) });
  const forOne = ({ version }: WalkedVersion, run: CanaryRun): Canary => ({ ...run, versions: [version.name] });
  return [
    ...runLabelCanaries({ ...source, ...longest }, pipeline.rules).map(forAll),
    forOne(reference, runTrainingCutCanary(walks, source, pipeline)),
    ...others.map((one) => forOne(one, runVersionTrainingCutCanary(one.version, blockCuts))),
    forAll(runCalibrationCanary(walks, source)),
    forAll(runPointInTimeCanary(source, pipeline)),
    forOne(reference, runForecastCutCanary(cuts, pipeline)),
    ...others.map((one) => forOne(one, runVersionForecastCutCanary(one, cuts))),
    forAll(runAccuracyLimitCanary(horizons, source, pipeline)),
  ];
}

const TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, recomputes features, and forecasts with the version's model of the fold: CRPS and PIT of the distribution must be bit-identical to the fold",
  unit: 'values that differ',
};

/** Checks on a few days of each fold that a version's distributions read nothing later than the day. */
function runVersionForecastCutCanary({ version, walks }: WalkedVersion, { sample, rows, cuts, whole }: ForecastCuts): CanaryRun {
  if (sample.length === 0) return skippedCanary(TEXT, NO_FOLD);
  const folds = new Map(walks.flatMap((walk) => walk.folds.map((one) => [one.fold, one] as const)));
  const days = sample.map(({ fold, day }) => ({ ...folds.get(fold)!, day, index: day.row - fold.days[0].row }));
  const score = (by: ModelVersion, { features }: KnownHistory, { model, day }: (typeof days)[number]) => {
    const distribution = by.buildDistribution(model, { features, row: day.row, pUp: day.pUp });
    return [crps(distribution, day.realised), cdf(distribution, day.realised)];
  };
  const { forecasts = [] } = VERSION_MUTANTS[version.name] ?? {};
  return completedCanary(TEXT, {
    limit: 0,
    figure: sum(
      days.map((one) => countDifferences([one.crps[one.index], one.pit[one.index]], score(version, cuts.get(one.day.row)!, one))),
    ),
    note: `${sample.length} forecasts of ${rows.length} days`,
    mutants: forecasts.map(({ what, version: broken }) => ({
      what,
      figure: sum(days.map((one) => countDifferences(score(broken, whole, one), score(broken, cuts.get(one.day.row)!, one)))),
    })),
  });
}

/** `m1` broken on purpose: fits that read hidden outcomes, and distributions that read later days. */
const M1_MUTANTS: VersionMutants = {
  fits: [
    {
      what: 'weekday factors are fitted on the test block too',
      version: withFit((fit, { closes, features }, { block, trainFrom }) => {
        const to = Math.min(getBlockStart(block) + BLOCK_DAYS - features.firstDay, features.length);
        return { ...fit, weekdayFactors: fitWeekdayFactors(closes, features, trainFrom + 1 - features.firstDay, to) };
      }),
    },
    {
      what: 'residual quantiles have labels that count as known before their windows are over',
      version: withFit((fit, rows, { block }) => {
        const leaking = { ...rows, rules: { ...LEARNING_RULES, lastKnownDay: (day: number) => day - 1 } };
        const { returnQuantiles, rangeQuantiles } = fitM1(leaking, block, fit.horizonDays);
        return { ...fit, returnQuantiles, rangeQuantiles };
      }),
    },
    {
      what: 'training continues until the block, without embargo',
      version: withFit((fit, rows, { block }) => fitM1({ ...rows, rules: { ...LEARNING_RULES, embargoDays: 0 } }, block, fit.horizonDays)),
    },
  ],
  forecasts: [
    { what: "the range variance has the next day's high and low", version: withFeatures(['rangeVariance'], () => 1) },
    { what: 'the variance from returns is that at the end of the window', version: withFeatures(['v94', 'v99'], (days) => days) },
  ],
};

function withFit(leak: (fit: M1Fit, rows: ModelRows, model: HorizonModel) => M1Fit): typeof m1 {
  return {
    ...m1,
    fit(direction, rows) {
      const model = m1.fit(direction, rows);
      const { weekdayWidths } = model;
      return weekdayWidths === undefined ? model : { ...model, weekdayWidths: leak(weekdayWidths, rows, model) };
    },
  };
}

/** Reads columns some days later, as far as the history reaches. */
function withFeatures(names: readonly FeatureName[], aheadOf: (horizonDays: number) => number): typeof m1 {
  return {
    ...m1,
    buildDistribution(model, { features, row, pUp }) {
      const later = Math.min(row + aheadOf(model.horizonDays), features.length - 1);
      const early: FeatureTable = { ...features };
      for (const name of names) early[name] = features[name].with(row, features[name][later]);
      return m1.buildDistribution(model, { features: early, row, pUp });
    },
  };
}

/** Versions of the model that are broken on purpose. */
type VersionMutants = Record<'fits' | 'forecasts', readonly { what: string; version: ModelVersion }[]>;

/** By the name of a version that adds to the first one. */
export const VERSION_MUTANTS: Readonly<Record<string, VersionMutants>> = { m1: M1_MUTANTS };

const TRAINING_CUT_TEXT: CanaryDescription = {
  name: 'training-cut',
  what: `Replaces every close and variance hidden from a block's model, from ${EMBARGO_DAYS} days before the block on, and fits what the version adds to the direction again: every number must be bit-identical`,
  unit: 'largest change of any fitted number',
};

type BlockCut = ReturnType<typeof cutBlocks>[number];

/** Checks on a few blocks of each horizon that a version's own fit reads nothing after its training period. */
function runVersionTrainingCutCanary(version: ModelVersion, cuts: readonly BlockCut[]): CanaryRun {
  if (cuts.length === 0) return skippedCanary(TRAINING_CUT_TEXT, 'the history is too short for any block');
  const { fits = [] } = VERSION_MUTANTS[version.name] ?? {};
  const firstBlocks = cuts.filter(({ direction }, index) => direction.horizonDays !== cuts[index - 1]?.direction.horizonDays);
  const changeOf = (broken: ModelVersion, of: readonly BlockCut[]) => {
    const fitOn = (direction: HorizonModel, rows: ModelRows) => listNumbers(broken.fit(direction, rows));
    return Math.max(...of.map(({ direction, known, masked }) => maxAbsoluteDifference(fitOn(direction, known), fitOn(direction, masked))));
  };
  return completedCanary(TRAINING_CUT_TEXT, {
    limit: 0,
    figure: changeOf(version, cuts),
    note: `${cuts.length} fits`,
    mutants: fits.map(({ what, version: broken }) => ({ what, figure: changeOf(broken, firstBlocks) })),
  });
}

/** The blocks that every version is examined on: the data of their fits, and the same with all that is hidden from the fit replaced. */
function cutBlocks(walks: readonly HorizonBlocks[], history: BacktestHistory, { rules }: Pick<Pipeline, 'rules'>) {
  const known = { ...history, rules };
  return walks.flatMap(({ horizonDays: horizon, blocks }) =>
    pickFirstMiddleLast(blocks).map(({ model }) => ({
      direction: model,
      known,
      masked: { ...maskFuture({ ...history, horizon }, model.block), rules },
    })),
  );
}

/** All numbers of a fit, so that those of a new version are among them. */
function listNumbers(part: unknown): number[] {
  if (typeof part === 'number') return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(listNumbers) : [];
}
