import { z } from 'zod';
import { getCurrentRegime, readRegimeHistory } from '../../../../record/market/regime-history.ts';
import type { HttpDeps } from '../../deps.ts';
import { limitInput } from '../../server/parsing/parameters.ts';
import { type Route, route } from '../../server/route.ts';
import { CURRENT_REGIME, REGIME_HISTORY } from './schemas.ts';

/** Interface, section 2.4. */
export function regimeRoutes({ record, market, now }: Pick<HttpDeps, 'record' | 'market' | 'now'>): Route[] {
  return [
    route('GET /api/svc/regime', 'getRegime', {
      tag: 'signal',
      access: 'basic',
      summary: 'Current market regime with its factors and start',
      reply: CURRENT_REGIME,
      errors: ['STEP_WAITING'],
      handle: async () => ({
        body: { success: true as const, ...(await getCurrentRegime({ record, market }, now())), source: market.source },
      }),
    }),
    route('GET /api/svc/regime/history', 'listRegimes', {
      tag: 'signal',
      access: 'basic',
      summary: 'Daily regimes of the record, newest first, with the changes',
      query: z.object({ limit: limitInput(365, 90) }),
      reply: REGIME_HISTORY,
      async handle({ query }) {
        const { days, transitions } = await readRegimeHistory(record, query.limit);
        return { body: { success: true as const, count: days.length, days, transitions, source: market.source } };
      },
    }),
  ];
}
