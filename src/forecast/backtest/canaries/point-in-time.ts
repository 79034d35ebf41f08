import { type Day, formatDay } from '../../day.ts';
import { FEATURE_NAMES, type FeatureTable } from '../../features.ts';
import {
  BUSINESS_DAY_COLUMNS,
  type BusinessDayColumn,
  countUntil,
  frameLength,
  type InputFrame,
  lastDayOf,
  MIN_HISTORY_DAYS,
  sliceFrame,
} from '../../frame.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Canary, type CanaryText, notRun, ran } from './canary.ts';

const TEXT: CanaryText = {
  name: 'point-in-time',
  what: 'Cuts every input at a date and computes the features again: those of that date and of all before it must stay what they were, to the last bit',
  unit: 'values that differ',
};

/** Where in the history it is cut. */
const SHARES = [0.5, 0.8, 1];

/** How far before that a day may lie on which more series were observed. */
const SEARCH_DAYS = 10;

/** Days on either side of the one that a centred average is of. */
const CENTRED_DAYS = 3;

type Features = Pipeline['features'];

/** Whether features of a day need anything that was not known then. `whole.features` are what the pipeline made of the frame. */
export function pointInTimeCanary(whole: { frame: InputFrame; features: FeatureTable }, pipeline: Pipeline): Canary {
  const { frame } = whole;
  if (frameLength(frame) <= MIN_HISTORY_DAYS) return notRun(TEXT, `the history has ${frameLength(frame)} days`);
  const days = SHARES.map((share) => cutDay(frame, share));
  const cuts = days.map((day) => sliceFrame(frame, day));
  const features = remembering(pipeline.features, whole);
  const changed = (make: Features, cut: InputFrame) => differing(make(cut), make(frame));
  const newest = cuts[cuts.length - 1];
  return ran(TEXT, {
    limit: 0,
    figure: cuts.reduce((sum, cut) => sum + changed(features, cut), 0),
    note: `cut at ${days.map(formatDay).join(', ')}`,
    mutants: mutantsOf(features, whole, days[days.length - 1]).map(({ what, make }) => ({ what, figure: changed(make, newest) })),
  });
}

/** The features that a business-day series is read by. */
const READ_BY = { etfFlow: 'etf', sp500: 'spz', dxy: 'dxz' } as const;

function mutantsOf(features: Features, whole: { frame: InputFrame; features: FeatureTable }, day: Day): { what: string; make: Features }[] {
  const centred = { what: 'the trend is averaged over the days around it', make: (given: InputFrame) => centredTrend(features(given)) };
  const row = day - whole.frame.firstDay;
  // A lag shows only where a series was observed on the day and there is enough of it to be read.
  if (!observedOn(whole.frame, day).some((name) => Number.isFinite(whole.features[READ_BY[name]][row]))) return [centred];
  const unlagged = {
    what: 'business-day series are read on their own date, before they are published',
    make: (given: InputFrame) => features(readSameDay(given)),
  };
  return [unlagged, centred];
}

/** The day of the last week and a half before a share of the history on which the most business-day series were observed. */
function cutDay(frame: InputFrame, share: number): Day {
  const from = frame.firstDay + Math.round(share * (frameLength(frame) - 1));
  const latest = Math.min(from, lastDayOf(frame) - 1);
  const candidates = Array.from({ length: SEARCH_DAYS }, (_, back) => latest - back);
  return candidates.reduce((best, day) => (observedOn(frame, day).length > observedOn(frame, best).length ? day : best));
}

function observedOn(frame: InputFrame, day: Day): BusinessDayColumn[] {
  return BUSINESS_DAY_COLUMNS.filter((name) => frame[name].days[countUntil(frame[name].days, day) - 1] === day);
}

/** The frame and its cuts are computed once, however many mutants read them. */
function remembering(features: Features, whole: { frame: InputFrame; features: FeatureTable }): Features {
  const tables = new Map([[whole.frame, whole.features]]);
  return (frame) => {
    const table = tables.get(frame) ?? features(frame);
    tables.set(frame, table);
    return table;
  };
}

function differing(cut: FeatureTable, whole: FeatureTable): number {
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
