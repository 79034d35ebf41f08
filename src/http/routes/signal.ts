import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { formatTierRequirement, type PaidTier } from '../../auth/tiers.ts';
import { findOffering } from '../../commerce/offerings.ts';
import { MODEL_INPUTS } from '../../forecast/model.ts';
import { CATEGORY_NAMES } from '../../forecast/signal.ts';
import { COUNT, DATE, keyedObject, listOf, namedObject, objectOf, PROBABILITY } from '../../platform/validation.ts';
import { getExpectedRange, getExpectedRanges } from '../../record/distributions.ts';
import { getOracleSignal, getPremiumSignal } from '../../record/prediction.ts';
import { getPublicSignal, type OracleDeps } from '../../record/public-signal.ts';
import { EXPECTED_RANGE, FORECAST_ID, REGIME } from '../../record/schemas/forecast.ts';
import { LEGACY_SIGNAL, ORACLE_SIGNAL, PUBLIC_SIGNAL, RECENT_COUNTS } from '../../record/schemas/signal.ts';
import { PREDICTION_MARKET, PUBLISHED_SUMMARY, RECORD_DETAILS } from '../../record/schemas/track-record.ts';
import type { HttpDeps } from '../deps.ts';
import { signalDaysInput } from '../parameters.ts';
import { buildWeakEtag } from '../replies.ts';
import { type Route, route } from '../route.ts';
import { REGIME_DETAIL, RISK_LEVEL } from './market.ts';
import { STRIKE } from './prediction-markets.ts';

const query = z.object({ horizon: signalDaysInput });

/** Interface, section 2.2. */
export function oracleRoutes(deps: OracleDeps): Route[] {
  return [
    route('GET /api/svc/oracle', 'getOracleSignal', {
      tag: 'signal',
      access: 'basic',
      boughtAs: findOffering('x402', 'x402_signal'),
      summary: 'The newest forecast of a horizon with direction, confidence and on-chain proof',
      description: 'Where the newest day was missed, the latest existing forecast is returned, with `missedSince` and `stale`.',
      query,
      reply: ORACLE_SIGNAL,
      errors: ['STEP_WAITING'],
      sharedByTier: true,
      personalize: (body, caller) => ({ ...body, access: toAccessMember(caller, 'basic') }),
      handle: async ({ query: { horizon }, caller }) => ({
        body: { success: true as const, ...(await getOracleSignal(deps, horizon, caller)), access: toAccessMember(caller, 'basic') },
      }),
    }),
    route('GET /api/svc/oracle/premium', 'getPremiumSignal', {
      tag: 'signal',
      access: 'premium',
      boughtAs: findOffering('x402', 'x402_premium_signal'),
      summary: 'The Basic signal plus context, categories, thresholds, distribution, strikes, model and record',
      description: 'An unavailable part is null or empty; `missing` has the reason.',
      query,
      reply: PREMIUM_SIGNAL,
      errors: ['STEP_WAITING'],
      sharedByTier: true,
      personalize: (body, caller) => ({ ...body, access: toAccessMember(caller, 'premium') }),
      handle: async ({ query: { horizon }, caller }) => ({
        body: { success: true as const, ...(await getPremiumSignal(deps, horizon, caller)), access: toAccessMember(caller, 'premium') },
      }),
    }),
  ];
}

function toAccessMember({ tier, wallet }: Caller, required: PaidTier): z.input<typeof ORACLE_SIGNAL>['access'] {
  return { tier, wallet: wallet ?? null, requirement: formatTierRequirement(required) };
}

const CATEGORY = namedObject('SignalCategory', {
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('BUY from 0.2, SELL from -0.2 down'),
  score: z.number().min(-1).max(1).describe('-1 to 1; 0 when no input was available'),
});

const FEAR_GREED = z.int().min(0).max(100).nullable().describe('Fear & Greed index at signal time, 0 to 100; null when none was recent');
const ETF_FLOWS = z
  .number()
  .nullable()
  .describe('Net flow into US spot Bitcoin ETFs over the previous 7 calendar days, USD; null when none has a figure');

const THETA = z.number().describe('Distance of P(up) from one half at which BUY or SELL begins');

const THRESHOLDS = namedObject('Thresholds', {
  regime: REGIME.describe('Regime that determines them'),
  theta: THETA,
  buyFrom: PROBABILITY.describe('BUY where P(up) is at least this'),
  sellUpTo: PROBABILITY.describe('SELL where P(up) is at most this'),
  regimes: listOf('Thresholds of all regimes', {
    regime: REGIME.describe('A regime'),
    theta: THETA,
    riskLevel: RISK_LEVEL.describe('Risk level'),
    daysToEnter: COUNT.describe('Consecutive days that its rule must hold before it begins'),
  }),
});

const { venue, marketId, question, strikeUsd, expiresAt, bid, ask, yesPrice, bids, asks } = STRIKE.shape;
const { atTheMoney, madeByService, url, observedAt, stale } = STRIKE.shape;

const PRICED_STRIKE = namedObject('Strike', {
  ...{ venue, marketId, question, strike: strikeUsd, expiresAt, bid, ask, yesPrice, bids, asks },
  modelProbability: PROBABILITY.nullable().describe('P(price above the strike at expiry) by this forecast, 0 to 1; null without its model'),
  difference: z.number().nullable().describe('`modelProbability` less `yesPrice`, before costs'),
  ...{ atTheMoney, madeByService, url, observedAt, stale },
});

const MODEL = namedObject('Model', {
  version: z.string().describe('Version: method and first day of the block that the fit serves'),
  method: z.string().describe('Name of the method'),
  trainFrom: DATE.describe('First training day'),
  trainTo: DATE.describe('Last training day'),
  trainingDays: COUNT.describe('Number of training days'),
  baseRate: PROBABILITY.describe('Shrunk share of rises in training'),
  climatology: PROBABILITY.describe('Base rate stored with the forecast, its benchmark'),
  coefficients: keyedObject(['intercept', ...MODEL_INPUTS], (key) =>
    z.number().describe(key === 'intercept' ? 'Log odds' : `Log odds per unit of the ${key} score`),
  ).describe('Coefficients of the logistic regression'),
  inputMeans: keyedObject(MODEL_INPUTS, (key) => z.number().describe(`Mean of the ${key} score`)).describe(
    'Training means: the deviation is the sum of coefficient times (score less mean)',
  ),
  calibration: objectOf('logit P(up) = logit(baseRate) + intercept + slope * deviation', {
    intercept: z.number().describe('Log odds'),
    slope: z.number().min(0).max(1).describe('Retained share of the deviation'),
  }),
  trainingDigest: z.string().describe('Digest of all data available to the fit'),
  trials: COUNT.describe('Model variants tried before this one'),
});

/** Interface, section 2.2. */
export const PREMIUM_SIGNAL = namedObject('PremiumSignal', {
  ...ORACLE_SIGNAL.shape,
  marketContext: objectOf('Public figures at signal time', {
    fearGreed: FEAR_GREED,
    etfFlows7d: ETF_FLOWS,
    etfFlows7dThrough: PUBLIC_SIGNAL.shape.etfFlows7dThrough,
  }),
  market_context: objectOf('The same in snake case', {
    btc_price: z.number().describe('BTC/USD at signal time'),
    fear_greed: FEAR_GREED,
    etf_flow_7d: ETF_FLOWS,
  }),
  accuracy: objectOf('Recent hit rate of this horizon', {
    last30d: PROBABILITY.describe('Hit rate of forecasts whose windows ended within 30 days; 0, not a measurement, where `n` is 0'),
    ...RECENT_COUNTS,
  }).meta({ id: 'RecentHitRate' }),
  categories: keyedObject(CATEGORY_NAMES, (key) => CATEGORY.describe(`The ${key} category`))
    .meta({ id: 'SignalCategories' })
    .nullable()
    .describe('Scores by category; null when none were stored'),
  thresholds: THRESHOLDS.describe('Thresholds of BUY and SELL'),
  regimeDetail: REGIME_DETAIL.nullable().describe('Regime with its factors, as in `GET /api/svc/regime`'),
  quantiles: listOf('Predictive quantiles of the price at resolution, ascending', {
    level: PROBABILITY.describe('P(price ends below)'),
    price: z.number().describe('BTC/USD at resolution, to the cent'),
  }).meta({ id: 'Quantiles' }),
  strikes: z.array(PRICED_STRIKE).describe('Open prediction-market strikes near the money; empty when none are known'),
  predictionMarket: PREDICTION_MARKET.describe('Model against prediction markets, on settled wagers'),
  model: MODEL.nullable().describe('Fitted model of the forecast'),
  scorecard: objectOf('Record of the horizon', {
    horizon: FORECAST_ID.horizon,
    summary: PUBLISHED_SUMMARY.describe('Counts, accuracy and their significance'),
    ...RECORD_DETAILS,
  }).meta({ id: 'HorizonRecord' }),
  missing: listOf('Unavailable parts; empty when nothing is missing', {
    part: z.string().describe('Null or empty part of this answer'),
    reason: z.string().describe('Why'),
  }),
});

const PATH = '/api/svc/open/signal';
const LEGACY_HORIZON_DAYS = 7;

/** `Deprecation` date of the legacy signal: a structured-field date (RFC 9745), Unix seconds. */
const DEPRECATED_SINCE = Date.parse('2026-01-01T00:00:00Z') / 1000;

/** Interface, section 2.1, and its legacy shape. */
export function signalRoutes(deps: HttpDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'getPublicSignal', {
      tag: 'signal',
      reply: PUBLIC_SIGNAL,
      errors: ['STEP_WAITING'],
      summary: 'Public signal: market context; direction and confidence stay gated until the outcome',
      query,
      sharedByTier: true,
      variesByCaller: true,
      handle: async ({ query: { horizon }, caller }) => ({ body: await getPublicSignal(deps, horizon, caller) }),
    }),
    route('GET /api/svc/open/range', 'getExpectedRange', {
      tag: 'signal',
      reply: EXPECTED_RANGE,
      errors: ['STEP_WAITING'],
      summary: 'Central 50, 80 and 90 % range of the price at the end of a horizon, without its direction',
      description:
        'Width alone: each range is symmetric in the logarithm around the price at signal time. Its half width is half the distance ' +
        'between the two quantiles of the champion that bound the share, which no direction and no probability of a rise can change. ' +
        'The committed distribution has the same width around another centre, opened at resolution. At 7d every version so far has ' +
        'the width of `m0-d1`.',
      query: z.object({
        horizon: signalDaysInput,
        horizons: z.enum(['all'], { error: 'must be all' }).optional().describe('`all` adds the ranges of every horizon as `horizons`'),
      }),
      sharedByTier: true,
      async handle({ query }) {
        const body = await (query.horizons === 'all' ? getExpectedRanges : getExpectedRange)(deps, query.horizon);
        return { headers: { ETag: buildWeakEtag(body) }, body };
      },
    }),
    route('GET /api/svc/signal', 'getLegacySignal', {
      tag: 'signal',
      deprecated: true,
      reply: LEGACY_SIGNAL,
      errors: ['STEP_WAITING'],
      summary: 'Legacy signal: the 7-day public signal in an older, flat shape',
      description: `Successor: \`GET ${PATH}\`, with all horizons, as in the headers \`Deprecation\` (RFC 9745) and \`Link\`.`,
      variesByCaller: true,
      async handle({ caller }) {
        const view = await getPublicSignal(deps, LEGACY_HORIZON_DAYS, caller);
        const { signal, confidence, btcPrice, regime, modelVersion, timestamp, source, replayed } = view;
        const successor = `${deps.publicUrl}${PATH}`;
        return {
          headers: { Deprecation: `@${DEPRECATED_SINCE}`, Link: `<${successor}>; rel="successor-version"` },
          body: {
            success: true as const,
            signal,
            confidence,
            btcPrice,
            btc_price: btcPrice,
            price: btcPrice,
            regime,
            modelVersion,
            model_version: modelVersion,
            timestamp,
            horizon: `${LEGACY_HORIZON_DAYS}d` as const,
            source,
            replayed,
            deprecated: true as const,
            successor,
          },
        };
      },
    }),
  ];
}
