import type { Caller } from '../../auth/caller.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import { computeMeanInterval, type MeanInterval } from '../../forecast/math/mean-interval.ts';
import { formatHorizonName } from '../../forecast/model.ts';
import type { Regime } from '../../forecast/regime/regime.ts';
import { brierScore, selectNonOverlapping } from '../../forecast/scoring.ts';
import type { ForecastDoc } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { type PublicStatus, toCommittedProbabilities, toPublicStatus, type ViewOptions } from '../forecast-visibility.ts';
import type { TrackRecordReply } from '../schemas/track-record.ts';
import { buildShareRow, groupByModelVersion, groupByRegime, type ShareRow } from '../statistics/breakdown.ts';
import type { StatisticsService } from '../statistics/statistics-service.ts';
import { summarizeForecasts, toScorecardEntry } from './scorecard.ts';

export interface TrackRecordFilter {
  horizonDays: number;
  from: Day | null;
  to: Day | null;
  regime: Regime | null;
  /** The public status: PENDING until the outcome is on chain. */
  status: PublicStatus | null;
}

export interface TrackRecordDeps {
  record: ForecastRecord;
  market: { source: string };
  statistics: StatisticsService;
  viewFor(caller: Caller): ViewOptions;
  now(): Date;
}

/** The filtered forecasts with statistics over exactly these; entries are cut to the caller, figures are the same for all. */
export async function readTrackRecord(
  deps: TrackRecordDeps,
  { filter, page: { page, pageSize }, caller }: { filter: TrackRecordFilter; page: { page: number; pageSize: number }; caller: Caller },
): Promise<TrackRecordReply> {
  const { horizonDays } = filter;
  const all = await deps.record.listByHorizon(horizonDays);
  const docs = all.filter((doc) => matchesFilter(doc, filter));
  const shown = docs.toReversed().slice((page - 1) * pageSize, page * pageSize);
  return {
    asOf: deps.now().toISOString(),
    filters: toFilterReply(filter),
    statistics: await computeFilteredStatistics(deps.statistics, docs, filter),
    byRegime: groupByRegime(docs, horizonDays).map((row) => hideSelectedShares(row, filter)),
    byModelVersion: groupByModelVersion(docs, horizonDays).map((row) => hideSelectedShares(row, filter)),
    byHorizon: await deps.statistics.getHorizonRows(),
    wholeRecord: { ...buildShareRow(all, horizonDays), verdict: summarizeForecasts(all, horizonDays).verdict },
    marketSkill: await deps.statistics.getMarketSkill(),
    inference: formatInferenceNote(filter),
    entries: shown.map((doc) => toScorecardEntry(doc, deps.viewFor(caller))),
    page,
    pageSize,
    pages: Math.ceil(docs.length / pageSize),
    total: docs.length,
    source: deps.market.source,
  };
}

function matchesFilter(doc: ForecastDoc, { from, to, regime, status }: TrackRecordFilter): boolean {
  if ((from !== null && doc.day < from) || (to !== null && doc.day > to)) return false;
  return (regime === null || doc.regime === regime) && (status === null || toPublicStatus(doc) === status);
}

function toFilterReply({ horizonDays, from, to, regime, status }: TrackRecordFilter): TrackRecordReply['filters'] {
  const date = (day: Day | null) => (day === null ? null : formatDay(day));
  return { horizon: formatHorizonName(horizonDays), from: date(from), to: date(to), regime, status };
}

/** Selected by outcome, shares of wins are meaningless and left out. */
const OUTCOME_SELECTED_STATISTICS = {
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

async function computeFilteredStatistics(service: StatisticsService, docs: ForecastDoc[], { horizonDays, status }: TrackRecordFilter) {
  if (status !== null) return { ...summarizeForecasts(docs, horizonDays), ...OUTCOME_SELECTED_STATISTICS };
  return computeFullStatistics(service, docs, horizonDays);
}

export async function computeFullStatistics(service: StatisticsService, docs: readonly ForecastDoc[], horizonDays: number) {
  const statistics = await service.computeStatistics(docs, horizonDays);
  return { ...summarizeForecasts(docs, horizonDays), brierDifference: computeBrierDifference(docs, horizonDays), ...statistics };
}

function hideSelectedShares<Row extends ShareRow>(row: Row, { status }: TrackRecordFilter): Row {
  return status === null ? row : { ...row, accuracy: null, accuracyInterval95: null, brier: null };
}

/** Brier score of the model minus that of the base rate, in pairs, on non-overlapping windows. */
export function computeBrierDifference(docs: readonly ForecastDoc[], horizonDays: number): MeanInterval | null {
  const revealed = docs.filter(({ reveal, values }) => reveal !== null && values !== null);
  const differences = selectNonOverlapping(revealed, horizonDays).map(({ values, resolution }) => {
    const rose = resolution?.actualDirection === 'UP';
    return brierScore(toCommittedProbabilities(values!).pUp, rose) - brierScore(values!.climatology, rose);
  });
  const interval = computeMeanInterval(differences);
  return interval === null ? null : clampDifference(interval);
}

/** With few pairs the interval exceeds the range of a difference. */
function clampDifference({ n, mean, low, high }: MeanInterval): MeanInterval {
  return { n, mean, low: low === null ? null : Math.max(-1, low), high: high === null ? null : Math.min(1, high) };
}

function formatInferenceNote({ from, to, regime, status }: TrackRecordFilter): string {
  if (status !== null) {
    return 'Selected by outcome: counts only. A share of wins among forecasts selected by outcome is meaningless; `wholeRecord` has that of all.';
  }
  if (from === null && to === null && regime === null) {
    return 'No selection: these are all forecasts of the horizon. The interval allows for overlapping windows by using the effective sample size.';
  }
  return 'A selection: the interval does not allow for the choice of filters. Of twenty selections, one misses its 95 % interval by luck alone; compare with `wholeRecord`, and fix filters before looking at outcomes.';
}
