import { z } from 'zod';
import type { Caller } from '../../../../auth/caller.ts';
import { formatTierRequirement, type PaidTier } from '../../../../auth/tiers/tiers.ts';
import { findOffering } from '../../../../commerce/price-list.ts';
import type { OracleDeps } from '../../../../record/oracle/deps.ts';
import { getOracleSignal } from '../../../../record/oracle/oracle-signal.ts';
import { getPremiumSignal } from '../../../../record/oracle/premium-signal.ts';
import { ORACLE_SIGNAL } from '../../../../record/schemas/oracle.ts';
import { signalDaysInput } from '../../server/parsing/parameters.ts';
import { type Route, route } from '../../server/route.ts';
import { PREMIUM_SIGNAL } from './premium-schemas.ts';

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
