import { bootstrapEstimate, type IntervalEstimate, SHARE_RANGE } from '../bootstrap.ts';
import { cdf, crps } from '../distribution.ts';
import type { FeatureName, FeatureTable, InputFrame } from '../inputs.ts';
import { mean, sum } from '../math.ts';
import {
  BLOCK_DAYS,
  EMBARGO_DAYS,
  fitWeekdayFactors,
  formatHorizonName,
  getBlockStart,
  type HorizonDays,
  type HorizonModel,
  LEARNING_RULES,
  type M1Fit,
} from '../model.ts';
import { fitM1, fitModelVersion, type ModelRows, type ModelVersion, m1 } from '../models.ts';
import { MOVE_MODEL } from '../move-forecaster.ts';
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
import { type MoveWalk, runMoveCutCanary } from './move-walk.ts';
import { type BacktestHistory, computeReferenceSkill, type Fold, LAST_LOOK_FOLDS, type Pipeline } from './out-of-sample.ts';

/** Central ranges whose coverage is reported. */
export const COVERED_SHARES = [0.5, 0.8, 0.9] as const;

export type VersionHorizonReport = ReturnType<typeof buildHorizonReport>;

/** One version of the model with the P(up) of all versions. */
export type VersionReport = ReturnType<typeof buildVersionReports>[number];

interface WalkedVersion {
  version: ModelVersion;
  walks: { horizonDays: HorizonDays; folds: VersionFold[] }[];
}

/** Fits and scores of every version on folds whose direction is fitted: versions differ in the distribution alone. */
export function walkVersions(
  { versions, rules }: Pick<Pipeline, 'versions' | 'rules'>,
  walks: readonly { horizonDays: HorizonDays; folds: readonly Fold[] }[],
  history: BacktestHistory,
): WalkedVersion[] {
  return versions.map((version) => ({
    version,
    walks: walks.map(({ horizonDays, folds }) => ({
      horizonDays,
      folds: folds.map((fold) => scoreFold(version, fold, { ...history, rules })),
    })),
  }));
}

/** Every version against the first, on the same days. */
export function buildVersionReports(versions: readonly WalkedVersion[]) {
  return versions.map(({ version: { name, title, distributionTrials }, walks }, index) => {
    const reference = index === 0 ? null : versions[0].walks;
    const horizons = walks.map((walk, at) => buildHorizonReport(walk, reference?.[at].folds ?? null));
    return { name, title, distributionTrials, horizons };
  });
}

/** A fold of a version, and of the version it is compared with. */
interface ComparedFold {
  ours: VersionFold;
  theirs: VersionFold | null;
}

function buildHorizonReport({ horizonDays, folds }: WalkedVersion['walks'][number], reference: readonly VersionFold[] | null) {
  const compared = folds.map((ours, index) => ({ ours, theirs: reference?.[index] ?? null }));
  const foldReports = compared.map(buildFoldReport);
  const lastLook = compared.filter(({ ours: { fold } }) => fold.fold >= LAST_LOOK_FOLDS.from && fold.fold <= LAST_LOOK_FOLDS.to);
  return {
    horizonDays,
    horizon: formatHorizonName(horizonDays),
    folds: foldReports,
    /** Folds with a gain above 0. */
    foldsBetter: reference === null ? null : foldReports.filter(({ gain }) => gain! > 0).length,
    /** Null without a complete fold. */
    pooled: folds.length === 0 ? null : { ...poolFolds(compared), coverage: estimateCoverages(folds) },
    /** The same of `LAST_LOOK_FOLDS`; null until all of them are complete. */
    lastLook: lastLook.length === LAST_LOOK_FOLDS.to - LAST_LOOK_FOLDS.from + 1 ? poolFolds(lastLook) : null,
  };
}

function poolFolds(compared: readonly ComparedFold[]) {
  const crps = Float64Array.from(compared.flatMap(({ ours }) => [...ours.crps]));
  return { n: crps.length, crps: mean(crps), gain: estimateGain(compared) };
}

function estimateGain(compared: readonly ComparedFold[]): IntervalEstimate | null {
  const days = compared.flatMap(({ ours, theirs }) =>
    theirs === null ? [] : ours.fold.days.map(({ day }, index) => ({ day, ours: ours.crps[index], theirs: theirs.crps[index] })),
  );
  if (days.length === 0) return null;
  const { value, low, high } = computeReferenceSkill(days)!;
  return { value, low, high };
}

/** CRPS in log-return units, lower is better. A gain is 1 - CRPS / CRPS of the first version, null of that itself. Shares 0 to 1. */
function buildFoldReport({ ours: { fold, crps, pit }, theirs }: ComparedFold) {
  const [coverage50, coverage80, coverage90] = COVERED_SHARES.map((nominal) => mean(toCovered(pit, nominal)));
  const gain = theirs === null ? null : 1 - mean(crps) / mean(theirs.crps);
  return { fold: fold.fold, crps: mean(crps), gain, coverage50, coverage80, coverage90 };
}

/** 1 where the central range of probability `nominal` holds the outcome, else 0. */
function toCovered(pit: Float64Array, nominal: number): Float64Array {
  return pit.map((probability) => (Math.abs(probability - 0.5) <= nominal / 2 ? 1 : 0));
}

function estimateCoverages(folds: readonly VersionFold[]) {
  const pit = Float64Array.from(folds.flatMap((fold) => [...fold.pit]));
  const informative = new Uint8Array(pit.length).fill(1);
  const statistic = ([held]: Float64Array) => held / pit.length;
  return COVERED_SHARES.map((nominal) => {
    const covered = toCovered(pit, nominal);
    return { nominal, ...bootstrapEstimate(mean(covered), { columns: [covered], informative, statistic, range: SHARE_RANGE }) };
  });
}

type VersionFold = ReturnType<typeof scoreFold>;

/**
 * One version's scores of the days of a fold, in their order: CRPS in log-return units, lower is better, and the probability of at most the
 * realised return. The fold's P(up) is that of the version.
 */
function scoreFold(version: ModelVersion, fold: Fold, history: ModelRows) {
  const { model: direction, days } = fold;
  const model = fitModelVersion(version, direction, history);
  const scores = { crps: new Float64Array(days.length), pit: new Float64Array(days.length) };
  for (let index = 0; index < days.length; index++) {
    const { row, pUp, realised } = days[index];
    const distribution = version.buildDistribution(model, { features: history.features, row, pUp });
    scores.crps[index] = crps(distribution, realised);
    scores.pit[index] = cdf(distribution, realised);
  }
  return { fold, model, ...scores };
}

/**
 * Runs all leak canaries: of labels, features and direction for all versions at once, of fits and distributions for each. Walks are given
 * from the shortest horizon to the longest.
 */
export function runCanaries(
  source: BacktestHistory & { frame: InputFrame },
  walked: {
    walks: readonly (HorizonBlocks & { folds: readonly Fold[] })[];
    versions: readonly WalkedVersion[];
    moves: readonly MoveWalk[];
  },
  pipeline: Pipeline,
): Canary[] {
  const { walks, versions, moves } = walked;
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
    ...versions
      .filter(({ version }) => version.name === MOVE_MODEL.name)
      .map((one) => forOne(one, runMoveCutCanary(one, moves, cuts, source))),
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
