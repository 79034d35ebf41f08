import { BASELINES } from '../../forecast/baselines/baselines.ts';
import { bootstrapEstimate, type IntervalEstimate, SHARE_RANGE } from '../../forecast/math/block-bootstrap.ts';
import { meanBy, shareOf } from '../../forecast/math/mean.ts';
import { MODEL_VERSIONS } from '../../forecast/models/registry.ts';
import type { GridScores } from '../../forecast/scoring/grid-scores.ts';
import { toDailyColumn } from '../../forecast/statistics/scored-forecast.ts';
import { getWeekday } from '../../forecast/week.ts';
import type { DistributionScoresDoc } from '../distributions/distribution-scores.ts';

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
const COVERAGES = [
  { nominal: 0.5, key: 'in50' },
  { nominal: 0.8, key: 'in80' },
  { nominal: 0.9, key: 'in90' },
] as const;

/** A distribution over all days of the record that have it. Lower CRPS and log score are better. */
export interface DistributionRow {
  name: string;
  title: string;
  kind: 'model' | 'baseline';
  n: number;
  crps: number;
  /** 1 - CRPS over that of climatology on the same days; null for climatology, and where it is unknown. */
  skill: IntervalEstimate | null;
  logScore: number;
  coverage: ({ nominal: number } & IntervalEstimate)[];
  /** Share of the outcomes within the 80 % range by the weekday, UTC, on which the outcome window begins. */
  coverage80ByWeekday: { weekday: (typeof WEEKDAYS)[number]; n: number; observed: number | null }[];
}

type Scored = { day: number; scores: GridScores; climatologyCrps: number | null };

/** Model versions, then baselines; those without a score are left out. @param docs of one horizon by day */
export function buildDistributionTable(docs: readonly DistributionScoresDoc[]): DistributionRow[] {
  const rows = [
    ...MODEL_VERSIONS.map(({ name, title }) => ({
      name,
      title,
      kind: 'model' as const,
      read: (doc: DistributionScoresDoc) => doc.models[name],
    })),
    ...BASELINES.map(({ name, title }) => ({
      name,
      title,
      kind: 'baseline' as const,
      read: (doc: DistributionScoresDoc) => doc.baselines[name],
    })),
  ];
  return rows.flatMap(({ read, ...row }) => {
    const scored = docs.flatMap((doc): Scored[] => {
      const scores = read(doc);
      return scores ? [{ day: doc.day, scores, climatologyCrps: doc.baselines.climatology?.crps ?? null }] : [];
    });
    return scored.length === 0 ? [] : [{ ...row, ...summarize(scored, row.name === 'climatology') }];
  });
}

function summarize(scored: readonly Scored[], isReference: boolean) {
  const ones = toDailyColumn(scored, () => 1);
  return {
    n: scored.length,
    crps: meanBy(scored, ({ scores }) => scores.crps),
    skill: isReference ? null : computeSkill(scored),
    logScore: meanBy(scored, ({ scores }) => scores.logScore),
    coverage: COVERAGES.map(({ nominal, key }) => {
      const hits = toDailyColumn(scored, ({ scores }) => (scores[key] ? 1 : 0));
      const observed = shareOf(scored, ({ scores }) => scores[key]);
      const options = { columns: [hits, ones], statistic: ([inside, all]: Float64Array) => inside / all, range: SHARE_RANGE };
      return { nominal, ...bootstrapEstimate(observed, options) };
    }),
    coverage80ByWeekday: WEEKDAYS.map((weekday, index) => {
      const own = scored.filter(({ day }) => getWeekday(day + 1) === index);
      return { weekday, n: own.length, observed: own.length === 0 ? null : shareOf(own, ({ scores }) => scores.in80) };
    }),
  };
}

function computeSkill(scored: readonly Scored[]): IntervalEstimate | null {
  const known = scored.filter(({ climatologyCrps }) => climatologyCrps !== null);
  if (known.length === 0) return null;
  const columns = [toDailyColumn(known, ({ scores }) => scores.crps), toDailyColumn(known, (one) => one.climatologyCrps!)];
  const statistic = ([own, reference]: Float64Array) => 1 - own / reference;
  const totals = Float64Array.from(columns, (column) => column.reduce((total, value) => total + value, 0));
  return bootstrapEstimate(statistic(totals), { columns, statistic, range: { low: Number.NEGATIVE_INFINITY, high: 1 } });
}
