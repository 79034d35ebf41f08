import { z } from 'zod';
import { queryService } from '../service-request.ts';

export const INTERVAL = z.object({ low: z.number().nullable(), high: z.number().nullable() }).nullable();
const SCORES = z.object({ n: z.number(), model: z.number(), climatology: z.number() }).nullable();
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

/** The scores of one horizon. */
export const HORIZON_SCORES = z.object({ ...SCORE_COUNTS, horizon: z.string(), total: z.number() });

export type HorizonScores = z.infer<typeof HORIZON_SCORES>;

/** The scores of every horizon, shortest first, without their forecasts. @throws OracleError as `queryService` */
export async function queryHorizonScores(url: string): Promise<HorizonScores[]> {
  const schema = z.object({ byHorizon: z.array(HORIZON_SCORES) });
  return (await queryService({ url, path: '/api/svc/scorecard?horizon=7&limit=1', schema })).answer.byHorizon;
}
