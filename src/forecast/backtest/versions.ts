import { bootstrapEstimate, type IntervalEstimate, SHARE_RANGE } from '../bootstrap.ts';
import { cdf, crps } from '../distribution.ts';
import { mean } from '../math.ts';
import { formatHorizonName, type HorizonDays } from '../model.ts';
import { fitModelVersion, type ModelRows, type ModelVersion } from '../models.ts';
import { type BacktestHistory, computeReferenceSkill, type Fold, type Pipeline } from './out-of-sample.ts';

/** Central ranges whose coverage is reported. */
export const COVERED_SHARES = [0.5, 0.8, 0.9] as const;
/** Versions after the first were chosen on the folds before these, which were looked at once. */
export const LAST_LOOK_FOLDS = { from: 15, to: 19 } as const;

export type VersionHorizonReport = ReturnType<typeof buildHorizonReport>;

/** One version of the model with the P(up) of all versions. */
export type VersionReport = ReturnType<typeof buildVersionReports>[number];

export interface WalkedVersion {
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
