import type { Day } from '../day.ts';
import { type BusinessDaySeries, countUntil, type InputFrame } from '../input-frame.ts';
import { fillAsOf } from './as-of.ts';
import type { FeatureTable } from './feature-table.ts';
import { combineScores, getWindowStart, meanAt, meanOfAvailable, squash, zScoreAt } from './rolling.ts';

const Z_DAYS = 180;
const Z_MIN_COUNT = 60;
const WEEK_MIN_COUNT = 5;
const MARKET_MIN_COUNT = 81;

/** `etf`, `takz`, `funz`, `spz`, `dxz`, `pmi`, `macro` and `flow`. */
export function fillFlow(frame: InputFrame, table: FeatureTable, from: number): void {
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
