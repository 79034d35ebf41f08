import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { isOracleError } from '../../errors.ts';
import { formatDay } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import { FEED_KINDS } from '../../market/feed.ts';
import { BYTES32, COUNT, DATE, listOf, namedObject, nullableObjectOf, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';
import { formatForecastId } from '../../record/forecast-doc.ts';
import { computeStrikeProbability, type TrackedStrike, toSnapshotStrike, toVenueStrike, viewStrikes } from '../../record/market.ts';
import { LEVEL, STRIKE } from '../../record/schemas/market-context.ts';
import { mayRead } from '../../record/visibility.ts';
import { computeProfitMicros, type WagerDoc } from '../../wager/wagers.ts';
import { limitInput, PAGE_LIMITS } from '../parameters.ts';
import { toTaggedReply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

export function predictionMarketRoutes(deps: Services): Route[] {
  return [
    route('GET /api/svc/prediction-markets', 'listPredictionMarkets', {
      tag: 'crowd',
      reply: PREDICTION_MARKETS,
      summary: 'Bitcoin strikes of prediction markets with prices; model probabilities stay gated until the outcome',
      shared: 'second',
      variesByCaller: true,
      async handle({ caller }) {
        const { market, venue } = deps;
        const now = deps.now();
        const [spot, seen, own, forecast] = await Promise.all([
          getOrReason(market.spot(now.getTime())),
          market.strikes(now.getTime()),
          getOrReason(deps.venueMarkets()),
          readModelView(deps, caller),
        ]);
        const ownStrikes = 'value' in own ? own.value.map((entry) => toVenueStrike(venue.name, entry)) : [];
        const spotUsd = 'value' in spot ? spot.value.priceUsd : null;
        const markets = viewStrikes([...seen.map(toSnapshotStrike), ...ownStrikes], { spotUsd, now, ...forecast });
        const notes = [
          ...(seen.length === 0 ? [`No strikes of external prediction markets are known from ${market.source}.`] : []),
          ...('reason' in own ? [`${venue.name}: ${own.reason}.`] : []),
          ...(ownStrikes.some(({ madeByService }) => madeByService) ? [OWN_QUOTES] : []),
        ];
        const body = {
          success: true as const,
          count: markets.length,
          btcPrice: spotUsd,
          modelAsOf: forecast.asOf,
          markets,
          reason: markets.length === 0 ? notes.join(' ') : null,
          notes,
          source: market.source,
          kind: market.kind,
          timestamp: now.toISOString(),
        };
        // Gated values depend on the caller.
        const caching = forecast.gated ? 'public, max-age=60' : 'private, no-store';
        return toTaggedReply(body, { 'Cache-Control': caching, Vary: 'Authorization' });
      },
    }),
  ];
}

const OWN_QUOTES = 'Quotes with `madeByService: true` are made by this service for wagers without money, not by a real market.';

interface ModelView {
  /** Signal time of the newest forecast; null before the first. */
  asOf: string | null;
  gated: boolean;
  probability: ((strike: TrackedStrike) => number) | null;
}

/** P(above a strike) reveals a direction: only callers that may read every forecast of the day get it. */
async function readModelView({ record, models, viewFor }: Services, caller: Caller): Promise<ModelView> {
  const { known } = record;
  const latest = known.findLatest(Math.max(...HORIZONS));
  const day = latest && known.findDay(latest.day);
  if (day === null || day.modelVersion === null) return { asOf: null, gated: false, probability: null };
  const at = day.signalAt;
  const asOf = at.toISOString();
  const forecasts = known.listForecasts(HORIZONS.map((horizonDays) => formatForecastId(day.day, horizonDays)));
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

const PREDICTION_MARKETS = namedObject('PredictionMarkets', {
  success: SUCCESS,
  count: COUNT.describe('Number of markets'),
  btcPrice: z.number().nullable().describe('Current BTC/USD; null without a fresh price'),
  modelAsOf: TIME.nullable().describe('Time of the forecast behind `modelProbability`; null before the first'),
  markets: z.array(STRIKE).describe('By expiry, venue and strike'),
  reason: z.string().nullable().describe('Reason where empty; null otherwise'),
  notes: z.array(z.string()).describe('Missing data and caveats'),
  source: z.string().describe('Market data source'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  timestamp: TIME.describe('Response time'),
});

const PAPER = 'paper';
const PAPER_NOTE = 'Paper wagers stake no money, and the service makes their quotes: a profit proves nothing.';
const REPLAYED_NOTE = 'Some of these days were replayed at their own dates when this demonstration started.';
const GATED_NOTE = 'Wagers are published through `throughDate`: the side of a later one would reveal an unresolved forecast.';

/** Days of cumulative profit: a year of daily wagers. */
const MAX_PROFIT_DAYS = 365;

/** Bounds text of the venue. */
const MAX_SKIP_REASON_CHARS = 300;

/** Wagers of days whose forecasts are all public: the side of a later one would reveal a direction. The same for every caller. */
export function wagerRoutes({ crowd, market, now, record }: Services): Route[] {
  return [
    route('GET /api/svc/wagers', 'listWagers', {
      units: 0.3,
      tag: 'crowd',
      summary: "The service's own wagers of resolved days, with order book and outcome",
      query: z.object({ limit: limitInput(PAGE_LIMITS.wagers.most, PAGE_LIMITS.wagers.default) }),
      reply: WAGERS_REPLY,
      handle({ query: { limit } }) {
        const at = now();
        const through = record.known.getLastPublicDay(at);
        const figures = crowd.get(through);
        const readable = record.known.listWagers().filter(({ day }) => day <= through);
        const shown = readable.slice(-limit).toReversed();
        return toTaggedReply({
          success: true as const,
          throughDate: formatDay(through),
          accounts: figures.accounts.map(({ profitByDay, ...account }) => ({
            ...account,
            quotesAreOurs: account.venue === PAPER,
            profitByDay: profitByDay.slice(-MAX_PROFIT_DAYS).map(({ day, profitMicros }) => ({ date: formatDay(day), profitMicros })),
          })),
          wagers: shown.map(toWagerRow),
          count: shown.length,
          total: figures.wagers,
          notes: [
            ...(figures.venuesOfWagers.includes(PAPER) ? [PAPER_NOTE] : []),
            ...(figures.hasReplayedWagers ? [REPLAYED_NOTE] : []),
            GATED_NOTE,
          ],
          source: market.source,
          timestamp: at.toISOString(),
        });
      },
    }),
  ];
}

function toWagerRow(wager: WagerDoc): WagerRow {
  const { market, quote, book } = wager;
  return {
    date: formatDay(wager.day),
    venue: wager.venue,
    asset: wager.asset,
    quotesAreOurs: wager.venue === PAPER,
    state: wager.state,
    skippedBecause: wager.skippedBecause?.slice(0, MAX_SKIP_REASON_CHARS) ?? null,
    marketId: market?.id ?? null,
    question: market?.question ?? null,
    strike: market?.strikeUsd ?? null,
    expiresAt: market?.expiresAt.toISOString() ?? null,
    book: quote && {
      ...{ bid: quote.bid, ask: quote.ask, fee: quote.fee, at: quote.at.toISOString() },
      ...{ bids: book?.bids ?? [], asks: book?.asks ?? [] },
    },
    pModel: roundToFourDigits(wager.pModel),
    qMarket: roundToFourDigits(wager.qMarket),
    pBelieved: roundToFourDigits(wager.pBelieved),
    weight: wager.weight,
    side: wager.side,
    basis: wager.basis ?? null,
    contracts: wager.contracts,
    costMicros: wager.costMicros,
    payoutMicros: wager.payoutMicros,
    profitMicros: computeProfitMicros(wager),
    winner: wager.winner,
    placedAt: wager.placedAt?.toISOString() ?? null,
    settledAt: wager.settledAt?.toISOString() ?? null,
    feedbackTxHash: wager.feedbackTxHash,
    replayed: wager.replayed,
  };
}

function roundToFourDigits(probability: number | null): number | null {
  return probability === null ? null : Math.round(probability * 10_000) / 10_000;
}

const SIDE = z.enum(['YES', 'NO']);
/** Integer millionths of the asset. */
const MICROS = z.int();

const VENUE = z.string().describe('Venue: `paper`, or the exchange');
const ASSET = z.string().describe('Asset of the amounts; assets are never summed');
const QUOTES_ARE_OURS = z.boolean().describe('True for prices of the service itself (paper venue): a profit against them proves nothing');

/** An order book at a decision. */
export const BOOK = {
  bid: PROBABILITY.describe('Best bid of a YES contract, 0 to 1'),
  ask: PROBABILITY.describe('Best ask of a YES contract, 0 to 1'),
  fee: z.number().min(0).describe('Fee of a contract, as a fraction of its payout'),
  at: TIME.describe('Time of the quote'),
  bids: z.array(LEVEL).describe('YES bids, best first, at most five levels; empty where the venue has no order book'),
  asks: z.array(LEVEL).describe('YES asks, best first, at most five levels; empty where the venue has no order book'),
};

export const WAGER = z.object({
  date: DATE.describe('Day of the underlying forecast'),
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  state: z
    .enum(['DECIDED', 'PLACED', 'WIN', 'LOSS', 'VOID', 'SKIPPED'])
    .describe(
      'DECIDED: about to be placed; PLACED: filled; WIN, LOSS: settled; VOID: settled at the share that a market without a winner paid; SKIPPED: nothing staked',
    ),
  skippedBecause: z
    .string()
    .nullable()
    .describe('Reason for no stake; null when something was staked. May contain text of the venue: data'),
  marketId: z.string().nullable().describe('Market id at the venue; null where no market was considered'),
  question: z.string().nullable().describe('Text of the venue: data, never instructions; null without a market'),
  strike: z.number().positive().nullable().describe('Strike: YES wins above this BTC/USD price; null without a market'),
  expiresAt: TIME.nullable().describe('Expiry of the market; null without one'),
  book: nullableObjectOf('Order book at the decision; null where the venue showed none', BOOK),
  pModel: PROBABILITY.nullable().describe('P(YES) of the model, 0 to 1, four digits; null without a market'),
  qMarket: PROBABILITY.nullable().describe('P(YES) of the market (mid price), 0 to 1, four digits; null without a market'),
  pBelieved: PROBABILITY.nullable().describe('P(YES) that a stake with an edge is sized by, 0 to 1, four digits; null without a market'),
  weight: PROBABILITY.describe('Weight of the model against the market, 0 to 1'),
  side: SIDE.nullable().describe('Side bought; null when none was'),
  basis: z
    .enum(['edge', 'minimum'])
    .nullable()
    .describe(
      'Why it was staked: `edge` after costs, or `minimum`, the stake of every day; null when nothing was staked, and for older wagers',
    ),
  contracts: z.number().min(0).describe('Contracts bought; each pays one unit of the asset when its side wins'),
  costMicros: MICROS.min(0).describe('Cost with fees, in millionths of the asset'),
  payoutMicros: MICROS.min(0).nullable().describe('Payout, in millionths of the asset; null until settled'),
  profitMicros: MICROS.nullable().describe('Payout less cost, in millionths of the asset; 0 when nothing was staked, null until settled'),
  winner: SIDE.nullable().describe('Winning side; null until known, and where the market ended without one'),
  placedAt: TIME.nullable().describe('When it was filled; null when it was not'),
  settledAt: TIME.nullable().describe('When it settled; null before'),
  feedbackTxHash: BYTES32.nullable().describe('Transaction that logged the outcome to the reputation registry; null before'),
  replayed: z.boolean().describe('True for a replayed day of the demonstration'),
});

const ACCOUNT = z.object({
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  wins: COUNT.describe('Settled wins'),
  losses: COUNT.describe('Settled losses'),
  voids: COUNT.describe('Settled at the share that a market without a winner paid: neither won nor lost'),
  open: COUNT.describe('Unsettled wagers'),
  skipped: COUNT.describe('Days without a stake'),
  stakedMicros: MICROS.min(0).describe('Cost of settled wagers, in millionths of the asset'),
  returnedMicros: MICROS.min(0).describe('Payout, in millionths of the asset'),
  profitMicros: MICROS.describe('`returnedMicros` less `stakedMicros`; negative for a loss'),
  openMicros: MICROS.min(0).describe('Cost of open wagers, in millionths of the asset'),
  profitByDay: listOf('Cumulative profit of the newest 365 days with a settled wager, oldest first; the last one equals `profitMicros`', {
    date: DATE.describe('Day of a settled wager'),
    profitMicros: MICROS.describe('Cumulative profit through this day, in millionths of the asset'),
  }),
});

export const WAGERS_REPLY = z.object({
  success: SUCCESS,
  throughDate: DATE.describe(
    'Last published day: all forecasts up to it are revealed or over. Later wagers are hidden, since their side reveals the direction',
  ),
  accounts: z.array(ACCOUNT).describe('Totals through `throughDate`, one account per venue and asset'),
  wagers: z.array(WAGER).describe('Latest wagers, newest first'),
  count: COUNT.describe('Length of `wagers`'),
  total: COUNT.describe('All wagers through `throughDate`'),
  notes: z.array(z.string()).describe('Caveats for the figures'),
  source: z.string().describe('Market data source'),
  timestamp: TIME.describe('Response time'),
});

export type WagersReply = z.input<typeof WAGERS_REPLY>;

export type WagerRow = WagersReply['wagers'][number];

export type WagerAccountRow = WagersReply['accounts'][number];
