import type { Filter } from 'mongodb';
import { type Day, formatDay, parseDay } from '../../../../forecast/day.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import type { Regime } from '../../../../forecast/regime/regime.ts';
import type { Direction } from '../../../../forecast/signal.ts';
import { type ForecastDoc, formatForecastId } from '../../../../record/forecast-doc.ts';
import type { LIST_STATES } from '../../../../views/forecast/list-filter.ts';
import type { HttpDeps } from '../../deps.ts';

export interface ForecastFilter {
  horizonDays: number | null;
  state: (typeof LIST_STATES)[number] | null;
  direction: Direction | null;
  regime: Regime | null;
  from: Day | null;
  to: Day | null;
}

export interface FoundForecasts {
  /** Newest day first, then by descending horizon. */
  docs: ForecastDoc[];
  /** `before` of the next page; null on the last. */
  nextBefore: string | null;
}

/** Days that one page examines at most, whatever the filter and the length of the record. */
const MAX_DAYS_EXAMINED = 1_000;

const STATES: Record<NonNullable<ForecastFilter['state']>, Filter<ForecastDoc>> = {
  committed: { state: { $in: ['DRAFT', 'PENDING'] }, missed: false },
  right: { state: 'WIN' },
  wrong: { state: 'LOSS' },
  hold: { state: 'HOLD' },
  void: { state: 'VOID', missed: false },
  missed: { missed: true },
};

/** A page of a filter, in the order of the ids; where few match, a page may hold fewer than its limit, or none. */
export async function findForecasts(
  { record }: Pick<HttpDeps, 'record'>,
  filter: ForecastFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<FoundForecasts> {
  const [first, last] = await Promise.all([record.findGenesisDay(), record.findLastDay()]);
  if (first === null || last === null) return { docs: [], nextBefore: null };
  const end = Math.min(last, filter.to ?? last, before === undefined ? last : parseCursorDay(before));
  const start = Math.max(first, filter.from ?? first);
  const examinedFrom = Math.max(start, end - MAX_DAYS_EXAMINED + 1);
  const ids = { $gte: formatForecastId(examinedFrom, HORIZONS[0]), $lt: capCursor(before, end + 1) };
  const docs = await record.forecasts
    .find({ ...toConditions(filter), _id: ids }, { hint: { _id: 1 }, limit: limit + 1 })
    .sort({ _id: -1 })
    .toArray();
  const shown = docs.slice(0, limit);
  if (docs.length > limit) return { docs: shown, nextBefore: shown.at(-1)!._id };
  return { docs: shown, nextBefore: examinedFrom > start ? ids.$gte : null };
}

/** Ids sort as text: a day's first id is above all of the day before. */
function capCursor(before: string | undefined, dayAfter: Day): string {
  const end = formatDay(dayAfter);
  return before === undefined || before > end ? end : before;
}

function parseCursorDay(id: string): Day {
  return parseDay(id.slice(0, 'YYYY-MM-DD'.length));
}

/** A direction selects among revealed forecasts alone: among others it would disclose it. */
function toConditions({ horizonDays, state, direction, regime }: ForecastFilter): Filter<ForecastDoc> {
  return {
    ...(state !== null && STATES[state]),
    ...(horizonDays !== null && { horizonDays }),
    ...(direction !== null && { 'values.direction': direction, reveal: { $ne: null } }),
    ...(regime !== null && { regime }),
  };
}
