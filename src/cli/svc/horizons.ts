import { z } from 'zod';
import type { HorizonName } from '../../forecast/model.ts';
import { queryService } from './command.ts';
import { formatPercentOrDash, formatUsdAmount, NONE } from './text.ts';

/** A service from before the move was forecast sends neither. */
export const MOVE_FIELDS = { moveSize: z.string().nullish(), pBig: z.number().nullish() };

const RANGES = z.array(z.object({ share: z.number(), low: z.number(), high: z.number(), halfWidth: z.number() }));
const ANSWER = z.object({
  btcPrice: z.number(),
  timestamp: z.string(),
  modelVersion: z.string(),
  replayed: z.boolean(),
  source: z.string(),
  horizons: z.array(z.object({ ...MOVE_FIELDS, horizon: z.string(), ranges: RANGES, resolvesAt: z.string() })),
});

export type ExpectedRanges = z.infer<typeof ANSWER>;
export type HorizonRanges = ExpectedRanges['horizons'][number];

/** Expected ranges of the price at the end of each horizon, or of the named one; `horizons` is in both. @throws OracleError as `queryService` */
export async function queryExpectedRanges(url: string, horizon?: HorizonName): Promise<{ answer: ExpectedRanges; body: object }> {
  const named = horizon === undefined ? '' : `&horizon=${horizon}`;
  const { answer, body } = await queryService({ url, path: `/api/svc/open/range?horizons=all${named}`, schema: ANSWER });
  if (horizon === undefined) return { answer, body: body as object };
  const pick = <Row extends { horizon: string }>(rows: readonly Row[]) => rows.filter((row) => row.horizon === horizon);
  const { horizons } = body as ExpectedRanges;
  return { answer: { ...answer, horizons: pick(answer.horizons) }, body: { ...(body as object), horizons: pick(horizons) } };
}

export function findRange(horizons: readonly HorizonRanges[], horizon: string, share: number) {
  return horizons.find((one) => one.horizon === horizon)?.ranges.find((range) => range.share === share) ?? null;
}

/** `USUAL, 47.1 %`: the size of the move, and P(big move). */
export function formatMove({ moveSize, pBig }: { moveSize?: string | null; pBig?: number | null }): string {
  return moveSize == null || pBig == null ? NONE : `${moveSize}, ${formatPercentOrDash(pBig)}`;
}

export const MOVE_LEGEND = 'its size, and P(big move): beyond 3 % in a day, 5 % in more';

/** `93,110 to 103,300`, US dollars. */
export function formatPriceRange(range: { low: number; high: number } | null): string {
  return range === null ? NONE : `${formatUsdAmount(range.low, 0)} to ${formatUsdAmount(range.high, 0)}`;
}

export const INTERVAL = z.object({ low: z.number().nullable(), high: z.number().nullable() }).nullable();
const SCORES = z.object({ n: z.number(), model: z.number(), climatology: z.number(), climatology4y: z.number().nullish() }).nullable();
export const SCORE_COUNTS = {
  resolved: z.number(),
  wins: z.number(),
  accuracy: z.number().nullable(),
  accuracyInterval95: INTERVAL,
  dedupedTotal: z.number(),
  holds: z.number(),
  voids: z.number(),
  missed: z.number(),
  pending: z.number(),
  brier: SCORES,
  verdict: z.string(),
};

const MOVE_REFERENCE = z
  .object({ brier: z.number(), value: z.number(), low: z.number().nullable(), high: z.number().nullable() })
  .nullable();
const MOVE_TEST = z.object({ verdict: z.string(), since: z.string().nullable() });
/** Scores of the size of the move. */
export const MOVE_SKILL = z.object({
  n: z.number(),
  replayed: z.number(),
  bigShare: z.number().nullable(),
  brier: z.number().nullable(),
  references: z.object({ frequency: MOVE_REFERENCE, ewma: MOVE_REFERENCE }),
  tests: z.object({ frequency: MOVE_TEST, ewma: MOVE_TEST }),
  bySize: z.array(z.object({ moveSize: z.string(), n: z.number(), bigShare: z.number().nullable() })),
});

/** The scores of one horizon. */
export const HORIZON_SCORES = z.object({ ...SCORE_COUNTS, horizon: z.string(), total: z.number(), moveVerdict: z.string().optional() });

export type HorizonScores = z.infer<typeof HORIZON_SCORES>;

/** The scores of every horizon, shortest first, without their forecasts. @throws OracleError as `queryService` */
export async function queryHorizonScores(url: string): Promise<HorizonScores[]> {
  const schema = z.object({ byHorizon: z.array(HORIZON_SCORES) });
  return (await queryService({ url, path: '/api/svc/scorecard?horizon=7&limit=1', schema })).answer.byHorizon;
}
