import { z } from 'zod';
import { type PaidTier, requirementOf } from '../../access/tiers.ts';
import { findOffering } from '../../commerce/offerings.ts';
import type { Caller } from '../../record/caller.ts';
import { premiumSignal } from '../../record/oracle/premium.ts';
import { oracleSignal } from '../../record/oracle/signal.ts';
import { ORACLE_SIGNAL } from '../../record/schemas/oracle.ts';
import { signalHorizon } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { PREMIUM_SIGNAL } from '../schemas/oracle-premium.ts';

const query = z.object({ horizon: signalHorizon });

/** Interface, section 2.2. */
export function oracleRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/oracle',
      name: 'getOracleSignal',
      tag: 'signal',
      access: 'basic',
      boughtAs: findOffering('x402', 'x402_signal'),
      summary: 'The newest forecast of a horizon with its direction, its confidence, and what it takes to check both against the chain',
      description: 'When the newest day was missed, the newest forecast there is comes instead: `missedSince` and `stale` say so.',
      query,
      reply: ORACLE_SIGNAL,
      errors: ['STEP_WAITING'],
      async handle({ query: { horizon }, caller }) {
        return { body: { success: true as const, ...(await oracleSignal(parts, horizon, caller)), access: accessOf(caller, 'basic') } };
      },
    }),
    route({
      path: '/api/svc/oracle/premium',
      name: 'getPremiumSignal',
      tag: 'signal',
      access: 'premium',
      boughtAs: findOffering('x402', 'x402_premium_signal'),
      summary: 'The Basic signal with everything it rests on: context, categories, thresholds, distribution, strikes, model and record',
      description: 'A part that cannot be had right now is null or empty, and `missing` says why.',
      query,
      reply: PREMIUM_SIGNAL,
      errors: ['STEP_WAITING'],
      async handle({ query: { horizon }, caller }) {
        return { body: { success: true as const, ...(await premiumSignal(parts, horizon, caller)), access: accessOf(caller, 'premium') } };
      },
    }),
  ];
}

function accessOf({ tier, wallet }: Caller, required: PaidTier): z.input<typeof ORACLE_SIGNAL>['access'] {
  return { tier, wallet: wallet ?? null, requirement: requirementOf(required) };
}
