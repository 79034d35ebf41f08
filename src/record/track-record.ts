import type { Filter } from 'mongodb';
import type { Caller } from '../auth/caller.ts';
import type { Day } from '../forecast/day.ts';
import type { Regime } from '../forecast/regime.ts';
import { formatDayOrNull } from '../market/feed.ts';
import type { HorizonFigures, ShareRow } from './figures.ts';
import type { ForecastDoc } from './forecast-doc.ts';
import type { OracleDeps } from './public-signal.ts';
import type { TrackRecordReply } from './schemas/track-record.ts';
import { toScorecardEntry } from './scorecard.ts';
import type { PublicStatus } from './visibility.ts';

export interface TrackRecordFilter {
  horizonDays: number;
  from: Day | null;
  to: Day | null;
  regime: Regime | null;
  /** The public status: PENDING until the outcome is on chain. */
  status: PublicStatus | null;
}

/** The filtered forecasts with statistics over exactly these; entries are cut to the caller, figures are the same for all. */
export async function readTrackRecord(
  deps: OracleDeps,
  { filter, page, pageSize, caller }: { filter: TrackRecordFilter; page: number; pageSize: number; caller: Caller },
): Promise<TrackRecordReply> {
  const { horizonDays, from, to, regime, status } = filter;
  const query = toQuery(filter);
  const [whole, selected, byHorizon, marketSkill, shown] = await Promise.all([
    deps.statistics.figures.getHorizon(horizonDays),
    query === null ? deps.statistics.figures.getHorizon(horizonDays) : deps.statistics.getSelection(query, horizonDays),
    deps.statistics.getHorizonRows(),
    deps.statistics.getMarketSkill(),
    deps.record.listMatching({ ...query, horizonDays }, { skip: (page - 1) * pageSize, limit: pageSize }),
  ]);
  const total = selected.summary.totalPredictions;
  const { horizon, holds, voids, missed, pending, ...wholeRecord } = whole.row;
  const statistics = toFullStatistics(selected);
  return {
    asOf: deps.now().toISOString(),
    filters: { horizon, from: formatDayOrNull(from), to: formatDayOrNull(to), regime, status },
    statistics: status === null ? statistics : { ...statistics, ...OUTCOME_SELECTED_STATISTICS },
    byRegime: selected.byRegime.map((row) => hideSelectedShares(row, filter)),
    byModelVersion: selected.byModelVersion.map((row) => hideSelectedShares(row, filter)),
    byHorizon,
    wholeRecord,
    marketSkill,
    inference: formatInferenceNote(filter),
    entries: shown.map((doc) => toScorecardEntry(doc, deps.viewFor(caller))),
    page,
    pageSize,
    pages: Math.ceil(total / pageSize),
    total,
    source: deps.market.source,
  };
}

/** Null: no selection. */
function toQuery({ from, to, regime, status }: TrackRecordFilter): Filter<ForecastDoc> | null {
  if (from === null && to === null && regime === null && status === null) return null;
  return {
    ...((from !== null || to !== null) && { day: { ...(from !== null && { $gte: from }), ...(to !== null && { $lte: to }) } }),
    ...(regime !== null && { regime }),
    ...(status !== null && { state: { $in: status === 'PENDING' ? ['DRAFT', 'PENDING'] : [status] } }),
  };
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

export function toFullStatistics({ summary: { longestWinStreak, ...summary }, brierDifference, statistics }: HorizonFigures) {
  return { ...summary, brierDifference, ...statistics };
}

function hideSelectedShares<Row extends ShareRow>(row: Row, { status }: TrackRecordFilter): Row {
  return status === null ? row : { ...row, accuracy: null, accuracyInterval95: null, brier: null };
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
