import { z } from 'zod';
import { readPages } from '../../../audit/service-claims.ts';
import { DEFAULT_HORIZON, parseHorizonDays } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import {
  HORIZON_VIEW_OPTION,
  JSON_OPTION,
  printResult,
  queryService,
  resolveServiceUrl,
  type ServiceValues,
  URL_OPTION,
  wantsJson,
} from '../command.ts';
import { EXIT, type SvcCommand } from '../context.ts';
import { HORIZON_SCORES, type HorizonScores, INTERVAL, MOVE_SKILL, queryHorizonScores, SCORE_COUNTS } from '../horizons.ts';
import {
  formatErrorBar,
  formatFacts,
  formatPercentOrDash,
  formatRange,
  formatRecords,
  formatReturn,
  formatUsdAmount,
  NONE,
  type RecordColumn,
  styleValue,
  type TerminalWriter,
  wrapText,
} from '../text.ts';

const ANSWER = z.object({
  horizon: z.string(),
  source: z.string(),
  summary: z.object({
    ...SCORE_COUNTS,
    totalPredictions: z.number(),
    losses: z.number(),
    dedupedAccuracy: z.number().nullable(),
    dedupedInterval95: INTERVAL,
    alwaysUpAccuracy: z.number().nullable(),
    streak: z.object({ type: z.string().nullable(), count: z.number() }),
  }),
  byHorizon: z.array(HORIZON_SCORES),
  moveSkill: MOVE_SKILL.optional(),
  predictions: z.array(
    z.object({
      date: z.string(),
      status: z.string(),
      signal: z.string().nullable(),
      direction: z.string().nullable(),
      confidence: z.number().nullable(),
      btcAtSignal: z.number().nullable(),
      btcAtResolution: z.number().nullable(),
      provisional: z.boolean().optional(),
      returnBps: z.number().nullable(),
      predictionId: z.string(),
      replayed: z.boolean(),
    }),
  ),
  nextCursor: z.string().nullish(),
});

type ScorecardAnswer = z.infer<typeof ANSWER>;

const MAX_ROWS = 10;

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
  { title: '4 years', right: true, spare: 7, cell: ({ brier }) => brier?.climatology4y?.toFixed(4) ?? NONE },
];

/** Interface, section 2.3. */
export const scorecardCommand: SvcCommand<ServiceValues & { horizon?: HorizonName }> = {
  example: 'svc scorecard --json | jq -r .summary.verdict',
  options: [HORIZON_VIEW_OPTION, URL_OPTION, [JSON_OPTION[0], `${JSON_OPTION[1]}; has every forecast`]],
  footer: 'The JSON is the scorecard of --horizon, or of 7 days; its byHorizon has the scores of all.',
  async run(context, { horizon, json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    if (horizon === undefined && !wantsJson(context, json)) {
      const scores = await queryHorizonScores(url);
      printResult(context, json, null, (writer) => formatHorizonScores(scores, writer));
      return EXIT.ok;
    }
    const { answer, body } = await readScorecard(url, parseHorizonDays(horizon ?? DEFAULT_HORIZON));
    printResult(context, json, body, (writer) => formatScorecard(answer, writer));
    return EXIT.ok;
  },
};

/** The record of all horizons: a table with error bars, and the verdict of each. */
function formatHorizonScores(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return [
    writer.paint('bold', 'Record of all horizons'),
    '',
    ...formatHorizonTable(scores, writer),
    '',
    ...formatFacts(
      scores.map(({ horizon, verdict }) => [horizon, `${verdict}.`]),
      writer,
    ),
    ...scores.flatMap(({ moveVerdict }) => (moveVerdict === undefined ? [] : ['', ...wrapText(moveVerdict, writer.width)])),
    '',
    ...wrapText('svc scorecard --horizon 7d lists its forecasts', writer.width).map((line) => writer.paint('dim', line)),
  ];
}

/** Reads all pages into one answer. @throws OracleError as `queryService`; SERVICE_UNREACHABLE when the pages do not end */
async function readScorecard(url: string, horizonDays: number): Promise<{ answer: ScorecardAnswer; body: unknown }> {
  const read = async (query: string) => {
    const page = await queryService({ url, path: `/api/svc/scorecard?${query}`, schema: ANSWER });
    return { ...page, predictions: page.answer.predictions, nextCursor: page.answer.nextCursor };
  };
  const pages = await readPages(horizonDays, read);
  const [{ answer, body }] = pages;
  if (pages.length === 1) return { answer, body };
  const predictions = pages.flatMap((page) => (page.body as { predictions: unknown[] }).predictions);
  return {
    answer: { ...answer, predictions: pages.flatMap((page) => page.predictions) },
    body: { ...(body as object), predictions, count: predictions.length, nextCursor: null },
  };
}

function formatScorecard(
  { horizon, source, summary, moveSkill, byHorizon, predictions }: ScorecardAnswer,
  writer: TerminalWriter,
): string[] {
  const replayed = predictions.filter((row) => row.replayed).length;
  const note = replayed === 0 ? '' : `, ${replayed} of ${predictions.length} replayed`;
  return [
    writer.paint('bold', `Record over ${horizon.replace('d', ' days')}`),
    ...wrapText(`${summary.verdict}.`, writer.width),
    '',
    ...formatSummary(summary, `${source}${note}`, writer),
    '',
    ...(moveSkill === undefined ? [] : [writer.paint('bold', 'Size of the move'), ...formatMoveSkill(moveSkill, horizon, writer), '']),
    ...formatHorizonTable(byHorizon, writer),
    '',
    ...formatRecords(PREDICTION_COLUMNS, predictions.slice(0, MAX_ROWS), writer),
    ...(predictions.length > MAX_ROWS
      ? [writer.paint('dim', `... and ${predictions.length - MAX_ROWS} earlier rows (--json prints all)`)]
      : []),
  ];
}

function formatHorizonTable(scores: readonly HorizonScores[], writer: TerminalWriter): string[] {
  return formatRecords(HORIZON_COLUMNS, scores, writer);
}

function formatSummary(summary: ScorecardAnswer['summary'], data: string, writer: TerminalWriter): string[] {
  const { wins, losses, resolved, holds, pending, voids, missed, accuracy, accuracyInterval95, alwaysUpAccuracy, brier, streak } = summary;
  const { dedupedAccuracy, dedupedTotal, dedupedInterval95, totalPredictions } = summary;
  return formatFacts(
    [
      ['Forecasts', `${totalPredictions}: ${resolved} scored, ${holds} HOLD, ${pending} committed, ${voids} void, ${missed} missed`],
      [
        'Right',
        `${wins} of ${wins + losses}: ${formatPercentOrDash(resolved === 0 ? null : accuracy)}, 95 % interval ${formatRange(accuracyInterval95)}`,
      ],
      [
        'Without overlap',
        `${formatPercentOrDash(dedupedTotal === 0 ? null : dedupedAccuracy)} of ${dedupedTotal}, 95 % interval ${formatRange(dedupedInterval95)}`,
      ],
      ['Always UP', formatPercentOrDash(alwaysUpAccuracy)],
      ['Brier score', brier === null ? NONE : `${brier.model.toFixed(4)}, ${formatBaseRates(brier)} (lower is better)`],
      ['Streak', streak.type === null || streak.count === 0 ? NONE : `${streak.count} ${streak.type}`],
      ['Data', data],
    ],
    writer,
  );
}

function formatBaseRates({ climatology, climatology4y }: NonNullable<HorizonScores['brier']>): string {
  const recent = typeof climatology4y === 'number' ? `, of four years ${climatology4y.toFixed(4)}` : '';
  return `base rate alone ${climatology.toFixed(4)}${recent}`;
}

const MOVE_REFERENCES = { frequency: 'Four-year frequency', ewma: 'EWMA' } as const;

/** Against both references; at 7 days, where earlier data show no skill, scores alone. */
function formatMoveSkill({ n, replayed, bigShare, brier, references, tests, bySize }: MoveSkill, horizon: string, writer: TerminalWriter) {
  const compare = (name: keyof typeof MOVE_REFERENCES): [string, string] => {
    const found = references[name];
    const { verdict, since } = tests[name];
    if (found === null) return [MOVE_REFERENCES[name], NONE];
    const skill = horizon === '7d' ? '' : `, skill ${formatPercentOrDash(found.value)}, 95 % interval ${formatRange(found)}`;
    return [MOVE_REFERENCES[name], `Brier ${found.brier.toFixed(4)}${skill}; ${verdict}${since === null ? '' : ` since ${since}`}`];
  };
  const days = replayed === 0 ? '' : `, ${replayed} replayed, which prove nothing`;
  return formatFacts(
    [
      ['Big moves', `${formatPercentOrDash(bigShare)} of ${n} days${days}`],
      ['By size', bySize.map((one) => `${one.moveSize} ${formatPercentOrDash(one.bigShare, 0)} of ${one.n}`).join(', ')],
      ['P(big move)', brier === null ? NONE : `Brier ${brier.toFixed(4)}`],
      compare('frequency'),
      compare('ewma'),
    ],
    writer,
  );
}

type MoveSkill = NonNullable<ScorecardAnswer['moveSkill']>;

const PREDICTION_COLUMNS: readonly RecordColumn<ScorecardAnswer['predictions'][number]>[] = [
  { title: 'day', cell: ({ date }) => date },
  { title: 'signal', cell: ({ signal }) => (signal === null ? NONE : styleValue(signal)) },
  { title: 'confidence', right: true, spare: 0, cell: ({ confidence }) => formatPercentOrDash(confidence) },
  { title: 'result', cell: ({ status }) => styleValue(status) },
  { title: 'return', right: true, cell: ({ returnBps }) => formatReturn(returnBps) },
  // Provisional is the price at signal time, until the outcome window opens.
  {
    title: 'from USD',
    right: true,
    spare: 2,
    cell: ({ provisional = false, btcAtSignal }) => `${provisional && btcAtSignal !== null ? '~' : ''}${formatUsdAmount(btcAtSignal)}`,
  },
  { title: 'to USD', right: true, spare: 1, cell: ({ btcAtResolution }) => formatUsdAmount(btcAtResolution) },
];
