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

/** Business-day observations start this many days before the first row, as lookback of its features. */
const BUSINESS_DAY_LOOKBACK_DAYS = 412;
export type FrameObservations = Record<DailyColumn | BusinessDayColumn, Observations>;

interface FrameRequest {
  /** Day of the last row, which holds values known by `atMs` and by 21:35 UTC. */
  day: Day;
  atMs: number;
  /** BTC/USD in the last row. */
  lastClose: number;
  observations: FrameObservations;
}

export type FrameHistory = ReturnType<typeof createFrameHistory>;
type RowReader = (column: DailyColumn) => number;
type FrameColumns = Record<DailyColumn, GrowableColumn<Float64Array>>;

/** Incremental input frames of one feed: a frame costs a copy of its rows instead of a lookup of every observation. */
export function createFrameHistory(firstDay: Day) {
  const columns = Object.fromEntries(DAILY_COLUMNS.map((column) => [column, createGrowableColumn(allocateFloat64)])) as FrameColumns;
  const etfFlowFilter = createEtfFlowFilter();

  /** Appends the rows before `day`, which are final. */
  function extendTo(day: Day, observations: FrameObservations): void {
    for (let row = firstDay + columns.close.length; row < day; row++) {
      const close = observations.close.values[requireCloseIndex(observations.close, row)];
      const valueIn = createRowReader(row, getSignalTimeMs(row), observations, close);
      for (const column of DAILY_COLUMNS) columns[column].push(valueIn(column));
    }
  }

  return {
    /** @throws OracleError HISTORY_TOO_SHORT, or PRICE_UNAVAILABLE when a day before the last has no close */
    buildFrame({ day, atMs, lastClose, observations: raw }: FrameRequest) {
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

/** @throws OracleError PRICE_UNAVAILABLE when the day has no close */
export function requireCloseIndex({ days, source }: Observations, day: Day): number {
  const index = countUpTo(days, day) - 1;
  if (index >= 0 && days[index] === day) return index;
  throw new OracleError('PRICE_UNAVAILABLE', `No daily close of ${formatDay(day)} from ${source} yet`);
}

function createRowReader(day: Day, knownAtMs: number, observations: FrameObservations, close: number): RowReader {
  return (column) => {
    if (column === 'close') return close;
    const { lagDays, staleDays } = SERIES[column];
    const index = findLastKnownIndex(observations[column], day - lagDays, knownAtMs);
    const fresh = index >= 0 && day - observations[column].days[index] <= staleDays;
    return fresh ? observations[column].values[index] : Number.NaN;
  };
}

/** Copies `count` final rows and the last one, so a returned frame never changes when the history grows. */
function copyRows(columns: FrameColumns, count: number, last: RowReader): Record<DailyColumn, Float64Array> {
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
