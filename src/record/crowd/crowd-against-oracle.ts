import { type Caller, isPublicCaller } from '../../auth/caller.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { Market } from '../../market/market.ts';
import { formatForecastId } from '../forecast-doc.ts';
import type { ForecastRecord } from '../forecast-record.ts';
import { type ViewOptions, viewForecast } from '../forecast-visibility.ts';
import { isOwnVenue } from '../own-venue.ts';
import { type CrowdPin, readPins } from './crowd-pins.ts';
import { buildDisagreementLog } from './disagreement-log.ts';
import type { MarketComparisonDeps } from './market-comparison.ts';
import { compareWeekly, selectWeekPins } from './weekly-comparison.ts';

/** Strikes are weekly: they are compared with the 7-day forecast. */
const COMPARED_HORIZON_DAYS = 7;

const PAPER_NOTE = 'Quotes of the paper venue are made by this service to wager without money: they represent no real crowd.';
const GATED_NOTE = 'Outcomes and probabilities are shown up to `throughDate`: those of a later day would disclose an unresolved forecast.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';

export interface CrowdComparisonDeps extends MarketComparisonDeps {
  market: Pick<Market, 'source'>;
  viewFor(caller: Caller): ViewOptions;
}

export async function compareCrowdWithOracle(deps: CrowdComparisonDeps, caller: Caller) {
  const { pins, through } = await readCrowdPins(deps, caller);
  const ofBook = pins.filter(({ venue }) => deps.sameBook.includes(venue));
  const { weeks, totals } = compareWeekly(ofBook, through, await readWeeklyForecasts(deps, ofBook, caller));
  const log = buildDisagreementLog(weeks);
  return { ...buildCrowdHeader(deps, through), totals, weeks, count: weeks.length, ...log, ...buildCrowdFooter(deps, ofBook, through) };
}

/** All pins, and the last day that the caller may read; null without a limit. */
export async function readCrowdPins(deps: CrowdComparisonDeps, caller: Caller): Promise<{ pins: CrowdPin[]; through: Day | null }> {
  const [pins, through] = await Promise.all([readPins(deps), getLastReadableDay(deps.record, deps.viewFor(caller))]);
  return { pins, through };
}

async function getLastReadableDay(record: ForecastRecord, { caller, policy, now }: ViewOptions): Promise<Day | null> {
  return policy === 'immediate' || !isPublicCaller(caller) ? null : record.getLastPublicDay(now);
}

async function readWeeklyForecasts({ record, viewFor }: CrowdComparisonDeps, pins: readonly CrowdPin[], caller: Caller) {
  const docs = await record.listByIds(selectWeekPins(pins).map(({ day }) => formatForecastId(day, COMPARED_HORIZON_DAYS)));
  return docs.map((doc) => viewForecast(doc, viewFor(caller)));
}

export function buildCrowdHeader({ venueName, sameBook }: Pick<CrowdComparisonDeps, 'venueName' | 'sameBook'>, through: Day | null) {
  return { venue: venueName, quotesAreOurs: sameBook.some(isOwnVenue), throughDate: through === null ? null : formatDay(through) };
}

export function buildCrowdFooter(
  { market, now }: Pick<CrowdComparisonDeps, 'market' | 'now'>,
  pins: readonly CrowdPin[],
  through: Day | null,
) {
  return {
    notes: [
      ...(pins.some(({ venue }) => isOwnVenue(venue)) ? [PAPER_NOTE] : []),
      ...(pins.some(({ replayed }) => replayed) ? [REPLAYED_NOTE] : []),
      ...(through === null ? [] : [GATED_NOTE]),
    ],
    source: market.source,
    timestamp: now().toISOString(),
  };
}
