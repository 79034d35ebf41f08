import { z } from 'zod';
import { DEFAULT_HORIZON } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { HORIZON_OPTION, JSON_OPTION, type ServiceValues, TOKEN_OPTION, URL_OPTION } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import { printResult } from '../print.ts';
import { queryService, resolveServiceUrl, resolveToken } from '../service-request.ts';
import { formatMinute, formatPercentOrDash, formatUsdAmount } from '../text/amounts.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';

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

/** Interface, sections 2.1 and 2.2. */
export const signalCommand: SvcCommand<ServiceValues & { horizon?: HorizonName; token?: string }> = {
  description: 'Direction and confidence need a login (svc login) or a token until the forecast is revealed.',
  options: [HORIZON_OPTION, URL_OPTION, TOKEN_OPTION, JSON_OPTION],
  footer: 'Example: svc signal --json | jq .signal',
  async run(context, { horizon = DEFAULT_HORIZON, json, ...options }) {
    const url = await resolveServiceUrl(context, options.url);
    const token = await resolveToken(context, url, options.token);
    const path = `${token === undefined ? '/api/svc/open/signal' : '/api/svc/oracle'}?horizon=${horizon}` as const;
    const { answer, body } = await queryService({ url, path, token, schema: ANSWER });
    printResult(context, json, body, (writer) => formatSignal(answer, writer));
    return EXIT.ok;
  },
};

const ACCESS_HINT = 'To see it: svc login (a wallet with gate tokens; --wallet basic in the demo), or svc pay for a single answer.';

function formatSignal(answer: z.infer<typeof ANSWER>, writer: TerminalWriter): string[] {
  const { predictionId, confidence, direction, btcPrice, timestamp, fearGreed, etfFlows7d, nextSignalAt, skill, access } = answer;
  const facts = formatFacts(
    [
      ['Signal', styleValue(answer.signal)],
      ['Direction', direction === null ? null : styleValue(direction)],
      ['Confidence', confidence === null ? null : formatPercentOrDash(confidence)],
      ['Price', `${formatUsdAmount(btcPrice)} USD at ${formatMinute(timestamp)} UTC`],
      ['Regime', answer.regime],
      ['Fear & greed', fearGreed === undefined ? null : `${fearGreed}, ${answer.fearGreedLabel}`],
      ['ETF flows', etfFlows7d === undefined ? null : `${formatUsdAmount(etfFlows7d / 1e6, 1)} million USD in 7 days`],
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

export function formatWindowTitle(record: Record<'horizon' | 'windowOpensAt' | 'resolvesAt', string>, writer: TerminalWriter): string {
  const { horizon, windowOpensAt, resolvesAt } = record;
  const days = horizon.replace('d', ' days');
  return writer.paint('bold', `BTC/USD, ${days}: from ${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`);
}
