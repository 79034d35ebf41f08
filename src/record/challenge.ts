import type { Collection, Db } from 'mongodb';
import { OracleError } from '../errors.ts';
import { BASELINES } from '../forecast/baselines.ts';
import { bootstrapEstimate, SHARE_RANGE } from '../forecast/bootstrap.ts';
import {
  addDifference,
  computeEValue,
  type DayDifference,
  judgeChallenge,
  listComparisons,
  PROOF_THRESHOLD,
  runEProcess,
  startEProcess,
} from '../forecast/challenge.ts';
import { formatDay, formatDayOrNull, getWeekday } from '../forecast/day.ts';
import type { GridScores } from '../forecast/distribution.ts';
import { meanBy, shareOf, sum } from '../forecast/math.ts';
import { formatHorizonName, type HorizonDays } from '../forecast/model.ts';
import { MODEL_NAMES, MODEL_VERSIONS, type ModelName } from '../forecast/models.ts';
import { listMoveDifferences, TESTED_REFERENCES } from '../forecast/move-skill.ts';
import { createScoreSeries, type SeriesForecast, type SeriesValues } from '../forecast/record-statistics.ts';
import { toDailyColumn } from '../forecast/statistics.ts';
import { insertOrFind } from '../platform/mongo.ts';
import { roundTo } from '../platform/validation.ts';
import type { DistributionScoresDoc } from './distribution-scores.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import { toScoredForecast } from './scorecard.ts';

/** The champion of a record without a change. */
export const FIRST_CHAMPION: ModelName = 'm0-d1';

/** A change of champion by the operator, kept for ever. `_id` counts the changes, `0001` and so on. */
interface ChampionChangeDoc {
  _id: string;
  at: Date;
  from: ModelName;
  to: ModelName;
  /** The record had not proven the new one better. */
  forced: boolean;
  /** The test of both at that time, by horizon. */
  evidence: (Pick<ChallengeFigures, 'horizon'> & ChallengeResult)[];
}

/** Which version has forecast since when. */
export class ChampionLog {
  readonly #changes: Collection<ChampionChangeDoc>;

  constructor(db: Db) {
    this.#changes = db.collection('champion_changes');
  }

  /** Oldest first. */
  list(): Promise<ChampionChangeDoc[]> {
    return this.#changes.find().sort({ _id: 1 }).toArray();
  }

  /**
   * Records the champion of the settings where it differs from that of the record. Safe to repeat and to run in parallel.
   * @throws OracleError CONFIG_INVALID for a version that is not proven better, unless forced
   */
  async apply(
    { champion, force }: { champion: ModelName; force: boolean },
    readFigures: () => Promise<ChallengeFigures[]>,
    at: Date,
  ): Promise<void> {
    const changes = await this.list();
    const from = changes.at(-1)?.to ?? FIRST_CHAMPION;
    if (champion === from) return;
    const isOfBoth = ({ challenger, against }: ChallengeResult) => [challenger, against].every((name) => [from, champion].includes(name));
    const evidence = (await readFigures()).flatMap(({ horizon, comparisons }) =>
      comparisons.filter(isOfBoth).map((one) => ({ horizon, ...one })),
    );
    // At one horizon proven, and at none the reverse.
    const isProven = hasVerdict(evidence, champion, true) && !hasVerdict(evidence, champion, false);
    if (!isProven && !force) throw notProvenError(from, champion, evidence);
    const _id = String(changes.length + 1).padStart(4, '0');
    const stored = await insertOrFind(this.#changes, { _id, at, from, to: champion, forced: !isProven, evidence });
    if (stored.to === champion) return;
    throw new OracleError('CONFIG_INVALID', `Another process has just made ${stored.to} champion`, { field: 'MODEL_CHAMPION' });
  }
}

/** Whether some horizon proves that a version is better or worse. */
function hasVerdict(evidence: ChampionChangeDoc['evidence'], name: ModelName, isBetter: boolean): boolean {
  return evidence.some(
    ({ challenger, verdict }) => verdict === ((challenger === name) === isBetter ? 'proven better at 5 %' : 'proven worse'),
  );
}

function notProvenError(from: ModelName, to: ModelName, evidence: ChampionChangeDoc['evidence']): OracleError {
  const isLater = MODEL_NAMES.indexOf(to) > MODEL_NAMES.indexOf(from);
  const values = evidence.map((one) => `${one.horizon} ${(isLater ? one.maxBetter : one.maxWorse).toFixed(2)}`);
  const found = values.length === 0 ? 'no day has been compared' : `the highest evidence is ${values.join(', ')}, and 20 proves it`;
  return new OracleError('CONFIG_INVALID', `MODEL_CHAMPION=${to}: the record does not prove it better than ${from}: ${found}`, {
    field: 'MODEL_CHAMPION',
    suggestedAction: `Set MODEL_CHAMPION=${from}, or MODEL_CHAMPION_FORCE=on, which the record shows for ever.`,
  });
}

export type ChallengeFigures = ReturnType<typeof computeChallengeFigures>;
export type ChallengeResult = ChallengeFigures['comparisons'][number];

/** The test of each version against the one before it, and the scores of all distributions. @param docs revealed, of one horizon by day */
export function computeChallengeFigures(docs: readonly DistributionScoresDoc[], horizonDays: number) {
  return {
    horizon: formatHorizonName(horizonDays),
    horizonDays: horizonDays as HorizonDays,
    comparisons: listComparisons().map(({ challenger, against }) => {
      const process = runEProcess(listDifferences(docs, { challenger, against }), horizonDays);
      const { better, worse, days, lastDay } = process;
      const { verdict, since } = judgeChallenge(process);
      return {
        challenger,
        against,
        days,
        throughDate: formatDayOrNull(lastDay),
        threshold: PROOF_THRESHOLD,
        eBetter: computeEValue(better),
        eWorse: computeEValue(worse),
        maxBetter: better.max,
        maxWorse: worse.max,
        verdict,
        since: formatDayOrNull(since),
      };
    }),
    distributions: buildDistributionTable(docs),
  };
}

type Pair = ReturnType<typeof listComparisons>[number];

function listDifferences(docs: readonly DistributionScoresDoc[], pair: Pair): DayDifference[] {
  return docs.flatMap(({ day, comparisons }) => {
    const own = comparisons.find(({ challenger, against }) => challenger === pair.challenger && against === pair.against);
    return own === undefined ? [] : [{ day, difference: own.difference }];
  });
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;
const COVERAGES = [
  { nominal: 0.5, key: 'in50' },
  { nominal: 0.8, key: 'in80' },
  { nominal: 0.9, key: 'in90' },
] as const;

type Scored = { day: number; scores: GridScores; climatologyCrps: number | null };

/**
 * The distributions over all days of the record that have them: model versions, then baselines. Lower CRPS and log score are better.
 * @param docs of one horizon by day
 */
function buildDistributionTable(docs: readonly DistributionScoresDoc[]) {
  const rows = [
    ...MODEL_VERSIONS.map(({ name, title }) => ({ name, title, kind: 'model' as const, listed: docs.map(({ models }) => models[name]) })),
    ...BASELINES.map(({ name, title }) => ({
      name,
      title,
      kind: 'baseline' as const,
      listed: docs.map(({ baselines }) => baselines[name]),
    })),
  ];
  return rows.flatMap(({ listed, ...row }) => {
    const scored = docs.flatMap(({ day, baselines: { climatology } }, index): Scored[] => {
      const scores = listed[index];
      return scores ? [{ day, scores, climatologyCrps: climatology?.crps ?? null }] : [];
    });
    return scored.length === 0 ? [] : [{ ...row, ...summarize(scored, row.name === 'climatology') }];
  });
}

function summarize(scored: readonly Scored[], isReference: boolean) {
  const ones = toDailyColumn(scored, () => 1);
  return {
    n: scored.length,
    crps: meanBy(scored, ({ scores }) => scores.crps),
    // 1 - CRPS over that of climatology on the same days; null for climatology, and where it is unknown.
    skill: isReference ? null : computeSkill(scored),
    logScore: meanBy(scored, ({ scores }) => scores.logScore),
    coverage: COVERAGES.map(({ nominal, key }) => {
      const hits = toDailyColumn(scored, ({ scores }) => (scores[key] ? 1 : 0));
      const observed = shareOf(scored, ({ scores }) => scores[key]);
      const options = { columns: [hits, ones], statistic: ([inside, all]: Float64Array) => inside / all, range: SHARE_RANGE };
      return { nominal, ...bootstrapEstimate(observed, options) };
    }),
    // Share of the outcomes within the 80 % range by the weekday, UTC, on which the outcome window begins.
    coverage80ByWeekday: WEEKDAYS.map((weekday, index) => {
      const own = scored.filter(({ day }) => getWeekday(day + 1) === index);
      return { weekday, n: own.length, observed: own.length === 0 ? null : shareOf(own, ({ scores }) => scores.in80) };
    }),
  };
}

function computeSkill(scored: readonly Scored[]) {
  const known = scored.filter(({ climatologyCrps }) => climatologyCrps !== null);
  if (known.length === 0) return null;
  const columns = [toDailyColumn(known, ({ scores }) => scores.crps), toDailyColumn(known, (one) => one.climatologyCrps!)];
  const statistic = ([own, reference]: Float64Array) => 1 - own / reference;
  const totals = Float64Array.from(columns, sum);
  return bootstrapEstimate(statistic(totals), { columns, statistic, range: { low: Number.NEGATIVE_INFINITY, high: 1 } });
}

export type RecordSeries = ReturnType<typeof buildRecordSeries>;
export type RecordSeriesPoint = ReturnType<RecordSeries['computePoint']>;

/**
 * A point a resolved day, by its index, computed when it is asked for: all of ten years are 36 MB.
 * @param docs forecasts of one horizon in sequence order @param scores of the same horizon by day
 */
export function buildRecordSeries(docs: readonly ForecastDoc[], scores: readonly DistributionScoresDoc[]) {
  const scoresById = new Map(scores.map((one) => [one._id, one]));
  const resolved = docs.flatMap((doc): (SeriesForecast & Pick<ForecastDoc, 'replayed'>)[] => {
    const scored = toScoredForecast(doc);
    const found = scoresById.get(doc._id);
    return scored === null ? [] : [{ ...scored, replayed: doc.replayed, central: toCentral(found), move: found?.move ?? null }];
  });
  const horizonDays = docs[0]?.horizonDays ?? 1;
  const { days, computePoint } = createScoreSeries(resolved);
  const evidence = listComparisons().map((pair) => ({ of: pair, ...runEvidence(listDifferences(scores, pair), days, horizonDays) }));
  const moveEvidence = TESTED_REFERENCES.map((against) => ({
    of: { against },
    ...runEvidence(listMoveDifferences(resolved, against), days, horizonDays),
  }));
  return {
    days,
    computePoint(index: number) {
      const { n, cumulative, rolling } = computePoint(index);
      return {
        date: formatDay(days[index]!),
        n,
        ...{ cumulative: roundValues(cumulative), rolling: roundValues(rolling) },
        evidence: evidence.map(({ of, better, worse }) => ({ ...of, eBetter: better[index]!, eWorse: worse[index]! })),
        moveEvidence: moveEvidence.map(({ of, better, worse }) => ({ ...of, eBetter: better[index]!, eWorse: worse[index]! })),
      };
    },
  };
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

/** The e-values of a test after each of the days. Both ascend. */
function runEvidence(differences: readonly DayDifference[], days: Int32Array, horizonDays: number) {
  const [better, worse] = [new Float64Array(days.length), new Float64Array(days.length)];
  let process = startEProcess(horizonDays);
  let next = 0;
  for (const [index, day] of days.entries()) {
    for (; next < differences.length && differences[next]!.day <= day; next++) process = addDifference(process, differences[next]!);
    better[index] = computeEValue(process.better);
    worse[index] = computeEValue(process.worse);
  }
  return { better, worse };
}
