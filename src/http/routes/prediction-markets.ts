import { isOracleError } from '../../errors.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Caller } from '../../record/caller.ts';
import { strikeProbability } from '../../record/strike-probability.ts';
import { strikeOfSnapshot, strikeOfVenue, type TrackedStrike, viewStrikes } from '../../record/strike-views.ts';
import { mayRead } from '../../record/views.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { PREDICTION_MARKETS, type PredictionMarkets } from '../schemas/prediction-markets.ts';

/** Interface, section 4.1: tracked prediction markets. */
export function predictionMarketRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/prediction-markets',
      name: 'listPredictionMarkets',
      tag: 'crowd',
      reply: PREDICTION_MARKETS,
      summary: 'Strikes of prediction markets on bitcoin with their prices; what the forecast makes of them stays gated until its outcome',
      handle: ({ caller }) => predictionMarkets(parts, caller),
    }),
  ];
}

async function predictionMarkets(parts: HttpParts, caller: Caller): Promise<Reply<PredictionMarkets>> {
  const now = parts.now();
  const [spot, seen, own, forecast] = await Promise.all([
    unlessLater(parts.market.spot(now.getTime())),
    parts.market.strikes(now.getTime()),
    unlessLater(parts.venueMarkets()),
    modelView(parts, caller),
  ]);
  const ownStrikes = 'value' in own ? own.value.map((entry) => strikeOfVenue(parts.venueName, entry)) : [];
  const spotUsd = 'value' in spot ? spot.value.priceUsd : null;
  const markets = viewStrikes([...seen.map(strikeOfSnapshot), ...ownStrikes], { spotUsd, now, ...forecast });
  const notes = [
    ...(seen.length === 0 ? [`No strikes of outside prediction markets are known from ${parts.market.source}.`] : []),
    ...('reason' in own ? [`${parts.venueName}: ${own.reason}.`] : []),
    ...(ownStrikes.some(({ madeByService }) => madeByService) ? [OWN_QUOTES] : []),
  ];
  const body: PredictionMarkets = {
    success: true,
    count: markets.length,
    btcPrice: spotUsd,
    modelAsOf: forecast.asOf,
    markets,
    reason: markets.length === 0 ? notes.join(' ') : null,
    notes,
    source: parts.market.source,
    kind: parts.market.kind,
    timestamp: now.toISOString(),
  };
  // What is gated for one caller may not be for the next.
  return {
    headers: { 'Cache-Control': forecast.gated ? 'public, max-age=60' : 'private, no-store', Vary: 'Authorization', ETag: weakEtag(body) },
    body,
  };
}

const OWN_QUOTES = 'Quotes with `madeByService: true` are made by this service to wager without money: they stand for no real market.';

interface ModelView {
  /** Signal time of the newest forecast; null before the first. */
  asOf: string | null;
  gated: boolean;
  probability: ((strike: TrackedStrike) => number) | null;
}

/** P(above a strike) gives a direction away: it is for those only who may read every forecast of the day. */
async function modelView({ record, models, viewFor }: HttpParts, caller: Caller): Promise<ModelView> {
  const latest = await record.latest(Math.max(...HORIZONS));
  const day = latest === null ? null : await record.day(latest.day);
  if (day === null || day.modelVersion === null) return { asOf: null, gated: false, probability: null };
  const at = day.signalAt;
  const asOf = at.toISOString();
  const forecasts = await record.forecastsOf(day.day);
  const view = viewFor(caller);
  if (!forecasts.every((forecast) => mayRead(forecast, view))) return { asOf, gated: true, probability: null };
  const model = await models.get(day.modelVersion);
  return { asOf, gated: false, probability: ({ strikeUsd, expiresAt }) => strikeProbability({ day, model, strikeUsd, expiresAt, at }) };
}

/** The value, or in words why it cannot be had right now. */
async function unlessLater<T>(promise: Promise<T>): Promise<{ value: T } | { reason: string }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (isOracleError(error) && error.retryable) return { reason: error.message };
    throw error;
  }
}
