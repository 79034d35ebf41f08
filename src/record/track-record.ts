import { type Day, formatDay } from '../forecast/day.ts';
import { type MeanInterval, meanInterval } from '../forecast/mean-interval.ts';
import { horizonName } from '../forecast/model.ts';
import type { Regime } from '../forecast/regime.ts';
import { brierScore, selectNonOverlapping } from '../forecast/scoring.ts';
import type { Caller } from './caller.ts';
import type { ForecastDoc } from './forecast.ts';
import type { ForecastRecord } from './record.ts';
import type { TrackRecordReply } from './schemas/track-record.ts';
import { scorecardEntry, summaryOf } from './scorecard.ts';
import { byModelVersion, byRegime, type ShareRow, shareRow } from './statistics/breakdown.ts';
import type { StatisticsDesk } from './statistics/desk.ts';
import { committedProbabilities, type PublicStatus, statusOf, type ViewOptions } from './views.ts';

/** Which forecasts of a horizon; null takes all. */
export interface TrackRecordFilter {
  horizonDays: number;
  from: Day | null;
  to: Day | null;
  regime: Regime | null;
  /** As everybody is told: PENDING until the outcome is on chain, whatever it says. */
  status: PublicStatus | null;
}

export interface Page {
  /** From 1. */
  page: number;
  pageSize: number;
}

export interface TrackRecordParts {
  record: ForecastRecord;
  market: { source: string };
  statistics: StatisticsDesk;
  viewFor(caller: Caller): ViewOptions;
  now(): Date;
}

/** The forecasts that a filter leaves, with statistics over exactly these; entries are cut to the caller, figures are the same for all. */
export async function trackRecord(
  parts: TrackRecordParts,
  { filter, page: { page, pageSize }, caller }: { filter: TrackRecordFilter; page: Page; caller: Caller },
): Promise<TrackRecordReply> {
  const { horizonDays } = filter;
  const all = await parts.record.ofHorizon(horizonDays);
  const docs = all.filter((doc) => isMeant(doc, filter));
  const shown = docs.toReversed().slice((page - 1) * pageSize, page * pageSize);
  return {
    asOf: parts.now().toISOString(),
    filters: toldFilter(filter),
    statistics: await statisticsOf(parts.statistics, docs, filter),
    byRegime: byRegime(docs, horizonDays).map((row) => ofChosen(row, filter)),
    byModelVersion: byModelVersion(docs, horizonDays).map((row) => ofChosen(row, filter)),
    byHorizon: await parts.statistics.byHorizon(),
    wholeRecord: { ...shareRow(all, horizonDays), verdict: summaryOf(all, horizonDays).verdict },
    marketSkill: await parts.statistics.marketSkill(),
    inference: inferenceOf(filter),
    entries: shown.map((doc) => scorecardEntry(doc, parts.viewFor(caller))),
    page,
    pageSize,
    pages: Math.ceil(docs.length / pageSize),
    total: docs.length,
    source: parts.market.source,
  };
}

function isMeant(doc: ForecastDoc, { from, to, regime, status }: TrackRecordFilter): boolean {
  if ((from !== null && doc.day < from) || (to !== null && doc.day > to)) return false;
  return (regime === null || doc.regime === regime) && (status === null || statusOf(doc) === status);
}

function toldFilter({ horizonDays, from, to, regime, status }: TrackRecordFilter): TrackRecordReply['filters'] {
  const date = (day: Day | null) => (day === null ? null : formatDay(day));
  return { horizon: horizonName(horizonDays), from: date(from), to: date(to), regime, status };
}

/** Where the outcome was chosen, a share of wins says nothing, and none is told. */
const OF_CHOSEN_OUTCOMES = {
  accuracy: null,
  dedupedAccuracy: null,
  accuracyInterval95: null,
  alwaysUpAccuracy: null,
  brier: null,
  dedupedInterval95: null,
  brierDifference: null,
  calls: null,
  probabilities: null,
  distribution: null,
  verdict: 'no verdict: these forecasts were selected by their outcome',
};

async function statisticsOf(
  desk: StatisticsDesk,
  docs: ForecastDoc[],
  { horizonDays, status }: TrackRecordFilter,
): Promise<TrackRecordReply['statistics']> {
  if (status !== null) return { ...summaryOf(docs, horizonDays), ...OF_CHOSEN_OUTCOMES };
  return fullStatistics(desk, docs, horizonDays);
}

/** The summary of forecasts of one horizon, given in the order of their sequence, with all their error bars. */
export async function fullStatistics(
  desk: StatisticsDesk,
  docs: readonly ForecastDoc[],
  horizonDays: number,
): Promise<TrackRecordReply['statistics']> {
  const statistics = await desk.statisticsOf(docs, horizonDays);
  return { ...summaryOf(docs, horizonDays), brierDifference: brierDifference(docs, horizonDays), ...statistics };
}

/** A row as it is told: where the outcome was chosen, without the shares. */
function ofChosen<Row extends ShareRow>(row: Row, { status }: TrackRecordFilter): Row {
  return status === null ? row : { ...row, accuracy: null, accuracyInterval95: null, brier: null };
}

/** Brier scores of the model minus those of the base rate on the same forecasts, windows that do not overlap only. */
export function brierDifference(docs: readonly ForecastDoc[], horizonDays: number): MeanInterval | null {
  const revealed = docs.filter(({ reveal, values }) => reveal !== null && values !== null);
  const differences = selectNonOverlapping(revealed, horizonDays).map(({ values, resolution }) => {
    const rose = resolution?.actualDirection === 'UP';
    return brierScore(committedProbabilities(values!).pUp, rose) - brierScore(values!.climatology, rose);
  });
  const interval = meanInterval(differences);
  return interval === null ? null : bounded(interval);
}

/** Few pairs give bounds beyond what a difference can be. */
function bounded({ n, mean, low, high }: MeanInterval): MeanInterval {
  return { n, mean, low: low === null ? null : Math.max(-1, low), high: high === null ? null : Math.min(1, high) };
}

function inferenceOf({ from, to, regime, status }: TrackRecordFilter): string {
  if (status !== null) {
    return 'Selected by outcome: counts only. A share of wins among forecasts that were chosen by what became of them says nothing; `wholeRecord` has that of all.';
  }
  if (from === null && to === null && regime === null) {
    return 'Nothing was selected: these are all forecasts of the horizon. The interval allows for windows that overlap: it counts as many calls as all are worth.';
  }
  return 'A selection: the interval does not allow for the choice of the filters. Whoever tries twenty selections and tells of the best finds one that misses its 95 % interval by luck alone; hold it against `wholeRecord`, and fix filters before looking at outcomes.';
}
