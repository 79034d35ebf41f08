import { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import { type ExpectedRangeDeps, getExpectedRange, getExpectedRanges } from '../../../../record/distributions/expected-range.ts';
import { getPublicSignal, type PublicSignalDeps } from '../../../../record/oracle/public-signal.ts';
import { EXPECTED_RANGE } from '../../../../record/schemas/expected-range.ts';
import { LEGACY_SIGNAL, type LegacySignal, PUBLIC_SIGNAL, type PublicSignal } from '../../../../record/schemas/signal.ts';
import type { HttpDeps } from '../../deps.ts';
import { signalDaysInput } from '../../server/parsing/parameters.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Reply, type Route, route } from '../../server/route.ts';

type SignalDeps = PublicSignalDeps & ExpectedRangeDeps & Pick<HttpDeps, 'publicUrl'>;

const PATH = '/api/svc/open/signal';
const LEGACY_HORIZON_DAYS = 7;

/** `Deprecation` date of the legacy signal: a structured-field date (RFC 9745), Unix seconds. */
const DEPRECATED_SINCE = Date.parse('2026-01-01T00:00:00Z') / 1000;

/** Interface, section 2.1, and its legacy shape. */
export function signalRoutes(deps: SignalDeps): Route[] {
  return [
    route(`GET ${PATH}`, 'getPublicSignal', {
      tag: 'signal',
      reply: PUBLIC_SIGNAL,
      errors: ['STEP_WAITING'],
      summary: 'Public signal: market context; direction and confidence stay gated until the outcome',
      query: z.object({ horizon: signalDaysInput }),
      sharedByTier: true,
      variesByCaller: true,
      handle: async ({ query, caller }): Promise<Reply<PublicSignal>> => ({ body: await getPublicSignal(deps, query.horizon, caller) }),
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
      handle: ({ caller }) => readLegacySignal(deps, caller),
    }),
  ];
}

async function readLegacySignal(deps: SignalDeps, caller: Caller): Promise<Reply<LegacySignal>> {
  const { signal, confidence, btcPrice, regime, modelVersion, timestamp, source, replayed } = await getPublicSignal(
    deps,
    LEGACY_HORIZON_DAYS,
    caller,
  );
  const successor = `${deps.publicUrl}${PATH}`;
  return {
    headers: { Deprecation: `@${DEPRECATED_SINCE}`, Link: `<${successor}>; rel="successor-version"` },
    body: {
      success: true,
      signal,
      confidence,
      btcPrice,
      btc_price: btcPrice,
      price: btcPrice,
      regime,
      modelVersion,
      model_version: modelVersion,
      timestamp,
      horizon: `${LEGACY_HORIZON_DAYS}d`,
      source,
      replayed,
      deprecated: true,
      successor,
    },
  };
}
