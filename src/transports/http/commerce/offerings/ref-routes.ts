import { z } from 'zod';
import type { Commerce } from '../../../../commerce/commerce.ts';
import { parseRefCode, REF_CODE_PATTERN, REF_CODE_RULE } from '../../../../commerce/ledger/ref-code.ts';
import { findReferralTotals, listTopReferrals, type ReferralTotals, readPartnerTotals } from '../../../../commerce/ledger/referrals.ts';
import type { HttpDeps } from '../../deps.ts';
import { limitInput } from '../../server/parsing/parameters.ts';
import { type Route, route } from '../../server/route.ts';
import { buildMoneyStatement, computeShare, toTakingsReply } from './routes.ts';
import { LEADERBOARD_REPLY, REF_STATS_REPLY } from './schemas.ts';

const refCodeInput = z
  .string({ error: `must be given once, with ${REF_CODE_RULE}` })
  .regex(REF_CODE_PATTERN, `must have ${REF_CODE_RULE}`)
  .transform(parseRefCode);

const NO_TAKINGS = { payments: 0, amountMicros: 0n };

export function refRoutes(deps: Pick<HttpDeps, 'commerce' | 'now'>): Route[] {
  return [
    route('GET /api/refs/leaderboard', 'getRefLeaderboard', {
      tag: 'commerce',
      summary: 'Ref codes by settled revenue',
      query: z.object({ limit: limitInput(100, 20).describe('Maximum number of codes') }),
      reply: LEADERBOARD_REPLY,
      handle: async ({ query }) => ({ body: await readRefLeaderboard(deps.commerce, query.limit, deps.now()) }),
    }),
    route('GET /api/refs/stats', 'getRefStats', {
      tag: 'commerce',
      summary: 'Revenue of one ref code, or of all',
      query: z.object({ ref: refCodeInput.optional().describe(`Ref code, in any case: ${REF_CODE_RULE}`) }),
      reply: REF_STATS_REPLY,
      handle: async ({ query }) => ({ body: await readRefStats(deps.commerce, query.ref ?? null, deps.now()) }),
    }),
  ];
}

async function readRefLeaderboard(
  { ledger, merchant: { realMoney } }: Commerce,
  max: number,
  now: Date,
): Promise<z.input<typeof LEADERBOARD_REPLY>> {
  const found = await listTopReferrals(ledger, max);
  const rows = found.map((figures, i) => ({ rank: i + 1, ref: figures.ref, ...toRefFiguresReply(figures) }));
  return { success: true, leaderboard: rows, count: rows.length, ...buildMoneyStatement({ realMoney }, now) };
}

async function readRefStats(
  { ledger, merchant: { realMoney } }: Commerce,
  ref: string | null,
  now: Date,
): Promise<z.input<typeof REF_STATS_REPLY>> {
  const figures = ref === null ? null : await findReferralTotals(ledger, ref);
  const { partners, referred, total } = await readPartnerTotals(ledger);
  const moneyStatement = buildMoneyStatement({ realMoney }, now);
  if (ref === null) {
    const sums = { paidCalls: referred.payments, payers: null, revenue: toTakingsReply(referred), lastSettledAt: null };
    return { success: true, ref, known: null, partners, ...sums, share: computeShare(referred, total), ...moneyStatement };
  }
  const own = figures ?? { ...NO_TAKINGS, payers: 0, lastSettledAt: null };
  const known = figures !== null;
  return {
    success: true,
    ref,
    known,
    partners: known ? 1 : 0,
    ...toRefFiguresReply(own),
    share: computeShare(own, total),
    ...moneyStatement,
  };
}

function toRefFiguresReply(figures: Omit<ReferralTotals, 'ref'>) {
  const { payments, payers, lastSettledAt } = figures;
  return { paidCalls: payments, payers, revenue: toTakingsReply(figures), lastSettledAt: lastSettledAt?.toISOString() ?? null };
}
