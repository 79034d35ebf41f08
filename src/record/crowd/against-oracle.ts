import { type Day, formatDay } from '../../forecast/day.ts';
import type { Market } from '../../market/market.ts';
import type { WagerBook } from '../../wager/wagers.ts';
import type { Caller } from '../caller.ts';
import { forecastId } from '../forecast.ts';
import { readableThrough } from '../readable-through.ts';
import type { ForecastRecord } from '../record.ts';
import { type ForecastView, type ViewOptions, viewForecast } from '../views.ts';
import { type DisagreementLog, disagreementLog } from './disagreements.ts';
import { type CrowdPin, readPins } from './pins.ts';
import { type WeeklyComparison, weeklyComparison, weekPins } from './weekly-comparison.ts';

/** Strikes are weekly: the forecast beside them is that of the default horizon. */
const FORECAST_DAYS = 7;

const PAPER = 'paper';
const PAPER_NOTE = 'Quotes of the paper venue are made by this service to wager without money: they stand for no real crowd.';
const GATED_NOTE =
  'Outcomes and probabilities are told up to `throughDate`: of a later day they would give a forecast away that is still unresolved.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';

export interface CrowdParts {
  record: ForecastRecord;
  wagers: WagerBook;
  market: Pick<Market, 'source'>;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  viewFor(caller: Caller): ViewOptions;
  now(): Date;
}

/** What stands above every comparison with the crowd. */
export interface CrowdHead {
  venue: string;
  quotesAreOurs: boolean;
  throughDate: string | null;
}

/** What stands under it. */
export interface CrowdFoot {
  notes: string[];
  source: string;
  timestamp: string;
}

/** The weekly head-to-head as a caller may see it. */
export interface CrowdAgainstOracle extends CrowdHead, WeeklyComparison, DisagreementLog, CrowdFoot {
  count: number;
}

/** Crowd against oracle on the venue's own book, one strike a week; see `weeklyComparison`. */
export async function crowdAgainstOracle(parts: CrowdParts, caller: Caller): Promise<CrowdAgainstOracle> {
  const { pins, through } = await crowdPins(parts, caller);
  const ofBook = pins.filter(({ venue }) => parts.sameBook.includes(venue));
  const { weeks, totals } = weeklyComparison(ofBook, through, await weeklyForecasts(parts, ofBook, caller));
  const log = disagreementLog(weeks);
  return { ...crowdHead(parts, through), totals, weeks, count: weeks.length, ...log, ...crowdFoot(parts, ofBook, through) };
}

/** All pins, and the last day whose figures the caller may know; null without a limit. */
export async function crowdPins(parts: CrowdParts, caller: Caller): Promise<{ pins: CrowdPin[]; through: Day | null }> {
  const [pins, through] = await Promise.all([readPins(parts), readableThrough(parts.record, parts.viewFor(caller))]);
  return { pins, through };
}

/** The 7-day forecasts of the days whose strikes stand for their weeks, as the caller may see them. */
async function weeklyForecasts({ record, viewFor }: CrowdParts, pins: readonly CrowdPin[], caller: Caller): Promise<ForecastView[]> {
  const docs = await record.byIds(weekPins(pins).map(({ day }) => forecastId(day, FORECAST_DAYS)));
  return docs.map((doc) => viewForecast(doc, viewFor(caller)));
}

export function crowdHead({ venueName, sameBook }: Pick<CrowdParts, 'venueName' | 'sameBook'>, through: Day | null): CrowdHead {
  return { venue: venueName, quotesAreOurs: sameBook.includes(PAPER), throughDate: through === null ? null : formatDay(through) };
}

export function crowdFoot({ market, now }: Pick<CrowdParts, 'market' | 'now'>, pins: readonly CrowdPin[], through: Day | null): CrowdFoot {
  return {
    notes: [
      ...(pins.some(({ venue }) => venue === PAPER) ? [PAPER_NOTE] : []),
      ...(pins.some(({ replayed }) => replayed) ? [REPLAYED_NOTE] : []),
      ...(through === null ? [] : [GATED_NOTE]),
    ],
    source: market.source,
    timestamp: now().toISOString(),
  };
}
