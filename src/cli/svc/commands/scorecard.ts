import { z } from 'zod';
import { parseHorizonDays } from '../../../forecast/horizon-input.ts';
import { parseArguments, parseHorizonOption, SERVICE_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { resolveServiceUrl } from '../service-request.ts';
import { formatPercentOrDash, formatRange, formatReturn, formatUsdAmount, NONE } from '../text/amounts.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import { styleValue } from '../text/outcome-style.ts';
import type { TerminalWriter } from '../text/style.ts';
import { formatTerminalTable } from '../text/table.ts';
import { readWholeScorecard } from './read-scorecard.ts';

const RANGE = z.object({ low: z.number().nullable(), high: z.number().nullable() }).nullable();
const SCORES = z.object({ n: z.number(), model: z.number(), climatology: z.number() }).nullable();
const COUNTS = {
  ...{ resolved: z.number(), wins: z.number(), accuracy: z.number().nullable(), accuracyInterval95: RANGE, dedupedTotal: z.number() },
  ...{ holds: z.number(), voids: z.number(), missed: z.number(), pending: z.number(), brier: SCORES, verdict: z.string() },
};

const ANSWER = z.object({
  horizon: z.string(),
  source: z.string(),
  summary: z.object({
    ...COUNTS,
    totalPredictions: z.number(),
    losses: z.number(),
    dedupedAccuracy: z.number().nullable(),
    dedupedInterval95: RANGE,
    alwaysUpAccuracy: z.number().nullable(),
    streak: z.object({ type: z.string().nullable(), count: z.number() }),
  }),
  byHorizon: z.array(z.object({ ...COUNTS, horizon: z.string(), total: z.number() })),
  predictions: z.array(
    z.object({
      ...{ date: z.string(), status: z.string(), signal: z.string().nullable(), direction: z.string().nullable() },
      ...{ confidence: z.number().nullable(), btcAtSignal: z.number().nullable(), btcAtResolution: z.number().nullable() },
      provisional: z.boolean().optional(),
      ...{ returnBps: z.number().nullable(), predictionId: z.string(), replayed: z.boolean() },
    }),
  ),
  nextCursor: z.string().nullish(),
});

type ScorecardAnswer = z.infer<typeof ANSWER>;

/** Rows that a person is shown; programs get all. */
const MAX_ROWS = 10;

/** Interface, section 2.3. */
export const scorecardCommand: SvcCommand = {
  name: 'scorecard',
  usage: '[--horizon 1d|2d|3d|7d] [options]',
  summary: 'What all forecasts have come to, with error bars',
  help: `  --horizon <days>   1d, 2d, 3d or 7d; default 7d
${SERVICE_HELP}
  --json             for programs, with every forecast; also when the output is no terminal

  svc scorecard --json | jq -r .summary.verdict`,
  async run(args, context) {
    const { values } = parseArguments(args, { horizon: { type: 'string' }, url: { type: 'string' }, json: { type: 'boolean' } });
    const horizon = parseHorizonOption('--horizon', values.horizon);
    const url = resolveServiceUrl(context, values.url);
    const { answer, body } = await readWholeScorecard(url, parseHorizonDays(horizon), ANSWER);
    if (wantsJson(context, values.json)) printJson(context, body);
    else printLines(context, (writer) => formatScorecard(answer, writer));
    return EXIT.ok;
  },
};

function formatScorecard({ horizon, source, summary, byHorizon, predictions }: ScorecardAnswer, writer: TerminalWriter): string[] {
  const replayed = predictions.filter((row) => row.replayed).length;
  const note = replayed === 0 ? '' : `, ${replayed} of ${predictions.length} replayed`;
  return [
    writer.paint('bold', `Record over ${horizon.replace('d', ' days')}`),
    ...wrapText(`${summary.verdict}.`, writer.width),
    '',
    ...formatSummary(summary, `${source}${note}`, writer),
    '',
    ...formatHorizons(byHorizon, writer),
    '',
    ...formatRows(predictions.slice(0, MAX_ROWS), writer),
    ...(predictions.length > MAX_ROWS
      ? [writer.paint('dim', `... and ${predictions.length - MAX_ROWS} earlier ones (--json has all)`)]
      : []),
  ];
}

function formatSummary(summary: ScorecardAnswer['summary'], data: string, writer: TerminalWriter): string[] {
  const { wins, losses, resolved, holds, pending, voids, missed, accuracy, accuracyInterval95, alwaysUpAccuracy, brier, streak } = summary;
  const { dedupedAccuracy, dedupedTotal, dedupedInterval95, totalPredictions } = summary;
  return formatFacts(
    [
      ['Forecasts', `${totalPredictions}: ${resolved} scored, ${holds} HOLD, ${pending} open, ${voids} void, ${missed} missed`],
      [
        'Right',
        `${wins} of ${wins + losses}: ${formatPercentOrDash(resolved === 0 ? null : accuracy)}, 95 % interval ${formatRange(accuracyInterval95)}`,
      ],
      [
        'Without overlap',
        `${formatPercentOrDash(dedupedTotal === 0 ? null : dedupedAccuracy)} of ${dedupedTotal}, 95 % interval ${formatRange(dedupedInterval95)}`,
      ],
      ['Always UP', formatPercentOrDash(alwaysUpAccuracy)],
      [
        'Brier score',
        brier === null ? NONE : `${brier.model.toFixed(4)}, base rate alone ${brier.climatology.toFixed(4)} (lower is better)`,
      ],
      ['Streak', streak.type === null || streak.count === 0 ? NONE : `${streak.count} ${streak.type}`],
      ['Data', data],
    ],
    writer,
  );
}

function formatHorizons(lines: ScorecardAnswer['byHorizon'], writer: TerminalWriter): string[] {
  return formatTerminalTable(
    [
      { title: 'horizon' },
      { title: 'forecasts', right: true, spare: 1 },
      { title: 'scored', right: true },
      { title: 'right', right: true },
      { title: 'accuracy', right: true },
      { title: '95 % interval', right: true, spare: 0 },
      { title: 'HOLD', right: true, spare: 3 },
      { title: 'open', right: true, spare: 4 },
      { title: 'Brier', right: true, spare: 2 },
    ],
    lines.map(({ horizon, total, resolved, wins, accuracy, accuracyInterval95, holds, pending, brier }) => [
      ...[horizon, String(total), String(resolved), String(wins), formatPercentOrDash(accuracy), formatRange(accuracyInterval95)],
      ...[String(holds), String(pending), brier === null ? NONE : brier.model.toFixed(4)],
    ]),
    writer,
  );
}

function formatRows(rows: ScorecardAnswer['predictions'], writer: TerminalWriter): string[] {
  return formatTerminalTable(
    [
      { title: 'day' },
      { title: 'signal' },
      { title: 'confidence', right: true, spare: 0 },
      { title: 'result' },
      { title: 'return', right: true },
      { title: 'from USD', right: true, spare: 2 },
      { title: 'to USD', right: true, spare: 1 },
    ],
    rows.map(({ date, signal, confidence, status, returnBps, btcAtSignal, provisional = false, btcAtResolution }) => [
      ...[
        date,
        signal === null ? NONE : styleValue(signal),
        formatPercentOrDash(confidence),
        styleValue(status),
        formatReturn(returnBps),
        // The price at signal time, until the window has opened.
        `${provisional && btcAtSignal !== null ? '~' : ''}${formatUsdAmount(btcAtSignal)}`,
        formatUsdAmount(btcAtResolution),
      ],
    ]),
    writer,
  );
}
