import { type Day, formatDay } from '../../day.ts';
import { FEATURE_NAMES, type FeatureTable } from '../../features/feature-table.ts';
import { computeParkinson, fillRangeVariance } from '../../features/range-variance.ts';
import { getOrInsert } from '../../get-or-insert.ts';
import {
  BUSINESS_DAY_COLUMNS,
  countUntil,
  getFrameLength,
  getLastDay,
  type InputFrame,
  MIN_HISTORY_DAYS,
  sliceFrame,
} from '../../input-frame.ts';
import type { Pipeline } from '../pipeline.ts';
import { type CanaryDescription, type CanaryRun, completedCanary, skippedCanary } from './canary.ts';

const TEXT: CanaryDescription = {
  name: 'point-in-time',
  what: 'Cuts every input at a date and recomputes the features: those of that date and before must be bit-identical',
  unit: 'values that differ',
};

const CUT_SHARES = [0.5, 0.8, 1];
/** Days before a cut that are searched for more observed series. */
const SEARCH_DAYS = 10;
const CENTRED_DAYS = 3;
type Features = Pipeline['features'];

/** Checks that features read nothing later than their day. `whole.features` are the pipeline's features of the frame. */
export function runPointInTimeCanary(whole: { frame: InputFrame; features: FeatureTable }, pipeline: Pipeline): CanaryRun {
  const { frame } = whole;
  if (getFrameLength(frame) <= MIN_HISTORY_DAYS) return skippedCanary(TEXT, `the history has ${getFrameLength(frame)} days`);
  const days = CUT_SHARES.map((share) => chooseCutDay(frame, share));
  const cuts = days.map((day) => sliceFrame(frame, day));
  const features = memoizeFeatures(pipeline.features, whole);
  const changed = (make: Features, cut: InputFrame) => countDifferences(make(cut), make(frame));
  const newest = cuts[cuts.length - 1];
  return completedCanary(TEXT, {
    limit: 0,
    figure: cuts.reduce((sum, cut) => sum + changed(features, cut), 0),
    note: `cut at ${days.map(formatDay).join(', ')}`,
    mutants: buildMutants(features, whole, days[days.length - 1]).map(({ what, make }) => ({ what, figure: changed(make, newest) })),
  });
}

const FEATURE_OF_SERIES = { etfFlow: 'etf', sp500: 'spz', dxy: 'dxz' } as const;

function buildMutants(features: Features, whole: { frame: InputFrame; features: FeatureTable }, day: Day) {
  const rangeAhead = {
    what: "the variance from ranges reads the next day's high and low",
    make: (given: InputFrame) => readNextRange(features(given), given),
  };
  const centred = { what: 'the trend is a centred average', make: (given: InputFrame) => centredTrend(features(given)) };
  const row = day - whole.frame.firstDay;
  const always = [centred, ...(hasRangeOn(whole.frame, row + 1) && Number.isFinite(whole.features.rangeVariance[row]) ? [rangeAhead] : [])];
  // A missing lag shows only where a series was observed on the day and its feature is defined.
  if (!getSeriesObservedOn(whole.frame, day).some((name) => Number.isFinite(whole.features[FEATURE_OF_SERIES[name]][row]))) return always;
  const what = 'business-day series are read on their own date, before publication';
  return [{ what, make: (given: InputFrame) => features(readSameDay(given)) }, ...always];
}

function hasRangeOn({ high, low }: InputFrame, row: number): boolean {
  return computeParkinson(high[row], low[row]) !== null;
}

/** Of the days before a share of the history, that with the most business-day observations. */
function chooseCutDay(frame: InputFrame, share: number): Day {
  const from = frame.firstDay + Math.round(share * (getFrameLength(frame) - 1));
  const latest = Math.min(from, getLastDay(frame) - 1);
  const candidates = Array.from({ length: SEARCH_DAYS }, (_, back) => latest - back);
  return candidates.reduce((best, day) => (getSeriesObservedOn(frame, day).length > getSeriesObservedOn(frame, best).length ? day : best));
}

function getSeriesObservedOn(frame: InputFrame, day: Day) {
  return BUSINESS_DAY_COLUMNS.filter((name) => frame[name].days[countUntil(frame[name].days, day) - 1] === day);
}

/** Computes the features of each frame once for all mutants. */
function memoizeFeatures(features: Features, whole: { frame: InputFrame; features: FeatureTable }): Features {
  const tables = new Map([[whole.frame, whole.features]]);
  return (frame) => getOrInsert(tables, frame, () => features(frame));
}

function countDifferences(cut: FeatureTable, whole: FeatureTable): number {
  let count = 0;
  for (const name of FEATURE_NAMES) {
    const column = cut[name];
    for (let row = 0; row < column.length; row++) if (!Object.is(column[row], whole[name][row])) count++;
  }
  return count;
}

function readSameDay(frame: InputFrame): InputFrame {
  const early = { ...frame };
  for (const name of BUSINESS_DAY_COLUMNS) early[name] = { ...frame[name], days: frame[name].days.map((day) => day - 1) };
  return early;
}

function centredTrend(table: FeatureTable): FeatureTable {
  const trend = table.trend.map((_, row) => {
    const around = table.trend.subarray(Math.max(0, row - CENTRED_DAYS), row + CENTRED_DAYS + 1);
    return around.reduce((sum, value) => sum + value, 0) / around.length;
  });
  return { ...table, trend };
}

function readNextRange(table: FeatureTable, frame: InputFrame): FeatureTable {
  const [high, low] = [frame.high, frame.low].map((column) => column.map((_, row) => column[row + 1] ?? Number.NaN));
  const early = { ...table, rangeVariance: new Float64Array(table.length) };
  fillRangeVariance({ ...frame, high, low }, early, 0);
  return early;
}
