import { addDifference, computeEValue, startEProcess } from '../../forecast/challenge/e-process.ts';
import { listComparisons } from '../../forecast/challenge/score-distributions.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { ModelName } from '../../forecast/models/registry.ts';
import { computeScoreSeries, type SeriesForecast, type SeriesValues } from '../../forecast/statistics/series/score-series.ts';
import { roundTo } from '../../platform/round.ts';
import type { DistributionScoresDoc } from '../distributions/distribution-scores.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import { toScoredForecast } from '../scorecard/scorecard.ts';

export interface SeriesEvidence {
  challenger: ModelName;
  against: ModelName;
  /** After this day. */
  eBetter: number;
  eWorse: number;
}

export interface RecordSeriesPoint {
  date: string;
  n: number;
  cumulative: SeriesValues;
  rolling: SeriesValues;
  evidence: SeriesEvidence[];
}

/** One point a resolved day. @param docs forecasts of one horizon in sequence order @param scores of the same horizon by day */
export function computeRecordSeries(docs: readonly ForecastDoc[], scores: readonly DistributionScoresDoc[]): RecordSeriesPoint[] {
  const scoresById = new Map(scores.map((one) => [one._id, one]));
  const resolved = docs.flatMap((doc): SeriesForecast[] => {
    const scored = toScoredForecast(doc);
    return scored === null ? [] : [{ ...scored, central: toCentral(scoresById.get(doc._id)) }];
  });
  const evidenceOf = createEvidence(scores, docs[0]?.horizonDays ?? 1);
  return computeScoreSeries(resolved).map(({ day, n, cumulative, rolling }) => {
    return { date: formatDay(day), n, cumulative: roundValues(cumulative), rolling: roundValues(rolling), evidence: evidenceOf(day) };
  });
}

/** To a ten-thousandth of a percent: more digits would double the size of a response. */
function roundValues(values: SeriesValues): SeriesValues {
  const round = (value: number | null) => (value === null ? null : roundTo(value, 6));
  const rounded = Object.entries(values).map(([name, { value, low, high }]) => {
    return [name, { value: round(value), low: round(low), high: round(high) }];
  });
  return Object.fromEntries(rounded) as SeriesValues;
}

function toCentral(scores: DistributionScoresDoc | undefined): SeriesForecast['central'] {
  const own = scores?.models[scores.champion];
  if (scores === undefined || own === undefined) return null;
  return { crps: own.crps, climatologyCrps: scores.baselines.climatology?.crps ?? null, in80: own.in80 };
}

/** The e-values after a day; days must be asked for in ascending order. */
function createEvidence(scores: readonly DistributionScoresDoc[], horizonDays: number): (day: Day) => SeriesEvidence[] {
  const processes = listComparisons().map((pair) => ({ ...pair, process: startEProcess(horizonDays) }));
  let next = 0;
  return (day) => {
    for (; next < scores.length && scores[next]!.day <= day; next++) {
      for (const one of processes) {
        const found = scores[next]!.comparisons.find(({ challenger, against }) => challenger === one.challenger && against === one.against);
        if (found !== undefined) one.process = addDifference(one.process, { day: scores[next]!.day, difference: found.difference });
      }
    }
    return processes.map(({ challenger, against, process }) => {
      return { challenger, against, eBetter: computeEValue(process.better), eWorse: computeEValue(process.worse) };
    });
  };
}
