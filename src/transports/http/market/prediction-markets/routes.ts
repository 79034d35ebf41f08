import type { Caller } from '../../../../auth/caller.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { isOracleError } from '../../../../platform/errors.ts';
import { mayRead } from '../../../../record/forecast-visibility.ts';
import { computeStrikeProbability } from '../../../../record/market/strike-probability.ts';
import { type TrackedStrike, toSnapshotStrike, toVenueStrike, viewStrikes } from '../../../../record/market/strike-view.ts';
import type { HttpDeps } from '../../deps.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { PREDICTION_MARKETS, type PredictionMarkets } from './schemas.ts';

type PredictionMarketDeps = Pick<HttpDeps, 'market' | 'models' | 'now' | 'record' | 'venueMarkets' | 'venueName' | 'viewFor'>;

export function predictionMarketRoutes(deps: PredictionMarketDeps): Route[] {
  return [
    route('GET /api/svc/prediction-markets', 'listPredictionMarkets', {
      tag: 'crowd',
      reply: PREDICTION_MARKETS,
      summary: 'Bitcoin strikes of prediction markets with prices; model probabilities stay gated until the outcome',
      sharedByTier: true,
      variesByCaller: true,
      handle: ({ caller }) => readPredictionMarkets(deps, caller),
    }),
  ];
}

async function readPredictionMarkets(deps: PredictionMarketDeps, caller: Caller): Promise<Reply<PredictionMarkets>> {
  const now = deps.now();
  const [spot, seen, own, forecast] = await Promise.all([
    getOrReason(deps.market.spot(now.getTime())),
    deps.market.strikes(now.getTime()),
    getOrReason(deps.venueMarkets()),
    readModelView(deps, caller),
  ]);
  const ownStrikes = 'value' in own ? own.value.map((entry) => toVenueStrike(deps.venueName, entry)) : [];
  const spotUsd = 'value' in spot ? spot.value.priceUsd : null;
  const markets = viewStrikes([...seen.map(toSnapshotStrike), ...ownStrikes], { spotUsd, now, ...forecast });
  const notes = [
    ...(seen.length === 0 ? [`No strikes of external prediction markets are known from ${deps.market.source}.`] : []),
    ...('reason' in own ? [`${deps.venueName}: ${own.reason}.`] : []),
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
    source: deps.market.source,
    kind: deps.market.kind,
    timestamp: now.toISOString(),
  };
  // Gated values depend on the caller.
  return {
    headers: {
      'Cache-Control': forecast.gated ? 'public, max-age=60' : 'private, no-store',
      Vary: 'Authorization',
      ETag: buildWeakEtag(body),
    },
    body,
  };
}

const OWN_QUOTES = 'Quotes with `madeByService: true` are made by this service for wagers without money, not by a real market.';

interface ModelView {
  /** Signal time of the newest forecast; null before the first. */
  asOf: string | null;
  gated: boolean;
  probability: ((strike: TrackedStrike) => number) | null;
}

/** P(above a strike) reveals a direction: only callers that may read every forecast of the day get it. */
async function readModelView({ record, models, viewFor }: PredictionMarketDeps, caller: Caller): Promise<ModelView> {
  const latest = await record.findLatest(Math.max(...HORIZONS));
  const day = latest === null ? null : await record.findDay(latest.day);
  if (day === null || day.modelVersion === null) return { asOf: null, gated: false, probability: null };
  const at = day.signalAt;
  const asOf = at.toISOString();
  const forecasts = await record.listByDay(day.day);
  const view = viewFor(caller);
  if (!forecasts.every((forecast) => mayRead(forecast, view))) return { asOf, gated: true, probability: null };
  const model = await models.get(day.modelVersion);
  return {
    asOf,
    gated: false,
    probability: ({ strikeUsd, expiresAt }) => computeStrikeProbability({ day, model, strikeUsd, expiresAt, at }),
  };
}

/** The value, or the message of a retryable error. */
async function getOrReason<T>(promise: Promise<T>): Promise<{ value: T } | { reason: string }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (isOracleError(error) && error.retryable) return { reason: error.message };
    throw error;
  }
}
