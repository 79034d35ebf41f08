import { cdf, crps } from '../../../distribution.ts';
import type { ModelVersion } from '../../../models/model-version.ts';
import type { VersionWalk } from '../../walk-forward/version-walk.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from '../canary.ts';
import type { ForecastCuts, KnownHistory } from '../cuts.ts';
import { NO_FOLD } from '../forecast-cut.ts';
import { VERSION_MUTANTS } from './mutants.ts';

const TEXT: CanaryDescription = {
  name: 'forecast-cut',
  what: "Cuts every input at a day, recomputes features, and forecasts with the version's model of the fold: CRPS and PIT of the distribution must be bit-identical to the fold",
  unit: 'values that differ',
};

type Scores = readonly [crps: number, pit: number];

/** Checks on a few days of each fold that a version's distributions read nothing later than the day. */
export function runVersionForecastCutCanary(
  { version, walks }: { version: ModelVersion; walks: readonly VersionWalk[] },
  { sample, rows, cuts, whole }: ForecastCuts,
): CanaryRun {
  if (sample.length === 0) return skippedCanary(TEXT, NO_FOLD);
  const folds = new Map(walks.flatMap((walk) => walk.folds.map((one) => [one.fold, one] as const)));
  const days = sample.map(({ fold, day }) => ({ ...folds.get(fold)!, day, index: day.row - fold.days[0].row }));
  const score = (by: ModelVersion, { features }: KnownHistory, { model, day }: (typeof days)[number]): Scores => {
    const distribution = by.buildDistribution(model, { features, row: day.row, pUp: day.pUp });
    return [crps(distribution, day.realised), cdf(distribution, day.realised)];
  };
  const { forecasts = [] } = VERSION_MUTANTS[version.name] ?? {};
  return completedCanary(TEXT, {
    limit: 0,
    figure: sumBy(days, (one) => countDifferences([one.crps[one.index], one.pit[one.index]], score(version, cuts.get(one.day.row)!, one))),
    note: `${sample.length} forecasts of ${rows.length} days`,
    mutants: forecasts.map(({ what, version: broken }) => ({
      what,
      figure: sumBy(days, (one) => countDifferences(score(broken, whole, one), score(broken, cuts.get(one.day.row)!, one))),
    })),
  });
}

function sumBy<T>(members: readonly T[], numberOf: (member: T) => number): number {
  return members.reduce((sum, member) => sum + numberOf(member), 0);
}

function countDifferences(whole: Scores, cut: Scores): number {
  return whole.filter((value, index) => !Object.is(value, cut[index])).length;
}
