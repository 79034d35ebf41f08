import { z } from 'zod';
import { isOracleError } from '../../../errors.ts';
import { DEFAULT_HORIZON, HORIZON_NAMES } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { getBigMoveShare } from '../../../forecast/move.ts';
import {
  HORIZON_VIEW_OPTION,
  JSON_OPTION,
  printNotice,
  printResult,
  queryService,
  resolveServiceUrl,
  resolveToken,
  type ServiceValues,
  TOKEN_OPTION,
  URL_OPTION,
  wantsJson,
} from '../command.ts';
import { type CliContext, EXIT, type SvcCommand } from '../context.ts';
import {
  findRange,
  formatMove,
  formatPriceRange,
  type HorizonRanges,
  type HorizonScores,
  MOVE_FIELDS,
  MOVE_LEGEND,
  queryExpectedRanges,
  queryHorizonScores,
} from '../horizons.ts';
import {
  formatFacts,
  formatMinute,
  formatPercentOrDash,
  formatRange,
  formatRecords,
  formatUsdAmount,
  NONE,
  type RecordColumn,
  styleValue,
  type TerminalWriter,
  wrapText,
} from '../text.ts';

const ANSWER = z.object({
  ...MOVE_FIELDS,
  signal: z.string(),
  direction: z.string().nullable(),
  confidence: z.number().nullable(),
  btcPrice: z.number(),
  regime: z.string(),
  modelVersion: z.string(),
  timestamp: z.string(),
  horizon: z.string(),
  predictionId: z.string(),
  windowOpensAt: z.string(),
  resolvesAt: z.string(),
  attestationUid: z.string().nullable(),
  replayed: z.boolean(),
  source: z.string(),
  fearGreed: z.number().nullish(),
  fearGreedLabel: z.string().nullish(),
  etfFlows7d: z.number().nullish(),
  skill: z.object({ verdict: z.string() }).optional(),
  nextSignalAt: z.string().nullable().optional(),
  access: z.object({ tier: z.string(), wallet: z.string() }).optional(),
});

type SignalAnswer = z.infer<typeof ANSWER>;

/** Interface, sections 2.1 and 2.2. */
export const signalCommand: SvcCommand<ServiceValues & { horizon?: HorizonName; token?: string }> = {
  example: `svc signal --json | jq '.horizons[] | [.horizon, .signal]' -c`,
  description: 'Direction and confidence need a login (svc login) or a token until the forecast is revealed.',
  options: [HORIZON_VIEW_OPTION, URL_OPTION, TOKEN_OPTION, JSON_OPTION],
  footer: 'The JSON is the forecast of --horizon, or of 7 days, with all that were asked for as horizons.',
  async run(context, { horizon, json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const token = await resolveToken(context, url, options.token);
    const path = token === undefined ? '/api/svc/open/signal' : '/api/svc/oracle';
    const { answers, body } = await queryHorizons(horizon, (name) =>
      queryService({ url, path: `${path}?horizon=${name}`, token, schema: ANSWER }),
    );
    if (horizon !== undefined || wantsJson(context, json)) {
      printResult(context, json, body, (writer) => formatSignal(answers[0], writer));
      return EXIT.ok;
    }
    const uncertainty = await readUncertainty(context, url);
    printResult(context, json, body, (writer) => formatSignals(answers, uncertainty, writer));
    return EXIT.ok;
  },
};

/**
 * Asks for every horizon, or for the one that is named. The body is that of the named horizon, or of 7 days, with the bodies of all that were
 * asked for as `horizons`, shortest first: one shape in both cases.
 */
async function queryHorizons<Answer>(
  horizon: HorizonName | undefined,
  query: (horizon: HorizonName) => Promise<{ answer: Answer; body: unknown }>,
): Promise<{ answers: Answer[]; body: object }> {
  const names = horizon === undefined ? HORIZON_NAMES : [horizon];
  const found = await Promise.all(names.map(query));
  const { body } = found[names.indexOf(horizon ?? DEFAULT_HORIZON)];
  return { answers: found.map(({ answer }) => answer), body: { ...(body as object), horizons: found.map((one) => one.body) } };
}

const ACCESS_HINT = 'To see it: svc login (a wallet with gate tokens; --wallet basic in the demo), or svc pay for a single answer.';

function formatSignal(answer: SignalAnswer, writer: TerminalWriter): string[] {
  const { predictionId, confidence, direction, btcPrice, timestamp, fearGreed, etfFlows7d, nextSignalAt, skill, access } = answer;
  const facts = formatFacts(
    [
      [
        'Size of move',
        formatMove(answer) === NONE
          ? null
          : `${formatMove(answer)} for one beyond ${100 * getBigMoveShare(Number.parseInt(answer.horizon, 10))} %`,
      ],
      ['Signal', styleValue(answer.signal)],
      ['Direction', direction === null ? null : styleValue(direction)],
      ['Confidence', confidence === null ? null : formatPercentOrDash(confidence)],
      ['Price', `${formatUsdAmount(btcPrice)} USD at ${formatMinute(timestamp)} UTC`],
      ['Regime', answer.regime],
      ['Fear & greed', fearGreed == null ? null : `${fearGreed}, ${answer.fearGreedLabel}`],
      ['ETF flows', etfFlows7d == null ? null : `${formatUsdAmount(etfFlows7d / 1e6, 1)} million USD in 7 days`],
      ['On chain', answer.attestationUid ?? 'not committed yet (due at 21:38 UTC)'],
      ['Model', answer.modelVersion],
      ['Data', `${answer.source}${answer.replayed ? ', replayed' : ''}`],
      ['Next', nextSignalAt == null ? null : `${formatMinute(nextSignalAt)} UTC`],
      ['Seen as', access === undefined ? null : `${access.tier}, ${access.wallet}`],
    ],
    writer,
  );
  const lines = [formatWindowTitle(answer, writer), '', ...facts];
  if (skill !== undefined) lines.push('', ...wrapText(`Record: ${skill.verdict}.`, writer.width));
  if (answer.attestationUid !== null) {
    lines.push('', writer.paint('dim', `svc verify ${predictionId}    checks on chain that it was committed in time`));
  }
  if (answer.signal === 'GATED') lines.push('', ...wrapText(ACCESS_HINT, writer.width));
  return lines;
}

interface Uncertainty {
  ranges: readonly HorizonRanges[];
  scores: readonly HorizonScores[];
}

/** A part that the service cannot give is missing in the table, with a notice: the signals are there. */
async function readUncertainty(context: CliContext, url: string): Promise<Uncertainty> {
  const orNone = (error: unknown): [] => {
    if (!isOracleError(error)) throw error;
    printNotice(context, `${error.code}: ${error.message}`);
    return [];
  };
  const [ranges, scores] = await Promise.all([
    queryExpectedRanges(url).then(({ answer }) => answer.horizons, orNone),
    queryHorizonScores(url).catch(orNone),
  ]);
  return { ranges, scores };
}

function formatSignals(answers: readonly SignalAnswer[], uncertainty: Uncertainty, writer: TerminalWriter): string[] {
  const [{ btcPrice, timestamp, source, replayed, access }] = answers;
  const facts = [
    ['Data', `${source}${replayed ? ', replayed' : ''}`],
    ['Seen as', access === undefined ? null : `${access.tier}, ${access.wallet}`],
    ['More', 'svc signal --horizon 7d'],
  ] as const;
  const title = `BTC/USD ${formatUsdAmount(btcPrice)} at ${formatMinute(timestamp)} UTC`;
  return [
    ...wrapText(title, writer.width).map((line) => writer.paint('bold', line)),
    '',
    ...formatRecords(listColumns(uncertainty), answers, writer, facts),
    ...(answers.some(({ signal }) => signal === 'GATED') ? ['', ...wrapText(ACCESS_HINT, writer.width)] : []),
  ];
}

function listColumns({ ranges, scores }: Uncertainty): RecordColumn<SignalAnswer>[] {
  return [
    { title: 'horizon', cell: ({ horizon }) => horizon },
    { title: 'move', cell: formatMove, legend: MOVE_LEGEND },
    {
      title: '80 % range',
      right: true,
      cell: ({ horizon }) => formatPriceRange(findRange(ranges, horizon, 0.8)),
      legend: 'where the price is expected, USD',
    },
    { title: 'signal', cell: ({ signal }) => styleValue(signal), legend: 'of the direction, which has no proven skill' },
    { title: 'direction', cell: ({ direction }) => (direction === null ? NONE : styleValue(direction)) },
    { title: 'confidence', right: true, cell: ({ confidence }) => formatPercentOrDash(confidence) },
    {
      ...{ title: 'right so far', right: true, spare: 2, legend: 'share of scored forecasts, with its 95 % interval' },
      cell: ({ horizon }) => formatAccuracy(scores.find((one) => one.horizon === horizon)),
    },
    { title: 'ends (UTC)', spare: 1, cell: ({ resolvesAt }) => formatMinute(resolvesAt) },
  ];
}

function formatAccuracy(scores: HorizonScores | undefined): string {
  if (scores === undefined || scores.resolved === 0) return NONE;
  return `${formatPercentOrDash(scores.accuracy)}, ${formatRange(scores.accuracyInterval95)}`;
}

export function formatWindowTitle(record: Record<'horizon' | 'windowOpensAt' | 'resolvesAt', string>, writer: TerminalWriter): string {
  const { horizon, windowOpensAt, resolvesAt } = record;
  const days = horizon.replace('d', ' days');
  return writer.paint('bold', `BTC/USD, ${days}: from ${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`);
}
