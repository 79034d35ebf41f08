import type { z } from 'zod';
import { formatDay } from '../../forecast/day.ts';
import type { Caller } from '../../record/caller.ts';
import { accuracyByVenue, crowdAccuracy } from '../../record/crowd/crowd-accuracy.ts';
import { type CrowdPin, isSettled, readPins } from '../../record/crowd/pins.ts';
import { weeklyComparison, weekPins } from '../../record/crowd/weekly-comparison.ts';
import { forecastId } from '../../record/forecast.ts';
import { readableThrough } from '../../record/readable-through.ts';
import { type ForecastView, viewForecast } from '../../record/views.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { CROWD_ACCURACY_REPLY, CROWD_VS_ORACLE_REPLY } from '../schemas/crowd.ts';

/** Strikes are weekly: the forecast beside them is that of the default horizon. */
const FORECAST_DAYS = 7;

const PAPER = 'paper';
const PAPER_NOTE = 'Quotes of the paper venue are made by this service to wager without money: they stand for no real crowd.';
const GATED_NOTE =
  'Outcomes and probabilities are told up to `throughDate`: of a later day they would give a forecast away that is still unresolved.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demo first started.';

/** Interface, section 4.1: the crowd of prediction markets against the oracle. */
export function crowdRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/crowd-vs-oracle',
      name: 'getCrowdVsOracle',
      tag: 'crowd',
      summary: 'Weekly head-to-head of the prediction-market crowd against the oracle, on the strike closest to the money',
      reply: CROWD_VS_ORACLE_REPLY,
      handle: ({ caller }) => crowdVsOracle(parts, caller),
    }),
    route({
      path: '/api/svc/crowd-accuracy',
      name: 'getCrowdAccuracy',
      tag: 'crowd',
      summary: 'How accurate the prices of prediction markets have been, with intervals and a reliability table',
      reply: CROWD_ACCURACY_REPLY,
      handle: ({ caller }) => crowdAccuracyReply(parts, caller),
    }),
  ];
}

async function crowdVsOracle(parts: HttpParts, caller: Caller): Promise<Reply<z.input<typeof CROWD_VS_ORACLE_REPLY>>> {
  const { pins, through } = await crowdOf(parts, caller);
  const ofBook = pins.filter(({ venue }) => parts.sameBook.includes(venue));
  const { weeks, totals } = weeklyComparison(ofBook, through, await weeklyForecasts(parts, ofBook, caller));
  const body = {
    success: true as const,
    ...headOf(parts, through),
    totals,
    weeks,
    count: weeks.length,
    ...footOf(parts, ofBook, through),
  };
  return { headers: { ETag: weakEtag(body) }, body };
}

/** The 7-day forecasts of the days whose strikes stand for their weeks, as the caller may see them. */
async function weeklyForecasts({ record, viewFor }: HttpParts, pins: readonly CrowdPin[], caller: Caller): Promise<ForecastView[]> {
  const docs = await record.byIds(weekPins(pins).map(({ day }) => forecastId(day, FORECAST_DAYS)));
  return docs.map((doc) => viewForecast(doc, viewFor(caller)));
}

async function crowdAccuracyReply(parts: HttpParts, caller: Caller): Promise<Reply<z.input<typeof CROWD_ACCURACY_REPLY>>> {
  const { pins, through } = await crowdOf(parts, caller);
  const told = pins.filter(isSettled).filter(({ day }) => through === null || day <= through);
  const body = {
    success: true as const,
    ...headOf(parts, through),
    ...crowdAccuracy(told.filter(({ venue }) => parts.sameBook.includes(venue))),
    byVenue: accuracyByVenue(told).map(({ venue, ...accuracy }) => ({ venue, quotesAreOurs: venue === PAPER, ...accuracy })),
    ...footOf(parts, told, through),
  };
  return { headers: { ETag: weakEtag(body) }, body };
}

async function crowdOf(parts: HttpParts, caller: Caller): Promise<{ pins: CrowdPin[]; through: number | null }> {
  const [pins, through] = await Promise.all([readPins(parts), readableThrough(parts.record, parts.viewFor(caller))]);
  return { pins, through };
}

function headOf({ venueName, sameBook }: HttpParts, through: number | null) {
  return {
    venue: venueName,
    quotesAreOurs: sameBook.includes(PAPER),
    throughDate: through === null ? null : formatDay(through),
  };
}

function footOf({ market, now }: HttpParts, pins: readonly CrowdPin[], through: number | null) {
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
