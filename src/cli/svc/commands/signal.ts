import { z } from 'zod';
import { parseArguments, parseHorizonOption, READER_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../service-request.ts';
import { formatMinute, formatPercentOrDash, formatUsdAmount } from '../text/amounts.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import { styleValue } from '../text/outcome-style.ts';
import type { TerminalWriter } from '../text/style.ts';

const TEXT = { type: 'string' } as const;

const ANSWER = z.object({
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
  fearGreed: z.number().optional(),
  fearGreedLabel: z.string().optional(),
  etfFlows7d: z.number().optional(),
  skill: z.object({ verdict: z.string() }).optional(),
  nextSignalAt: z.string().nullable().optional(),
  access: z.object({ tier: z.string(), wallet: z.string() }).optional(),
});

type SignalAnswer = z.infer<typeof ANSWER>;

/** Interface, sections 2.1 and 2.2. */
export const signalCommand: SvcCommand = {
  name: 'signal',
  usage: '[--horizon 1d|2d|3d|7d] [options]',
  summary: 'The newest forecast, as far as you may see it',
  help: `With a login (svc login) or a token it has direction and confidence; for anybody else they stay gated until the outcome.

  --horizon <days>   1d, 2d, 3d or 7d; default 7d
${READER_HELP}

  svc signal --json | jq .signal`,
  async run(args, context) {
    const { values } = parseArguments(args, { horizon: TEXT, url: TEXT, token: TEXT, json: { type: 'boolean' } });
    const horizon = parseHorizonOption('--horizon', values.horizon);
    const url = resolveServiceUrl(context, values.url);
    const token = await resolveToken(context, url, values.token);
    const path = `${token === undefined ? '/api/svc/open/signal' : '/api/svc/oracle'}?horizon=${horizon}`;
    const { answer, body } = await queryService({ url, path, token, schema: ANSWER });
    if (wantsJson(context, values.json)) printJson(context, body);
    else
      printLines(context, (writer) => [
        ...formatSignal(answer, writer),
        ...(answer.signal === 'GATED' ? ['', ...wrapText(ACCESS_HINT, writer.width)] : []),
      ]);
    return EXIT.ok;
  },
};

const ACCESS_HINT = 'To see it: svc login (a wallet with gate tokens; --wallet basic in a demonstration), or svc pay for this one answer.';

function formatSignal(answer: SignalAnswer, writer: TerminalWriter): string[] {
  const { horizon, predictionId, windowOpensAt, resolvesAt, confidence, direction, btcPrice, timestamp, skill, access } = answer;
  return [
    writer.paint(
      'bold',
      `BTC/USD, ${horizon.replace('d', ' days')}: from ${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`,
    ),
    '',
    ...formatFacts(
      [
        ['Signal', styleValue(answer.signal)],
        ['Direction', direction === null ? null : styleValue(direction)],
        ['Confidence', confidence === null ? null : formatPercentOrDash(confidence)],
        ['Price', `${formatUsdAmount(btcPrice)} USD at ${formatMinute(timestamp)} UTC`],
        ['Regime', answer.regime],
        ['Fear & greed', answer.fearGreed === undefined ? null : `${answer.fearGreed}, ${answer.fearGreedLabel}`],
        ['ETF flows', answer.etfFlows7d === undefined ? null : `${formatUsdAmount(answer.etfFlows7d / 1e6, 1)} million USD in 7 days`],
        ['On chain', formatAttestation(answer)],
        ['Model', answer.modelVersion],
        ['Data', `${answer.source}${answer.replayed ? ', replayed' : ''}`],
        ['Next', answer.nextSignalAt == null ? null : `${formatMinute(answer.nextSignalAt)} UTC`],
        ['Seen as', access === undefined ? null : `${access.tier}, ${access.wallet}`],
      ],
      writer,
    ),
    ...(skill === undefined ? [] : ['', ...wrapText(`Its record: ${skill.verdict}.`, writer.width)]),
    ...(answer.attestationUid === null
      ? []
      : ['', writer.paint('dim', `svc verify ${predictionId}    checks on chain that it was fixed before`)]),
  ];
}

function formatAttestation({ attestationUid }: SignalAnswer): string {
  return attestationUid ?? 'not yet: it is committed at 21:38 UTC';
}
