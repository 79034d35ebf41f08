import type { Day } from './day.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDaySeries,
  countUntil,
  DAILY_COLUMNS,
  FEATURE_NAMES,
  type FeatureTable,
  getFrameLength,
  type InputFrame,
  toRecord,
} from './inputs.ts';
import { lowerBound, mean } from './math.ts';
import { TRAINING_START } from './model.ts';

/** A table and its frame, both unchanged since. */
export interface ComputedFeatures {
  frame: InputFrame;
  table: FeatureTable;
}

/**
 * Features of every day; row t reads nothing later than day t (business-day series: t-1). With `earlier`, rows before the first changed
 * input are copied; the result is bit-identical.
 */
export function computeFeatures(frame: InputFrame, earlier?: ComputedFeatures): FeatureTable {
  const from = earlier === undefined ? 0 : findFirstChangedRow(frame, earlier.frame);
  const table = allocateFeatureTable(frame, from, earlier?.table);
  const logClose = computeLogs(frame.close, from);
  fillVolatility(logClose, table, from);
  fillRangeVariance(frame, table, from);
  fillTrend(frame.close, table, from);
  fillMomentum(logClose, table, from);
  fillFlow(frame, table, from);
  fillValue(frame, table, from);
  return table;
}

function allocateFeatureTable(frame: InputFrame, from: number, earlier: FeatureTable | undefined): FeatureTable {
  const length = getFrameLength(frame);
  const columns = toRecord(FEATURE_NAMES, (name) => {
    const column = new Float64Array(length);
    if (earlier !== undefined) column.set(earlier[name].subarray(0, from));
    return column;
  });
  return { firstDay: frame.firstDay, length, ...columns };
}

/** First row whose features can differ between two frames; the number of common rows without a difference, 0 for unequal first days. */
export function findFirstChangedRow(frame: InputFrame, earlier: InputFrame): number {
  if (frame.firstDay !== earlier.firstDay) return 0;
  let row = Math.min(getFrameLength(frame), getFrameLength(earlier));
  for (const column of DAILY_COLUMNS) row = findFirstDifference(frame[column], earlier[column], row);
  for (const column of BUSINESS_DAY_COLUMNS) {
    const changed = findFirstChangedDay(frame[column], earlier[column]);
    // An observation is read from the day after its date.
    if (changed !== undefined) row = Math.min(row, Math.max(0, changed + 1 - frame.firstDay));
  }
  return row;
}

function findFirstDifference(a: Float64Array, b: Float64Array, limit: number): number {
  for (let index = 0; index < limit; index++) {
    if (a[index] !== b[index] && !(Number.isNaN(a[index]) && Number.isNaN(b[index]))) return index;
  }
  return limit;
}

function findFirstChangedDay(a: BusinessDaySeries, b: BusinessDaySeries): number | undefined {
  const common = Math.min(a.days.length, b.days.length);
  for (let index = 0; index < common; index++) {
    if (a.days[index] !== b.days[index] || a.values[index] !== b.values[index]) return Math.min(a.days[index], b.days[index]);
  }
  if (a.days.length === b.days.length) return undefined;
  return (a.days.length > common ? a : b).days[common];
}

const Z_DAYS = 180;
const Z_MIN_COUNT = 60;
const WEEK_MIN_COUNT = 5;
const MARKET_MIN_COUNT = 81;

/** `etf`, `takz`, `funz`, `spz`, `dxz`, `pmi`, `macro` and `flow`. */
function fillFlow(frame: InputFrame, table: FeatureTable, from: number): void {
  fillAsOf(frame.etfFlow, table, table.etf, from, computeFlowPressure);
  fillAsOf(toLogSeries(frame.sp500, table.firstDay + from), table, table.spz, from, computeMarketMomentum);
  fillAsOf(toLogSeries(frame.dxy, table.firstDay + from), table, table.dxz, from, computeMarketMomentum);
  const taker = computeWeeklyMeans(frame.takerBuyFraction, from);
  const funding = computeWeeklyMeans(frame.fundingRate, from);
  for (let row = from; row < table.length; row++) {
    table.takz[row] = zScoreAt(taker, row, Z_DAYS, Z_MIN_COUNT);
    table.funz[row] = zScoreAt(funding, row, Z_DAYS, Z_MIN_COUNT);
    table.pmi[row] = Math.tanh((frame.pmi[row] - 50) / 5);
    table.macro[row] = meanOfAvailable(squash(table.spz[row]), -squash(table.dxz[row]), table.pmi[row]);
    table.flow[row] = combineScores(squash(table.etf[row]), squash(table.takz[row]), -squash(table.funz[row]), table.macro[row]);
  }
}

function computeWeeklyMeans(values: Float64Array, from: number): Float64Array {
  const means = new Float64Array(values.length);
  for (let row = getWindowStart(from); row < means.length; row++) means[row] = meanAt(values, row, 7, WEEK_MIN_COUNT);
  return means;
}

/** Logarithms of the observations within reach of a window that ends on `day` or later. */
function toLogSeries({ days, values }: BusinessDaySeries, day: Day): BusinessDaySeries {
  const logs = new Float64Array(values.length);
  for (let index = Math.max(0, countUntil(days, day) - MARKET_MIN_COUNT - 7); index < logs.length; index++)
    logs[index] = Math.log(values[index]);
  return { days, values: logs };
}

/** Sum of the last 5 flows in units of its own root mean square over up to 60 flows; NaN with fewer than 20. */
function computeFlowPressure(flows: Float64Array, last: number): number {
  if (last + 1 < 20) return Number.NaN;
  const first = Math.max(0, last - 59);
  let squares = 0;
  let recent = 0;
  for (let index = first; index <= last; index++) {
    squares += flows[index] * flows[index];
    if (index > last - 5) recent += flows[index];
  }
  return recent / (Math.sqrt(squares / (last - first + 1)) * Math.sqrt(5));
}

/** 20-observation log return in units of volatility over 60 observations; NaN with fewer than 81 observations. */
function computeMarketMomentum(logs: Float64Array, last: number): number {
  if (last + 1 < MARKET_MIN_COUNT) return Number.NaN;
  let squares = 0;
  for (let index = last - 59; index <= last; index++) squares += (logs[index] - logs[index - 1]) ** 2;
  return (logs[last] - logs[last - 20]) / (Math.sqrt(squares / 60) * Math.sqrt(20));
}

/** Observations are read from the day after their date, since ETF flows are published after 21:35 UTC; all series share this lag. */
const LAG_DAYS = 1;
const STALE_DAYS = 7;

/** Fills a daily column from row `from` with `valueAt(values, last)` of the last observation known on the day; NaN if none or stale. */
function fillAsOf(
  series: BusinessDaySeries,
  table: { firstDay: Day; length: number },
  column: Float64Array,
  from: number,
  valueAt: (values: Float64Array, last: number) => number,
): void {
  let last = countUntil(series.days, table.firstDay + from - LAG_DAYS) - 1;
  let value = last < 0 ? Number.NaN : valueAt(series.values, last);
  for (let row = from; row < table.length; row++) {
    const day = table.firstDay + row;
    const before = last;
    while (series.days[last + 1] <= day - LAG_DAYS) last++;
    if (last !== before) value = valueAt(series.values, last);
    column[row] = last >= 0 && day - series.days[last] <= STALE_DAYS ? value : Number.NaN;
  }
}

/** Longest window of any feature, in rows. */
const LOOKBACK_ROWS = 1460;

/** First row within reach of windows that end at `from` or later. */
function getWindowStart(from: number): number {
  return Math.max(0, from - LOOKBACK_ROWS);
}

/** Natural logarithms aligned with `values`; rows before `getWindowStart(from)` stay 0. */
function computeLogs(values: Float64Array, from: number): Float64Array {
  const logs = new Float64Array(values.length);
  for (let row = getWindowStart(from); row < values.length; row++) logs[row] = Math.log(values[row]);
  return logs;
}

/** ln(numerator / denominator), NaN where either is; rows before `getWindowStart(from)` stay 0. */
function computeLogRatios(numerator: Float64Array, denominator: Float64Array, from: number): Float64Array {
  const logs = new Float64Array(numerator.length);
  for (let row = getWindowStart(from); row < logs.length; row++) logs[row] = Math.log(numerator[row] / denominator[row]);
  return logs;
}

/** Mean of the available values in the `window` rows up to `row`; NaN with fewer than `minCount`. */
export function meanAt(values: Float64Array, row: number, window: number, minCount: number): number {
  let sum = 0;
  let count = 0;
  for (let index = Math.max(0, row - window + 1); index <= row; index++) {
    if (Number.isNaN(values[index])) continue;
    sum += values[index];
    count++;
  }
  return count >= minCount ? sum / count : Number.NaN;
}

/** z-score (n - 1) of `values[row]` in the `window` rows up to `row`; NaN when masked, without variance or with fewer than `minCount`. */
export function zScoreAt(values: Float64Array, row: number, window: number, minCount: number): number {
  // Deviations from the value itself need one pass without cancellation, as it is within a few standard deviations of the mean.
  const value = values[row];
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (let index = Math.max(0, row - window + 1); index <= row; index++) {
    const deviation = values[index] - value;
    if (Number.isNaN(deviation)) continue;
    sum += deviation;
    squares += deviation * deviation;
    count++;
  }
  const variance = (squares - (sum * sum) / count) / (count - 1);
  return count >= minCount && variance > 0 ? -sum / count / Math.sqrt(variance) : Number.NaN;
}

export function meanOfAvailable(...values: number[]): number {
  let sum = 0;
  let count = 0;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count++;
  }
  return count > 0 ? sum / count : Number.NaN;
}

export function squash(z: number): number {
  return Math.tanh(z / 1.5);
}

/** Score of a category: the mean of its available parts, 0 without any. */
export function combineScores(...scores: number[]): number {
  const score = meanOfAvailable(...scores);
  return Number.isNaN(score) ? 0 : score;
}

const HIGH_DAYS = 365;

/** `m7`, `m28`, `m91`, `momentum`, `ret7`, `ret30`, `ret90` and `drawdown`; reads `v99`. */
function fillMomentum(logClose: Float64Array, table: FeatureTable, from: number): void {
  for (let row = from; row < table.length; row++) {
    const daily = Math.sqrt(table.v99[row]);
    table.m7[row] = changeAt(logClose, row, 7) / (daily * Math.sqrt(7));
    table.m28[row] = changeAt(logClose, row, 28) / (daily * Math.sqrt(28));
    table.m91[row] = changeAt(logClose, row, 91) / (daily * Math.sqrt(91));
    table.momentum[row] = combineScores(squash(table.m7[row]), squash(table.m28[row]), squash(table.m91[row]));
    table.ret7[row] = changeAt(logClose, row, 7);
    table.ret30[row] = changeAt(logClose, row, 30);
    table.ret90[row] = changeAt(logClose, row, 90);
    table.drawdown[row] = logClose[row] - highAt(logClose, row);
  }
}

function changeAt(logClose: Float64Array, row: number, days: number): number {
  return row < days ? Number.NaN : logClose[row] - logClose[row - days];
}

function highAt(logClose: Float64Array, row: number): number {
  let high = logClose[row];
  for (let index = Math.max(0, row - HIGH_DAYS + 1); index < row; index++) {
    if (logClose[index] > high) high = logClose[index];
  }
  return high;
}

const DECAY = 0.94;
const SEED_DAYS = 60;
/** Of ln(high / low)^2 / (4 ln 2): a range of about 70 % in a day. Above it a venue has a bad tick. */
const MAX_PARKINSON = 0.5;
const PARKINSON_DIVISOR = 4 * Math.LN2;

/** Parkinson's variance of a day's log return from its high and low; null where they give none. */
export function computeParkinson(high: number, low: number): number | null {
  const variance = low > 0 ? Math.log(high / low) ** 2 / PARKINSON_DIVISOR : Number.NaN;
  return high >= low && variance > 0 && variance <= MAX_PARKINSON ? variance : null;
}

/** Variance of a row's log return from its range, or its square without a usable range; `NaN` on the first row then. */
export function computeDailyVariance({ close, high, low }: Pick<InputFrame, 'close' | 'high' | 'low'>, row: number): number {
  return computeParkinson(high[row], low[row]) ?? (row === 0 ? Number.NaN : Math.log(close[row] / close[row - 1]) ** 2);
}

/** `rangeVariance`: exponentially weighted from `TRAINING_START` on, seeded by the mean of the 60 days before; `NaN` until then. */
export function fillRangeVariance(frame: InputFrame, { rangeVariance }: FeatureTable, from: number): void {
  const start = Math.max(TRAINING_START - frame.firstDay, SEED_DAYS + 1);
  rangeVariance.fill(Number.NaN, from, Math.max(from, Math.min(start, rangeVariance.length)));
  for (let row = Math.max(from, start); row < rangeVariance.length; row++) {
    const seedDay = (_: unknown, index: number) => computeDailyVariance(frame, start - SEED_DAYS + index);
    const before = row === start ? mean(Array.from({ length: SEED_DAYS }, seedDay)) : rangeVariance[row - 1];
    rangeVariance[row] = DECAY * before + (1 - DECAY) * computeDailyVariance(frame, row);
  }
}

const FAST_DAYS = 50;
const SLOW_DAYS = 200;

/** `gap50`, `gap200`, `cross`, `z50`, `z200`, `zc` and `trend`; reads `v99`. */
function fillTrend(close: Float64Array, table: FeatureTable, from: number): void {
  for (let row = from; row < table.length; row++) {
    const fast = averageAt(close, row, FAST_DAYS);
    const slow = averageAt(close, row, SLOW_DAYS);
    const daily = Math.sqrt(table.v99[row]);
    table.gap50[row] = Math.log(close[row] / fast);
    table.gap200[row] = Math.log(close[row] / slow);
    table.cross[row] = Math.log(fast / slow);
    table.z50[row] = table.gap50[row] / (daily * Math.sqrt(FAST_DAYS / 3));
    table.z200[row] = table.gap200[row] / (daily * Math.sqrt(SLOW_DAYS / 3));
    table.zc[row] = table.cross[row] / (daily * Math.sqrt(37.5));
    table.trend[row] = combineScores(squash(table.z50[row]), squash(table.z200[row]), squash(table.zc[row]));
  }
}

function averageAt(close: Float64Array, row: number, days: number): number {
  if (row < days - 1) return Number.NaN;
  let sum = 0;
  for (let index = row - days + 1; index <= row; index++) sum += close[index];
  return sum / days;
}

/** `mvz`, `fg7`, `gz` and `value`. */
function fillValue(frame: InputFrame, table: FeatureTable, from: number): void {
  const realized = computeLogRatios(frame.close, frame.realizedPrice, from);
  const gold = computeLogRatios(frame.close, frame.gold, from);
  for (let row = from; row < table.length; row++) {
    table.mvz[row] = zScoreAt(realized, row, 1460, 365);
    table.fg7[row] = meanAt(frame.fearGreed, row, 7, 4);
    table.gz[row] = zScoreAt(gold, row, 365, 180);
    table.value[row] = combineScores(-squash(table.mvz[row]), -(table.fg7[row] - 50) / 50, -squash(table.gz[row]));
  }
}

/** Row at which the variances start, as the mean of the first 30 squared returns. */
const SEED_ROW = 30;
const MEDIAN_DAYS = 365;
const MEDIAN_MIN_COUNT = 180;

/** `v94`, `v97`, `v99`, `vratio` and `vol`. */
function fillVolatility(logClose: Float64Array, table: FeatureTable, from: number): void {
  fillVariance(logClose, table.v94, 0.94, from);
  fillVariance(logClose, table.v97, 0.97, from);
  fillVariance(logClose, table.v99, 0.99, from);
  fillRatio(table, from);
}

/** Exponentially weighted daily variance of every row; `NaN` before the 30 returns of its seed. */
export function computeVariance(closes: Float64Array, decay: number): Float64Array {
  const variance = new Float64Array(closes.length);
  fillVariance(closes.map(Math.log), variance, decay, 0);
  return variance;
}

export function computeNextVariance(before: number, logReturn: number, decay: number): number {
  return decay * before + (1 - decay) * logReturn ** 2;
}

function fillVariance(logClose: Float64Array, variance: Float64Array, decay: number, from: number): void {
  for (let row = from; row < variance.length; row++) {
    if (row > SEED_ROW) variance[row] = computeNextVariance(variance[row - 1], logClose[row] - logClose[row - 1], decay);
    else variance[row] = row === SEED_ROW ? seedVariance(logClose) : Number.NaN;
  }
}

function seedVariance(logClose: Float64Array): number {
  let sum = 0;
  for (let row = 1; row <= SEED_ROW; row++) sum += (logClose[row] - logClose[row - 1]) ** 2;
  return sum / SEED_ROW;
}

function fillRatio(table: FeatureTable, from: number): void {
  const median = new RollingMedian(MEDIAN_DAYS);
  for (let row = Math.max(0, from - MEDIAN_DAYS); row < table.length; row++) {
    const volatility = Math.sqrt(table.v97[row]);
    median.push(volatility);
    if (row < from) continue;
    const ratio = volatility / median.median(MEDIAN_MIN_COUNT);
    const score = Math.tanh(Math.log(ratio) / 0.5);
    table.vratio[row] = ratio;
    table.vol[row] = Number.isNaN(score) ? 0 : score;
  }
}

/** Median of the finite values among the last `window` ones pushed, kept in order as the window moves. */
export class RollingMedian {
  readonly #recent: Float64Array;
  readonly #sorted: Float64Array;
  #pushed = 0;
  #count = 0;

  constructor(window: number) {
    this.#recent = new Float64Array(window).fill(Number.NaN);
    this.#sorted = new Float64Array(window);
  }

  push(value: number): void {
    const slot = this.#pushed++ % this.#recent.length;
    const leaving = this.#recent[slot];
    if (!Number.isNaN(leaving)) this.#remove(leaving);
    this.#recent[slot] = value;
    if (!Number.isNaN(value)) this.#insert(value);
  }

  /** NaN with fewer than `minCount` finite values. */
  median(minCount: number): number {
    if (this.#count < minCount) return Number.NaN;
    const middle = this.#count >> 1;
    return this.#count % 2 === 1 ? this.#sorted[middle] : (this.#sorted[middle - 1] + this.#sorted[middle]) / 2;
  }

  #insert(value: number): void {
    const at = lowerBound(this.#sorted, value, this.#count);
    this.#sorted.copyWithin(at + 1, at, this.#count++);
    this.#sorted[at] = value;
  }

  #remove(value: number): void {
    const at = lowerBound(this.#sorted, value, this.#count);
    this.#sorted.copyWithin(at, at + 1, this.#count--);
  }
}
