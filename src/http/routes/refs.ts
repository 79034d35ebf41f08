import { z } from 'zod';
import type { Commerce } from '../../commerce/commerce.ts';
import { parseRefCode, REF_CODE, REF_CODE_RULE } from '../../commerce/ref-code.ts';
import { leaderboard, partnerTotals, type RefFigures, refFigures } from '../../commerce/refs.ts';
import { limit } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { LEADERBOARD_REPLY, REF_STATS_REPLY } from '../schemas/commerce.ts';
import { frameOf, shareOf, takingsReply } from './commerce.ts';

const refCode = z
  .string({ error: `must be given once, with ${REF_CODE_RULE}` })
  .regex(REF_CODE, `must have ${REF_CODE_RULE}`)
  .transform(parseRefCode);

const NOTHING = { payments: 0, amountMicros: 0n };

/** What came of partners' ref codes. */
export function refRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/refs/leaderboard',
      name: 'getRefLeaderboard',
      tag: 'commerce',
      summary: 'Ref codes by the revenue that settled through them',
      query: z.object({ limit: limit(100, 20).describe('How many codes at most') }),
      reply: LEADERBOARD_REPLY,
      handle: async ({ query }) => ({ body: await leaderboardReply(parts.commerce, query.limit, parts.now()) }),
    }),
    route({
      path: '/api/refs/stats',
      name: 'getRefStats',
      tag: 'commerce',
      summary: 'What came of one ref code, or of all together',
      query: z.object({ ref: refCode.optional().describe(`The code, in any case: ${REF_CODE_RULE}`) }),
      reply: REF_STATS_REPLY,
      handle: async ({ query }) => ({ body: await statsReply(parts.commerce, query.ref ?? null, parts.now()) }),
    }),
  ];
}

async function leaderboardReply(
  { ledger, till: { realMoney } }: Commerce,
  max: number,
  now: Date,
): Promise<z.input<typeof LEADERBOARD_REPLY>> {
  const found = await leaderboard(ledger.payments, max);
  const rows = found.map((figures, i) => ({ rank: i + 1, ref: figures.ref, ...figuresReply(figures) }));
  return { success: true, leaderboard: rows, count: rows.length, ...frameOf({ realMoney }, now) };
}

async function statsReply(
  { ledger, till: { realMoney } }: Commerce,
  ref: string | null,
  now: Date,
): Promise<z.input<typeof REF_STATS_REPLY>> {
  const figures = ref === null ? null : await refFigures(ledger.payments, ref);
  const { partners, referred, total } = await partnerTotals(ledger.payments);
  const frame = frameOf({ realMoney }, now);
  if (ref === null) {
    const sums = { paidCalls: referred.payments, payers: null, revenue: takingsReply(referred), lastSettledAt: null };
    return { success: true, ref, known: null, partners, ...sums, share: shareOf(referred, total), ...frame };
  }
  const own = figures ?? { ...NOTHING, payers: 0, lastSettledAt: null };
  const known = figures !== null;
  return { success: true, ref, known, partners: known ? 1 : 0, ...figuresReply(own), share: shareOf(own, total), ...frame };
}

function figuresReply(figures: Omit<RefFigures, 'ref'>) {
  const { payments, payers, lastSettledAt } = figures;
  return { paidCalls: payments, payers, revenue: takingsReply(figures), lastSettledAt: lastSettledAt?.toISOString() ?? null };
}
