import { z } from 'zod';
import { horizonDaysOf } from '../../horizon-input.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { serviceUrl } from '../service.ts';
import { interval, money, NONE, percent, returnOf } from '../text/amounts.ts';
import { facts, wrapped } from '../text/facts.ts';
import type { Pen } from '../text/style.ts';
import { table } from '../text/table.ts';
import { wordOf } from '../text/words-of.ts';
import { wholeScorecard } from '../whole-scorecard.ts';
import { horizonOf, parseWords, SERVICE_HELP } from '../words.ts';

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

type Answer = z.infer<typeof ANSWER>;

/** Rows that a person is shown; programs get all. */
const ROWS = 10;

/** Interface, section 2.3. */
export const scorecard: Command = {
  name: 'scorecard',
  takes: '[--horizon 1d|2d|3d|7d] [options]',
  summary: 'What all forecasts have come to, with error bars',
  help: `  --horizon <days>   1d, 2d, 3d or 7d; default 7d
${SERVICE_HELP}
  --json             for programs, with every forecast; also when the output is no terminal

  svc scorecard --json | jq -r .summary.verdict`,
  async run(words, host) {
    const { values } = parseWords(words, { horizon: { type: 'string' }, url: { type: 'string' }, json: { type: 'boolean' } });
    const horizon = horizonOf('--horizon', values.horizon);
    const url = serviceUrl(host, values.url);
    const { answer, body } = await wholeScorecard(url, horizonDaysOf(horizon), ANSWER);
    if (wantsJson(host, values.json)) printJson(host, body);
    else printLines(host, (pen) => scorecardText(answer, pen));
    return EXIT.ok;
  },
};

function scorecardText({ horizon, source, summary, byHorizon, predictions }: Answer, pen: Pen): string[] {
  const replayed = predictions.filter((row) => row.replayed).length;
  const note = replayed === 0 ? '' : `, ${replayed} of ${predictions.length} replayed`;
  return [
    pen.paint('bold', `Record over ${horizon.replace('d', ' days')}`),
    ...wrapped(`${summary.verdict}.`, pen.width),
    '',
    ...figures(summary, `${source}${note}`, pen),
    '',
    ...horizonsTable(byHorizon, pen),
    '',
    ...rowsTable(predictions.slice(0, ROWS), pen),
    ...(predictions.length > ROWS ? [pen.paint('dim', `... and ${predictions.length - ROWS} earlier ones (--json has all)`)] : []),
  ];
}

function figures(summary: Answer['summary'], data: string, pen: Pen): string[] {
  const { wins, losses, resolved, holds, pending, voids, missed, accuracy, accuracyInterval95, alwaysUpAccuracy, brier, streak } = summary;
  const { dedupedAccuracy, dedupedTotal, dedupedInterval95, totalPredictions } = summary;
  return facts(
    [
      ['Forecasts', `${totalPredictions}: ${resolved} scored, ${holds} HOLD, ${pending} open, ${voids} void, ${missed} missed`],
      ['Right', `${wins} of ${wins + losses}: ${percent(resolved === 0 ? null : accuracy)}, 95 % interval ${interval(accuracyInterval95)}`],
      [
        'Without overlap',
        `${percent(dedupedTotal === 0 ? null : dedupedAccuracy)} of ${dedupedTotal}, 95 % interval ${interval(dedupedInterval95)}`,
      ],
      ['Always UP', percent(alwaysUpAccuracy)],
      [
        'Brier score',
        brier === null ? NONE : `${brier.model.toFixed(4)}, base rate alone ${brier.climatology.toFixed(4)} (lower is better)`,
      ],
      ['Streak', streak.type === null || streak.count === 0 ? NONE : `${streak.count} ${streak.type}`],
      ['Data', data],
    ],
    pen,
  );
}

function horizonsTable(lines: Answer['byHorizon'], pen: Pen): string[] {
  return table(
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
      ...[horizon, String(total), String(resolved), String(wins), percent(accuracy), interval(accuracyInterval95)],
      ...[String(holds), String(pending), brier === null ? NONE : brier.model.toFixed(4)],
    ]),
    pen,
  );
}

function rowsTable(rows: Answer['predictions'], pen: Pen): string[] {
  return table(
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
        signal === null ? NONE : wordOf(signal),
        percent(confidence),
        wordOf(status),
        returnOf(returnBps),
        // The price at signal time, until the window has opened.
        `${provisional && btcAtSignal !== null ? '~' : ''}${money(btcAtSignal)}`,
        money(btcAtResolution),
      ],
    ]),
    pen,
  );
}
