import { type Day, formatDay } from '../../forecast/day.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  DAILY_COLUMNS,
  type DailyColumn,
  type InputFrame,
} from '../../forecast/input-frame.ts';
import { OracleError } from '../../platform/errors.ts';
import { allocateFloat64, createGrowableColumn, type GrowableColumn } from '../series/growable-column.ts';
import { countUpTo, findLastKnownIndex, type Observations } from '../series/observations.ts';
import { SERIES } from '../series/series.ts';
import { getSignalTimeMs } from '../signal-time.ts';
import { createEtfFlowFilter } from './etf-flow-filter.ts';

/** Business-day observations reach this many days further back than the first row, so that its features have a past. */
const BUSINESS_DAY_LOOKBACK_DAYS = 412;

/** What each column of a frame is made of. */
export type FrameObservations = Record<DailyColumn | BusinessDayColumn, Observations>;

export interface FrameRequest {
  /** Day of the last row. */
  day: Day;
  /** Nothing known later than this, or than 21:35 UTC of `day`, enters the last row (ms). */
  atMs: number;
  /** BTC/USD in the last row. */
  lastClose: number;
  /** Raw observations known at `atMs`. */
  observations: FrameObservations;
}

/** Input frames of one feed, built up day by day: a frame costs a copy of its rows, not a new look at every observation. */
export interface FrameHistory {
  /** @throws OracleError HISTORY_TOO_SHORT, or PRICE_UNAVAILABLE when a day before the last has no close. */
  buildFrame(request: FrameRequest): { frame: InputFrame; observations: FrameObservations };
}

type RowReader = (column: DailyColumn) => number;

/** A history whose frames begin at `firstDay`. */
export function createFrameHistory(firstDay: Day): FrameHistory {
  const columns = Object.fromEntries(DAILY_COLUMNS.map((column) => [column, createGrowableColumn(allocateFloat64)])) as Record<
    DailyColumn,
    GrowableColumn<Float64Array>
  >;
  const etfFlowFilter = createEtfFlowFilter();

  /** Appends the rows before `day`: they are final, since their day is over. */
  function extendTo(day: Day, observations: FrameObservations): void {
    for (let row = firstDay + columns.close.length; row < day; row++) {
      const valueIn = createRowReader(row, getSignalTimeMs(row), observations, requireClose(row, observations.close));
      for (const column of DAILY_COLUMNS) columns[column].push(valueIn(column));
    }
  }

  return {
    buildFrame({ day, atMs, lastClose, observations: raw }) {
      requireCoveredDay(day, firstDay);
      const observations = { ...raw, etfFlow: etfFlowFilter.update(raw.etfFlow, raw.sp500) };
      extendTo(day, observations);
      const knownAtMs = Math.min(atMs, getSignalTimeMs(day));
      const daily = copyRows(columns, day - firstDay, createRowReader(day, knownAtMs, observations, lastClose));
      const business = BUSINESS_DAY_COLUMNS.map((column) => [column, sliceBusinessDays(observations[column], firstDay, day, knownAtMs)]);
      return { frame: { firstDay, ...daily, ...Object.fromEntries(business) } as InputFrame, observations };
    },
  };
}

function requireCoveredDay(day: Day, firstDay: Day): void {
  if (day >= firstDay) return;
  throw new OracleError('HISTORY_TOO_SHORT', `No history on ${formatDay(day)}: prices begin on ${formatDay(firstDay)}`);
}

function requireClose(day: Day, closes: Observations): number {
  const index = countUpTo(closes.days, day) - 1;
  if (index >= 0 && closes.days[index] === day) return closes.values[index];
  throw new OracleError('PRICE_UNAVAILABLE', `No daily close of ${formatDay(day)} from ${closes.source} yet`);
}

/** The values of a day's row, by the lag and staleness of each series. */
function createRowReader(day: Day, knownAtMs: number, observations: FrameObservations, close: number): RowReader {
  return (column) => {
    if (column === 'close') return close;
    const { lagDays, staleDays } = SERIES[column];
    const index = findLastKnownIndex(observations[column], day - lagDays, knownAtMs);
    const fresh = index >= 0 && day - observations[column].days[index] <= staleDays;
    return fresh ? observations[column].values[index] : Number.NaN;
  };
}

/** `count` final rows and one more, copied: a frame handed out never changes when the history grows or a price is replaced. */
function copyRows(
  columns: Record<DailyColumn, GrowableColumn<Float64Array>>,
  count: number,
  last: RowReader,
): Record<DailyColumn, Float64Array> {
  const storage = new Float64Array(DAILY_COLUMNS.length * (count + 1));
  const entries = DAILY_COLUMNS.map((column, index) => {
    const copy = storage.subarray(index * (count + 1), (index + 1) * (count + 1));
    copy.set(columns[column].view().subarray(0, count));
    copy[count] = last(column);
    return [column, copy];
  });
  return Object.fromEntries(entries) as Record<DailyColumn, Float64Array>;
}

function sliceBusinessDays({ days, values, availableAt }: Observations, firstDay: Day, day: Day, knownAtMs: number) {
  const start = countUpTo(days, firstDay - BUSINESS_DAY_LOOKBACK_DAYS - 1);
  const end = Math.max(start, countUpTo(availableAt, knownAtMs, countUpTo(days, day - 1)));
  return { days: days.subarray(start, end), values: values.subarray(start, end) };
}
