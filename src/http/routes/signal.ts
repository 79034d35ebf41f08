import { z } from 'zod';
import { type Prediction, type PublicPrediction, predict, predictRange } from '../../../skills/predict-btc-direction.ts';
import type { Caller } from '../../auth/caller.ts';
import { formatTierRequirement, type PaidTier } from '../../auth/tiers.ts';
import { findOffering } from '../../commerce/offerings.ts';
import { EXPECTED_RANGE } from '../../record/schemas/forecast.ts';
import { LEGACY_SIGNAL, ORACLE_SIGNAL, PREMIUM_SIGNAL, PUBLIC_SIGNAL, type PublicSignal } from '../../record/schemas/signal.ts';
import { signalDaysInput } from '../parameters.ts';
import { buildWeakEtag } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const query = z.object({ horizon: signalDaysInput });

/** Interface, section 2.2. */
export function oracleRoutes(deps: Services): Route[] {
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
      shared: 'state',
      personalize: (body, caller) => ({ ...body, access: toAccessMember(caller, 'basic') }),
      handle: async ({ query: { horizon }, caller }) => ({
        body: toOracleSignal(await predict('basic', horizon, deps, caller), toAccessMember(caller, 'basic')),
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
      shared: 'second',
      personalize: (body, caller) => ({ ...body, access: toAccessMember(caller, 'premium') }),
      handle: async ({ query: { horizon }, caller }) => ({
        body: toPremiumSignal(await predict('premium', horizon, deps, caller), toAccessMember(caller, 'premium')),
      }),
    }),
  ];
}

/** Further spellings of the interface, sections 2.1 and 2.2, by member. */
const SPELLINGS: Record<string, (answer: Prediction & PublicPrediction) => unknown> = {
  model_version: ({ modelVersion }) => modelVersion,
  accuracy_7d: ({ accuracyOfLast7Days }) => accuracyOfLast7Days,
  btc_price: ({ btcPrice }) => btcPrice,
  price: ({ btcPrice }) => btcPrice,
  market_context: ({ btcPrice, marketContext: { fearGreed, etfFlows7d } = { fearGreed: null, etfFlows7d: null } }) => ({
    btc_price: btcPrice,
    fear_greed: fearGreed,
    etf_flow_7d: etfFlows7d,
  }),
};

/** A resource is the members of its schema: its own, further spellings, and those of the answer that it shows. */
function project<S extends z.ZodObject>(answer: Prediction | PublicPrediction, { shape }: S, own: object = {}): z.input<S> {
  const whole = answer as Prediction & PublicPrediction;
  const values: Record<string, unknown> = { success: true, ...whole, ...own };
  const entries = Object.keys(shape).map((name) => [name, name in values ? values[name] : SPELLINGS[name]?.(whole)]);
  return Object.fromEntries(entries) as z.input<S>;
}

type Access = z.input<typeof ORACLE_SIGNAL>['access'];

export const toPublicSignal = (answer: PublicPrediction): PublicSignal => project(answer, PUBLIC_SIGNAL);
export const toOracleSignal = (answer: Prediction, access: Access) => project(answer, ORACLE_SIGNAL, { access });
export const toPremiumSignal = (answer: Prediction, access: Access) => project(answer, PREMIUM_SIGNAL, { access });

function toAccessMember({ tier, wallet }: Caller, required: PaidTier): z.input<typeof ORACLE_SIGNAL>['access'] {
  return { tier, wallet: wallet ?? null, requirement: formatTierRequirement(required) };
}

const PATH = '/api/svc/open/signal';
const LEGACY_HORIZON_DAYS = 7;

/** `Deprecation` date of the legacy signal: a structured-field date (RFC 9745), Unix seconds. */
const DEPRECATED_SINCE = Date.parse('2026-01-01T00:00:00Z') / 1000;

/** Interface, section 2.1, and its legacy shape. */
export function signalRoutes(deps: Services): Route[] {
  return [
    route(`GET ${PATH}`, 'getPublicSignal', {
      tag: 'signal',
      reply: PUBLIC_SIGNAL,
      errors: ['STEP_WAITING'],
      summary: 'Public signal: market context; direction and confidence stay gated until the outcome',
      query,
      shared: 'state',
      variesByCaller: true,
      handle: async ({ query: { horizon }, caller }) => ({ body: toPublicSignal(await predict('public', horizon, deps, caller)) }),
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
      shared: 'state',
      async handle({ query }) {
        const body = await predictRange(query.horizon, deps, query.horizons === 'all');
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
        const answer = await predict('public', LEGACY_HORIZON_DAYS, deps, caller);
        const successor = `${deps.publicUrl}${PATH}`;
        return {
          headers: { Deprecation: `@${DEPRECATED_SINCE}`, Link: `<${successor}>; rel="successor-version"` },
          body: project(answer, LEGACY_SIGNAL, { deprecated: true, successor }),
        };
      },
    }),
  ];
}
