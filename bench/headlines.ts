import type { OwnReport } from '../src/forecast/backtest/walk-forward.ts';

/** Figures of all out-of-sample days of a horizon together. */
interface Headline {
  n: number;
  /** Share of days on which the likelier direction came true. */
  accuracy: number;
  brier: number;
  climatologyBrier: number;
  crps: number;
  climatologyCrps: number;
  recentCrps: number;
}

/** By the days of the horizon. */
export type Headlines = Record<string, Headline>;

/** The largest difference of two figures of the same name, as a fraction of the second; not a number where one is missing. */
export function differenceOf(ours: Headlines, theirs: Headlines): number {
  const horizons = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const differences = [...horizons].flatMap((horizon) => {
    const [one, other] = [ours[horizon], theirs[horizon]] as (Headline | undefined)[];
    if (one === undefined || other === undefined) return [Number.NaN];
    return (Object.keys(other) as (keyof Headline)[]).map((name) => Math.abs(one[name] / other[name] - 1));
  });
  return Math.max(...differences);
}

/** Those of horizons that have folds. */
export function headlinesOf(horizons: readonly { horizonDays: number; pooled: OwnReport | null }[]): Headlines {
  return Object.fromEntries(
    horizons.map(({ horizonDays, pooled }) => {
      if (pooled === null) throw new Error(`no complete fold at ${horizonDays} days: the history is too short to be measured`);
      const { n, direction, statistics, crpsSkill, recentCrpsSkill } = pooled;
      const { brier, climatologySkill } = statistics.probabilities!;
      const figures = { accuracy: direction.accuracy!, brier, climatologyBrier: climatologySkill!.brier };
      return [
        horizonDays,
        { n, ...figures, crps: statistics.distribution!.crps, climatologyCrps: crpsSkill.theirs, recentCrps: recentCrpsSkill.theirs },
      ];
    }),
  );
}
