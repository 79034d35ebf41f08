import { OracleError } from '../../errors.ts';
import { type BootstrapOptions, bootstrapEstimate, countEffective, type IntervalEstimate } from '../bootstrap.ts';
import { type Day, formatDay, parseDay } from '../day.ts';
import { type ComputedFeatures, computeFeatures } from '../features.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  countUntil,
  DAILY_COLUMNS,
  type DailyColumn,
  FEATURE_NAMES,
  type FeatureName,
  type FeatureTable,
  getFrameLength,
  getLastDay,
  type InputFrame,
  toRecord,
} from '../inputs.ts';
import { shareOf, sum } from '../math.ts';
import { formatHorizonName, HORIZONS, type HorizonDays } from '../model.ts';
import { REGIME_NAMES } from '../regime.ts';
import { brierScore, computeShareInterval, toDirection } from '../signal.ts';
import { toDailyColumn } from '../statistics.ts';
import { SUSPICIOUS_ACCURACY } from './canaries.ts';
import {
  computeOutOfSampleFolds,
  EXPECTED_FOLDS,
  type Fold,
  formatFoldNote,
  isDirectionRight,
  type OutOfSampleDay,
} from './out-of-sample.ts';

/** A history, the pipeline's features of it, and the data known on some of its days. */
export interface ContaminationSource {
  frame: InputFrame;
  features: FeatureTable;
  pointInTime: readonly PointInTimeFrame[];
  vintages: Vintages;
}

/** Tests for lookahead: skill by era and regime, features against those known at the time, and pipelines broken on purpose. */
export type ContaminationReport = ReturnType<typeof buildContaminationReport>;

/** Without folds the eras are empty. @throws OracleError INPUT_INVALID for an audited day missing from the history */
export function buildContaminationReport({ frame, features, pointInTime, vintages }: ContaminationSource) {
  const horizons = HORIZONS.map((horizon) => compareEras(horizon, computeOutOfSampleFolds({ closes: frame.close, features }, horizon)));
  const folds = Math.min(...horizons.map((one) => one.folds));
  const known = computeKnownFeatures(frame, pointInTime);
  const audit = { days: known.map(({ day }) => formatDay(day)), vintages, differences: findFeatureDifferences(features, known) };
  const mutants = runLagMutants(frame, known);
  const suspicions = findSuspicions(horizons);
  return {
    folds,
    expectedFolds: EXPECTED_FOLDS,
    note: formatFoldNote(folds, features),
    healthy: audit.differences.length === 0 && mutants.every(({ applicable, caught }) => caught || !applicable),
    verdict: [formatAudit(audit), formatMutants(mutants), formatEras(horizons, suspicions)].join('. '),
    splitDay: formatDay(ETF_START),
    horizons,
    suspicions,
    pointInTime: audit,
    lagMutants: mutants,
  };
}

/** First trading day of spot bitcoin funds in the United States. */
export const ETF_START: Day = parseDay('2024-01-11');

export type EraFigures = ReturnType<typeof computeEraFigures>;

export type HorizonEras = ReturnType<typeof compareEras>;

export function compareEras(horizonDays: HorizonDays, folds: readonly Pick<Fold, 'days'>[]) {
  const days = folds.flatMap((fold) => fold.days);
  // With its first and last forecast day; null without any.
  const eraOf = (isIn: (one: OutOfSampleDay) => boolean) => {
    const own = days.filter(isIn);
    const dayOrNull = (one: OutOfSampleDay | undefined) => (one === undefined ? null : formatDay(one.day));
    return { from: dayOrNull(own[0]), to: dayOrNull(own.at(-1)), ...computeEraFigures(own, horizonDays) };
  };
  return {
    horizonDays,
    folds: folds.length,
    preEtf: eraOf(({ day }) => day < ETF_START),
    postEtf: eraOf(({ day }) => day >= ETF_START),
    /** Later era minus earlier one; null where one is empty. */
    difference: toRecord(MEASURE_NAMES, (name) => measureEraDifference(days, ETF_START, name)),
    regimes: REGIME_NAMES.map((regime) => {
      const own = days.filter((one) => one.regime === regime);
      return { regime, ...computeEraFigures(own, horizonDays) };
    }),
  };
}

/** Performance on some days by direction and probability, HOLD included. */
function computeEraFigures(days: readonly OutOfSampleDay[], horizonDays: number) {
  const effectiveN = countEffective(days, horizonDays);
  const accuracy = measureDays(days, 'accuracy')?.value ?? null;
  return {
    n: days.length,
    effectiveN,
    // Share of days with the right direction; null without days.
    accuracy,
    // Wilson interval on `effectiveN` days.
    accuracy95: accuracy === null ? null : computeShareInterval(accuracy, effectiveN),
    alwaysUp: days.length === 0 ? null : shareOf(days, ({ rose }) => rose),
    // Days with DOWN as the likelier direction; 0 equals always calling UP.
    downs: days.filter(({ pUp }) => toDirection(pUp) === 'DOWN').length,
    ...toRecord(SKILL_NAMES, (name) => measureDays(days, name)),
  };
}

interface Measure {
  upper(day: OutOfSampleDay): number;
  lower(day: OutOfSampleDay): number;
  /** Whether only days with `upper` other than 0 are informative. Default: all are. */
  byUpper?: boolean;
  value(upper: number, lower: number): number;
}

const ratio = (upper: number, lower: number) => upper / lower;
const skillRatio = (upper: number, lower: number) => 1 - upper / lower;

/** Measures that eras and regimes are compared by; higher is better. */
const MEASURES = {
  accuracy: { upper: (day) => Number(isDirectionRight(day)), lower: () => 1, value: ratio },
  edge: { upper: (day) => Number(isDirectionRight(day)) - Number(day.rose), lower: () => 1, value: ratio, byUpper: true },
  brierSkill: { upper: (day) => brierScore(day.pUp, day.rose), lower: (day) => brierScore(day.climatology, day.rose), value: skillRatio },
  crpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ climatologyCrps }) => climatologyCrps, value: skillRatio },
  recentCrpsSkill: { upper: ({ distribution }) => distribution.crps, lower: ({ recentCrps }) => recentCrps, value: skillRatio },
} satisfies Record<string, Measure>;

type MeasureName = keyof typeof MEASURES;
const SKILL_NAMES = ['edge', 'brierSkill', 'crpsSkill', 'recentCrpsSkill'] as const;
const MEASURE_NAMES = ['accuracy', ...SKILL_NAMES] as const satisfies MeasureName[];

/** A measure with its 95 % bootstrap interval; null where it is undefined. */
export function measureDays(days: readonly OutOfSampleDay[], name: MeasureName): IntervalEstimate | null {
  const { upper, lower, value, byUpper }: Measure = MEASURES[name];
  const columns = [toDailyColumn(days, upper), toDailyColumn(days, lower)];
  const informative = byUpper ? columns[0] : undefined;
  return estimateWithInterval({ columns, statistic: ([above, below]) => value(above, below), informative });
}

/** A measure of the days from `split` on minus that of the days before, resampled jointly. */
export function measureEraDifference(days: readonly OutOfSampleDay[], split: number, name: MeasureName): IntervalEstimate | null {
  const { upper, lower, value }: Measure = MEASURES[name];
  const column = (of: Measure['upper'], isLater: boolean) => toDailyColumn(days, (one) => (one.day >= split === isLater ? of(one) : 0));
  const columns = [column(upper, true), column(lower, true), column(upper, false), column(lower, false)];
  const statistic = ([above, below, aboveBefore, belowBefore]: Float64Array) => value(above, below) - value(aboveBefore, belowBefore);
  return estimateWithInterval({ columns, statistic });
}

function estimateWithInterval(resampling: BootstrapOptions & { columns: readonly Float64Array[] }): IntervalEstimate | null {
  const { columns, statistic } = resampling;
  const value = statistic(Float64Array.from(columns, sum));
  if (!Number.isFinite(value)) return null;
  return bootstrapEstimate(value, resampling);
}

export type LagMutant = ReturnType<typeof runLagMutants>[number];
type FrameInput = DailyColumn | BusinessDayColumn;

const MUTATIONS: Record<FrameInput, string> = {
  close: "reads the next day's close",
  fearGreed: 'reads the Fear & Greed index of the next day',
  realizedPrice: 'reads the realized price of the same day, which is published a day later',
  takerBuyFraction: 'reads the taker share of the same day, which is published a day later',
  fundingRate: 'reads the funding rate of the same day, which is published a day later',
  gold: 'reads the gold price of the same day, which is published a day later',
  high: "reads the next day's high",
  low: "reads the next day's low",
  pmi: 'reads the purchasing managers index a day before its release',
  etfFlow: 'reads the ETF flows of the same day, which are published at night',
  sp500: 'reads the S&P 500 of the same day, before its close',
  dxy: 'reads the dollar index of the same day, before its close',
};

/** Runs the audit for every input with one day less lag: pipelines broken on purpose. */
export function runLagMutants(frame: InputFrame, known: readonly KnownFeatures[]) {
  const real = { frame, table: computeFeatures(frame) };
  return [...DAILY_COLUMNS, ...BUSINESS_DAY_COLUMNS].map((input) => {
    const broken = computeFeatures(reduceLag(frame, input), real);
    const found = findFeatureDifferences(broken, known);
    const applicable = hasFeatureChange(real.table, broken, known);
    return {
      input,
      what: MUTATIONS[input],
      /** False where it changes no feature from the first audited day to the last. */
      applicable,
      caught: applicable && found.length > 0,
      features: applicable ? FEATURE_NAMES.filter((name) => found.some(({ feature }) => feature === name)) : [],
      days: applicable ? new Set(found.map(({ day }) => day)).size : 0,
      /** Why it does not apply; null where it does. */
      reason: applicable ? null : explainNotApplicable(frame, input, known),
    };
  });
}

/** The frame of a pipeline that reads an input a day before it is known. */
export function reduceLag(frame: InputFrame, input: FrameInput): InputFrame {
  if (isDailyColumn(input)) return { ...frame, [input]: frame[input].map((value, row) => frame[input][row + 1] ?? value) };
  // Features read observations dated the day before or earlier.
  return { ...frame, [input]: { ...frame[input], days: frame[input].days.map((day) => day - 1) } };
}

function isDailyColumn(input: FrameInput): input is DailyColumn {
  return (DAILY_COLUMNS as readonly string[]).includes(input);
}

/** Whether two tables differ from the first audited day to the last. */
function hasFeatureChange(real: FeatureTable, broken: FeatureTable, known: readonly KnownFeatures[]): boolean {
  if (known.length === 0) return false;
  const rows = known.map(({ day }) => day - real.firstDay);
  const last = Math.max(...rows);
  for (let row = Math.min(...rows); row <= last; row++) {
    if (FEATURE_NAMES.some((name) => !Object.is(real[name][row], broken[name][row]))) return true;
  }
  return false;
}

function explainNotApplicable(frame: InputFrame, input: FrameInput, known: readonly KnownFeatures[]): string {
  if (known.length === 0) return 'no day was audited';
  const values = isDailyColumn(input) ? frame[input] : frame[input].values;
  if (values.every(Number.isNaN)) return 'the history lacks this series';
  return 'no feature of the audited days depends on it';
}

/** Of the last row of a forecast's frame, they hold the day so far. */
const WHOLE_DAY_COLUMNS = ['close', 'high', 'low'] as const;

/** The frame that a past day's forecast could read; ends with that day. */
export type PointInTimeFrame = { day: Day; frame: InputFrame };
type KnownFeatures = { day: Day; values: Record<FeatureName, number> };

/**
 * The features of each day from the data known on it, with its evening price and range replaced by those of the whole day, as in the history.
 * @throws OracleError INPUT_INVALID for a frame that does not end with its day, or a day missing from the history
 */
export function computeKnownFeatures(history: InputFrame, pointInTime: readonly PointInTimeFrame[]): KnownFeatures[] {
  // What two days knew alike is computed once.
  let earlier: ComputedFeatures | undefined;
  return pointInTime.map(({ day, frame }) => {
    const last = getFrameLength(frame) - 1;
    const row = requireAuditRow(history, day, getLastDay(frame));
    const known = { ...frame, ...toRecord(WHOLE_DAY_COLUMNS, (column) => frame[column].with(last, history[column][row])) };
    const table = computeFeatures(known, earlier);
    earlier = { frame: known, table };
    return { day, values: toRecord(FEATURE_NAMES, (name) => table[name][last]) };
  });
}

function requireAuditRow(frame: InputFrame, day: Day, lastDay: Day): number {
  const row = day - frame.firstDay;
  if (day === lastDay && frame.close[row] !== undefined) return row;
  const message = `${formatDay(day)} cannot be audited by a frame that ends on ${formatDay(lastDay)}`;
  throw new OracleError('INPUT_INVALID', message, { field: 'pointInTime' });
}

/** Differences between the table of the whole history and the known features, null where masked: a revised input or a lookahead. */
export function findFeatureDifferences(table: FeatureTable, known: readonly KnownFeatures[]) {
  return known.flatMap(({ day, values }) => {
    const row = day - table.firstDay;
    return FEATURE_NAMES.filter((name) => !isSameNumber(values[name], table[name][row])).map((feature) => {
      return { day: formatDay(day), feature, known: toFiniteOrNull(values[feature]), computed: toFiniteOrNull(table[feature][row]) };
    });
  });
}

function isSameNumber(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

function toFiniteOrNull(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}

/** Before and since the ETFs. */
const ERA_COUNT = 2;
const COMPARED_MEASURES = ['brierSkill', 'crpsSkill'] as const;
const COMPARED_TITLES = { brierSkill: 'Brier skill', crpsSkill: 'CRPS skill' } as const;

/** `where` is an era or a regime. */
type Suspicion = ReturnType<typeof findSuspicions>[number];

interface PointInTimeAudit {
  days: string[];
  vintages: Vintages;
  differences: ReturnType<typeof findFeatureDifferences>;
}

/**
 * Eras significantly better than the other, and in both directions eras or regimes of a suspicious accuracy: a label read with the wrong
 * sign makes a forecast as far worse than chance as a leak makes it better.
 */
export function findSuspicions(horizons: readonly HorizonEras[]) {
  return horizons.flatMap((one) => [...findBetterEras(one), ...findSuspiciousAccuracy(one)]);
}

function findBetterEras({ horizonDays, difference }: HorizonEras) {
  return COMPARED_MEASURES.flatMap((name) => {
    const found = difference[name];
    if (found === null || found.low === null || found.high === null || (found.low <= 0 && found.high >= 0)) return [];
    const where = found.value > 0 ? 'since the ETFs' : 'before the ETFs';
    const points = (100 * Math.abs(found.value)).toFixed(1);
    const why = `${COMPARED_TITLES[name]} is better than in the other era by ${points} points, and the 95 % interval excludes zero`;
    return [{ horizonDays, where, why }];
  });
}

function findSuspiciousAccuracy({ horizonDays, preEtf, postEtf, regimes }: HorizonEras) {
  const segments: [string, EraFigures][] = [
    ['before the ETFs', preEtf],
    ['since the ETFs', postEtf],
    ...regimes.map((figures): [string, EraFigures] => [figures.regime, figures]),
  ];
  return segments.flatMap(([where, { accuracy, edge }]) => {
    const side = accuracy === null || edge === null ? null : findSuspiciousSide(accuracy, edge);
    if (side === null) return [];
    return [{ horizonDays, where, why: `right on ${(100 * accuracy!).toFixed(1)} % of the days, ${side}` }];
  });
}

function findSuspiciousSide(accuracy: number, { low, high }: NonNullable<EraFigures['edge']>): string | null {
  if (low !== null && low > 0 && accuracy > SUSPICIOUS_ACCURACY) return 'above 60 % and above always-UP significantly';
  return high !== null && high < 0 ? 'below always-UP significantly' : null;
}

function formatAudit({ days, vintages, differences }: PointInTimeAudit): string {
  if (days.length === 0) return 'No day was audited';
  if (differences.length === 0) return `On ${days.length} audited days ${AUDIT_PASSED[vintages]}`;
  const features = [...new Set(differences.map(({ feature }) => feature))];
  const changed = new Set(differences.map(({ day }) => day));
  return `LEAK OR REVISION: ${features.join(', ')} differ from the values known at the time on ${changed.size} of ${days.length} audited days`;
}

const AUDIT_PASSED: Record<Vintages, string> = {
  collected: 'every feature matches the value known at the time; for days before collection began, the value that providers returned then',
  made: 'every feature matches the value known at the time, in a simulated market without revisions',
  none: 'the lags hold: no feature needs later data. Revisions before the files were collected cannot show, as they hold no vintages',
};

function formatMutants(lagMutants: readonly LagMutant[]): string {
  const applicable = lagMutants.filter((mutant) => mutant.applicable);
  const missed = applicable.filter(({ caught }) => !caught).map(({ input }) => input);
  if (missed.length > 0) return `UNRELIABLE: the audit misses one day less lag of ${missed.join(', ')}`;
  if (applicable.length === 0) return 'No lag mutant was run';
  const left = lagMutants.filter(({ applicable: applies }) => !applies).map(({ input }) => input);
  const note = left.length === 0 ? '' : `; not applicable: ${left.join(', ')}`;
  return `All ${applicable.length} mutants that read an input a day early were caught${note}`;
}

function formatEras(horizons: readonly HorizonEras[], suspicions: readonly Suspicion[]): string {
  if (horizons.every(({ difference }) => difference.brierSkill === null)) return 'Fewer than two eras have forecasts';
  if (suspicions.length === 0) return 'No era or regime is suspiciously better or worse than the others';
  const list = suspicions.map(({ horizonDays, where, why }) => `${where} at ${formatHorizonName(horizonDays)}: ${why}`);
  const eras = horizons.length * COMPARED_MEASURES.length;
  const accuracies = horizons.reduce((sum, { regimes }) => sum + ERA_COUNT + regimes.length, 0);
  // Of an accuracy one side alone counts at any size, so that 2.5 % are expected.
  const expected = (eras * 0.05 + accuracies * 0.025).toFixed(1);
  const tests = `${eras} comparisons of eras and ${accuracies} of accuracies`;
  return `SUSPICIOUS: ${list.join('; ')} (of ${tests} about ${expected} are expected to be significant by chance)`;
}

/**
 * Origin of point-in-time data: `collected`, stored by the service as first seen; `made`, a simulated market that is never revised;
 * `none`, the final history, which hides revisions.
 */
export const VINTAGES = ['collected', 'made', 'none'] as const;
export type Vintages = (typeof VINTAGES)[number];

/** Evenly sampled days, and the period that they cover. */
const SAMPLE_COUNT = 24;
const REACH_DAYS = 730;
/** The report names features of these days, so that all their forecasts must be resolved. */
const MIN_AGE_DAYS = Math.max(...HORIZONS) + 1;

/**
 * Days for a point-in-time audit, ascending: samples of two years and, for each input, the newest day on which reading it a day early
 * makes a difference (a monthly figure changes on few days). Empty for a history of a few days.
 */
export function chooseAuditDays(frame: InputFrame): Day[] {
  const last = getLastDay(frame) - MIN_AGE_DAYS;
  const first = Math.max(frame.firstDay, last - REACH_DAYS);
  if (last < first) return [];
  const sampled = Array.from({ length: SAMPLE_COUNT }, (_, index) => last - Math.round((index * (last - first)) / SAMPLE_COUNT));
  const sensitive = findLagSensitiveDays(frame, last).filter((day) => day >= first);
  return [...new Set([...sampled, ...sensitive])].sort((a, b) => a - b);
}

function findLagSensitiveDays(frame: InputFrame, last: Day): Day[] {
  const daily = DAILY_COLUMNS.map((name) => {
    const column = frame[name];
    let row = last - frame.firstDay;
    while (row >= 0 && Object.is(column[row], column[row + 1])) row--;
    return frame.firstDay + row;
  });
  const business = BUSINESS_DAY_COLUMNS.map((name) => frame[name].days[countUntil(frame[name].days, last) - 1]);
  return [...daily, ...business.filter((day) => day !== undefined)];
}
