import { type Caller, isPublicCaller } from '../../auth/caller.ts';
import { type Day, formatDay, parseDay } from '../../forecast/day.ts';
import type { Market } from '../../market/market.ts';
import { formatForecastId } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { type ViewOptions, viewForecast } from '../forecast-visibility.ts';
import { isOwnVenue } from '../own-venue.ts';
import type { CrowdFigures } from './crowd-figures.ts';
import type { MarketComparisonDeps } from './market-comparison.ts';
import type { WeekComparison } from './weekly-comparison.ts';

/** Strikes are weekly: they are compared with the 7-day forecast. */
const COMPARED_HORIZON_DAYS = 7;

const PAPER_NOTE = 'Quotes of the paper venue are made by this service to wager without money: they represent no real crowd.';
const GATED_NOTE = 'Outcomes and probabilities are shown up to `throughDate`: those of a later day would disclose an unresolved forecast.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';

export interface CrowdComparisonDeps extends MarketComparisonDeps {
  market: Pick<Market, 'source'>;
  viewFor(caller: Caller): ViewOptions;
}

export interface WeekPage {
  limit: number;
  /** Only weeks before this one, `YYYY-Www`; null: from the newest. */
  before: string | null;
}

const ALL_WEEKS: WeekPage = { limit: Number.MAX_SAFE_INTEGER, before: null };

/** Totals cover all weeks; weeks and disagreements are those of the page, newest first. */
export async function compareCrowdWithOracle(deps: CrowdComparisonDeps, caller: Caller, { limit, before }: WeekPage = ALL_WEEKS) {
  const { figures, through } = await readCrowdFigures(deps, caller);
  const { totals, disagreementTotals } = figures;
  const older = figures.weeks.filter(({ weekId }) => before === null || weekId < before);
  const weeks = await addForecasts(deps, older.slice(0, limit), caller);
  const shown = new Set(weeks.map(({ weekId }) => weekId));
  return {
    ...buildCrowdHeader(deps, through),
    totals,
    weeks,
    count: weeks.length,
    total: figures.weeks.length,
    nextCursor: older.length > limit ? weeks[weeks.length - 1].weekId : null,
    disagreements: figures.disagreements.filter(({ weekId }) => shown.has(weekId)),
    disagreementTotals,
    ...buildCrowdFooter(deps, figures.pins.comparison, through),
  };
}

/** The figures that the caller may read, and the last day that they cover; null without a limit. */
export async function readCrowdFigures(
  { crowd, record, viewFor }: CrowdComparisonDeps,
  caller: Caller,
): Promise<{ figures: CrowdFigures; through: Day | null }> {
  const through = await getLastReadableDay(record, viewFor(caller));
  return { figures: await crowd.get(through), through };
}

async function getLastReadableDay(record: ForecastRecord, { caller, policy, now }: ViewOptions): Promise<Day | null> {
  return policy === 'immediate' || !isPublicCaller(caller) ? null : record.getLastPublicDay(now);
}

async function addForecasts({ record, viewFor }: CrowdComparisonDeps, weeks: readonly WeekComparison[], caller: Caller) {
  const docs = await record.listByIds(weeks.map(({ date }) => formatForecastId(parseDay(date), COMPARED_HORIZON_DAYS)));
  const views = new Map(docs.map((doc) => [formatDay(doc.day), viewForecast(doc, viewFor(caller))]));
  return weeks.map((week) => {
    const { predictionId = null, signal = null, direction = null } = views.get(week.date) ?? {};
    return { ...week, predictionId, signal, direction };
  });
}

export function buildCrowdHeader({ venueName, sameBook }: Pick<CrowdComparisonDeps, 'venueName' | 'sameBook'>, through: Day | null) {
  return { venue: venueName, quotesAreOurs: sameBook.some(isOwnVenue), throughDate: through === null ? null : formatDay(through) };
}

export function buildCrowdFooter(
  { market, now }: Pick<CrowdComparisonDeps, 'market' | 'now'>,
  { venues, hasReplayed }: CrowdFigures['pins']['comparison'],
  through: Day | null,
) {
  return {
    notes: [
      ...(venues.some(isOwnVenue) ? [PAPER_NOTE] : []),
      ...(hasReplayed ? [REPLAYED_NOTE] : []),
      ...(through === null ? [] : [GATED_NOTE]),
    ],
    source: market.source,
    timestamp: now().toISOString(),
  };
}
