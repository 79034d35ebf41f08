import { z } from 'zod';
import { DEFAULT_HORIZON, HORIZON_NAMES } from '../../forecast/horizon-input.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { queryService } from './command.ts';
import {
  formatErrorBar,
  formatFacts,
  formatPercentOrDash,
  formatRange,
  formatRecords,
  formatUsdAmount,
  NONE,
  type RecordColumn,
  type TerminalWriter,
  wrapText,
} from './text.ts';

const RANGES = z.array(z.object({ share: z.number(), low: z.number(), high: z.number(), halfWidth: z.number() }));
const ANSWER = z.object({
  btcPrice: z.number(),
  timestamp: z.string(),
  modelVersion: z.string(),
  replayed: z.boolean(),
  source: z.string(),
  horizons: z.array(z.object({ horizon: z.string(), ranges: RANGES, resolvesAt: z.string() })),
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

/** `93,110 to 103,300`, US dollars. */
export function formatPriceRange(range: { low: number; high: number } | null): string {
  return range === null ? NONE : `${formatUsdAmount(range.low, 0)} to ${formatUsdAmount(range.high, 0)}`;
}

const HORIZON_COLUMNS: readonly RecordColumn<HorizonScores>[] = [
  { title: 'horizon', cell: ({ horizon }) => horizon },
  { title: 'forecasts', right: true, spare: 3, cell: ({ total }) => String(total) },
  { title: 'scored', right: true, cell: ({ resolved }) => String(resolved) },
  { title: 'right', right: true, cell: ({ wins }) => String(wins) },
  { title: 'accuracy', right: true, cell: ({ accuracy }) => formatPercentOrDash(accuracy) },
  { title: '95 % interval', right: true, spare: 0, cell: ({ accuracyInterval95 }) => formatRange(accuracyInterval95) },
  {
    title: '0 %      50 %   100 %',
    spare: 1,
    cell: ({ accuracy, accuracyInterval95, resolved }) =>
      formatErrorBar(resolved === 0 ? null : accuracy, accuracyInterval95, { min: 0, max: 1 }),
  },
  { title: 'HOLD', right: true, spare: 4, cell: ({ holds }) => String(holds) },
  { title: 'committed', right: true, spare: 5, cell: ({ pending }) => String(pending) },
  { title: 'Brier', right: true, spare: 2, cell: ({ brier }) => (brier === null ? NONE : brier.model.toFixed(4)) },
  { title: 'base rate', right: true, spare: 6, cell: ({ brier }) => (brier === null ? NONE : brier.climatology.toFixed(4)) },
];

export function formatHorizonTable(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return formatRecords(HORIZON_COLUMNS, scores, writer);
}

/** The record of all horizons: a table with error bars, and the verdict of each. */
export function formatHorizonScores(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return [
    writer.paint('bold', 'Record of all horizons'),
    '',
    ...formatHorizonTable(scores, writer),
    '',
    ...formatFacts(
      scores.map(({ horizon, verdict }) => [horizon, `${verdict}.`]),
      writer,
    ),
    '',
    ...wrapText('svc scorecard --horizon 7d lists its forecasts', writer.width).map((line) => writer.paint('dim', line)),
  ];
}

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

/**
 * Asks for every horizon, or for the one that is named. The body is that of the named horizon, or of 7 days, with the bodies of all that were
 * asked for as `horizons`, shortest first: one shape in both cases.
 */
export async function queryHorizons<Answer>(
  horizon: HorizonName | undefined,
  query: (horizon: HorizonName) => Promise<{ answer: Answer; body: unknown }>,
): Promise<{ answers: Answer[]; body: object }> {
  const names = horizon === undefined ? HORIZON_NAMES : [horizon];
  const found = await Promise.all(names.map(query));
  const { body } = found[names.indexOf(horizon ?? DEFAULT_HORIZON)];
  return { answers: found.map(({ answer }) => answer), body: { ...(body as object), horizons: found.map((one) => one.body) } };
}
