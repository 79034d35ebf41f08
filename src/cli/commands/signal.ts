import { z } from 'zod';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printJson, printLines, wantsJson } from '../print.ts';
import { ask, serviceUrl, tokenFor } from '../service.ts';
import { minute, money, percent } from '../text/amounts.ts';
import { facts, wrapped } from '../text/facts.ts';
import type { Pen } from '../text/style.ts';
import { wordOf } from '../text/words-of.ts';
import { horizonOf, parseWords, READER_HELP } from '../words.ts';

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

type Answer = z.infer<typeof ANSWER>;

/** Interface, sections 2.1 and 2.2. */
export const signal: Command = {
  name: 'signal',
  takes: '[--horizon 1d|2d|3d|7d] [options]',
  summary: 'The newest forecast, as far as you may see it',
  help: `With a login (svc login) or a token it has direction and confidence; for anybody else they stay gated until the outcome.

  --horizon <days>   1d, 2d, 3d or 7d; default 7d
${READER_HELP}

  svc signal --json | jq .signal`,
  async run(words, host) {
    const { values } = parseWords(words, { horizon: TEXT, url: TEXT, token: TEXT, json: { type: 'boolean' } });
    const horizon = horizonOf('--horizon', values.horizon);
    const url = serviceUrl(host, values.url);
    const token = await tokenFor(host, url, values.token);
    const path = `${token === undefined ? '/api/svc/open/signal' : '/api/svc/oracle'}?horizon=${horizon}`;
    const { answer, body } = await ask({ url, path, token, as: ANSWER });
    if (wantsJson(host, values.json)) printJson(host, body);
    else
      printLines(host, (pen) => [
        ...signalText(answer, pen),
        ...(answer.signal === 'GATED' ? ['', ...wrapped(HOW_TO_SEE_IT, pen.width)] : []),
      ]);
    return EXIT.ok;
  },
};

const HOW_TO_SEE_IT =
  'To see it: svc login (a wallet with gate tokens; --wallet basic in a demonstration), or svc pay for this one answer.';

function signalText(answer: Answer, pen: Pen): string[] {
  const { horizon, predictionId, windowOpensAt, resolvesAt, confidence, direction, btcPrice, timestamp, skill, access } = answer;
  return [
    pen.paint('bold', `BTC/USD, ${horizon.replace('d', ' days')}: from ${minute(windowOpensAt)} to ${minute(resolvesAt)} UTC`),
    '',
    ...facts(
      [
        ['Signal', wordOf(answer.signal)],
        ['Direction', direction === null ? null : wordOf(direction)],
        ['Confidence', confidence === null ? null : percent(confidence)],
        ['Price', `${money(btcPrice)} USD at ${minute(timestamp)} UTC`],
        ['Regime', answer.regime],
        ['Fear & greed', answer.fearGreed === undefined ? null : `${answer.fearGreed}, ${answer.fearGreedLabel}`],
        ['ETF flows', answer.etfFlows7d === undefined ? null : `${money(answer.etfFlows7d / 1e6, 1)} million USD in 7 days`],
        ['On chain', onChain(answer)],
        ['Model', answer.modelVersion],
        ['Data', `${answer.source}${answer.replayed ? ', replayed' : ''}`],
        ['Next', answer.nextSignalAt == null ? null : `${minute(answer.nextSignalAt)} UTC`],
        ['Seen as', access === undefined ? null : `${access.tier}, ${access.wallet}`],
      ],
      pen,
    ),
    ...(skill === undefined ? [] : ['', ...wrapped(`Its record: ${skill.verdict}.`, pen.width)]),
    ...(answer.attestationUid === null
      ? []
      : ['', pen.paint('dim', `svc verify ${predictionId}    checks on chain that it was fixed before`)]),
  ];
}

function onChain({ attestationUid }: Answer): string {
  return attestationUid ?? 'not yet: it is committed at 21:38 UTC';
}
