import { type Address, parseUnits } from 'viem';
import { z } from 'zod';
import { parseAddressOption, parseEndpointOption } from '../../../audit/command/option-values.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { parseArguments, parseChoice, parseHorizonOption, SERVICE_HELP } from '../arguments.ts';
import type { SvcCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { buyAnswer, type PurchasedAnswer } from '../pay/buy.ts';
import { checkReceipt, type ReceiptCheck } from '../pay/check-receipt.ts';
import { listCoins } from '../pay/coins.ts';
import { formatJson, printJson, printLines, printNotice, printNoticeLines, wantsJson } from '../print.ts';
import { KEY_HELP, KEY_OPTIONS, loadAccount } from '../secrets/keys.ts';
import { queryService, resolveServiceUrl } from '../service-request.ts';
import { formatMinute, formatPercentOrDash, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines } from '../text/checks.ts';
import { formatFacts, wrapText } from '../text/facts.ts';
import { styleValue } from '../text/outcome-style.ts';
import type { TerminalWriter } from '../text/style.ts';

const PAID_PATHS = { signal: '/oracle', premium: '/oracle/premium' } as const;
const DEFAULT_MAX_USD = '0.05';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = { ...KEY_OPTIONS, url: TEXT, horizon: TEXT, 'max-usd': TEXT, asset: TEXT, rpc: TEXT, yes: FLAG, json: FLAG } as const;

const SELLER_INFO = z.object({ receipt: z.object({ signer: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }) });
const ANSWER = z.object({
  ...{
    signal: z.string(),
    horizon: z.string(),
    date: z.string(),
    predictionId: z.string(),
    windowOpensAt: z.string(),
    resolvesAt: z.string(),
  },
  ...{
    direction: z.string().optional(),
    confidence: z.number().optional(),
    btcPrice: z.number().optional(),
    regime: z.string().optional(),
  },
  attestationUid: z.string().nullable().optional(),
  note: z.string().optional(),
  payment: z.object({ usd: z.string(), txHash: z.string(), settledAt: z.string() }).nullable(),
});

/** Interface, section 4.5: pay per request. */
export const payCommand: SvcCommand = {
  name: 'pay',
  usage: '[signal | premium] [options]',
  summary: 'Buys one answer by x402, without an account, and checks its receipt',
  help: `It shows price, payee and network, and asks before it pays. A payment is kept before it is sent: when the call is cut off, the next one
sends the same payment again, so that nothing is paid for twice. A HOLD may be free, and is not charged then.

  --horizon <days>   1d, 2d, 3d or 7d; default 7d
  --max-usd <sum>    pays no more than this; default ${DEFAULT_MAX_USD}
  --yes              does not ask
  --asset <address>  also pays with that coin, on the chain of --rpc; known are USDC on Base, and that of the demonstration with --wallet
  --rpc <url>        endpoint of the chain: asked what became of a payment that ended. Default: for the coin of the demonstration, its own
${KEY_HELP}
${SERVICE_HELP}
  --json             the answer with its receipt as JSON; also when the output is no terminal

  svc pay --wallet buyer
  PRIVATE_KEY=0x... svc pay premium --yes > answer.json`,
  async run(args, context) {
    const { values, positionals } = parseArguments(args, OPTIONS, 1);
    const what = parseChoice('what', positionals[0], ['signal', 'premium']) ?? 'signal';
    const horizon = parseHorizonOption('--horizon', values.horizon);
    const maxMicros = parseUsdOption('--max-usd', values['max-usd'] ?? DEFAULT_MAX_USD);
    const url = resolveServiceUrl(context, values.url);
    const named = {
      wallet: values.wallet,
      asset: parseAddressOption('--asset', values.asset),
      rpc: parseEndpointOption('--rpc', values.rpc),
    };
    const coins = await listCoins(context, named);
    const path = `${PAID_PATHS[what]}?horizon=${horizon}`;
    const purchased = await buyAnswer(context, {
      url,
      path,
      account: await loadAccount(values, context),
      maxMicros,
      coins,
      yes: values.yes === true,
    });
    if (purchased === null) {
      printNotice(context, 'Nothing was paid.');
      return EXIT.failed;
    }
    return printPurchase(context, purchased, { url, json: values.json });
  },
};

/** Whole units of an amount in dollars, exactly. @throws Misuse */
export function parseUsdOption(name: string, text: string): bigint {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new UsageError(name, 'must be an amount in US dollars, such as 0.05');
  return parseUnits(text, 6);
}

async function printPurchase(
  context: CliContext,
  purchased: PurchasedAnswer,
  { url, json }: { url: string; json?: boolean },
): Promise<number> {
  const checks = purchased.charged ? await checkPurchase(purchased, url) : [];
  if (wantsJson(context, json)) {
    printJson(context, purchased.body);
    printNoticeLines(context, (writer) => formatCheckLines(checks, writer));
  } else printLines(context, (writer) => [...formatAnswer(purchased, writer), '', ...formatCheckLines(checks, writer)]);
  return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** What was paid for is told in any case; a receipt that cannot be checked is one that does not hold. */
async function checkPurchase({ body, payment }: PurchasedAnswer, url: string): Promise<ReceiptCheck[]> {
  try {
    const { receipt } = (await queryService({ url, path: '/.well-known/x402.json', schema: SELLER_INFO })).answer;
    const chainId = Number(String(payment.accepted.network).split(':')[1]);
    return await checkReceipt(body, { payment, seller: receipt.signer as Address, chainId });
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [{ what: `the seller could be asked who signs its receipts (${error.message})`, ok: false }];
  }
}

function formatAnswer({ body, charged }: PurchasedAnswer, writer: TerminalWriter): string[] {
  const { data } = ANSWER.safeParse(body);
  if (data === undefined) return formatJson({ isTTY: true }, body, 2).split('\n');
  const { horizon, windowOpensAt, resolvesAt, direction, confidence, btcPrice, regime, attestationUid, payment, note } = data;
  return [
    writer.paint(
      'bold',
      `BTC/USD, ${horizon.replace('d', ' days')}: from ${formatMinute(windowOpensAt)} to ${formatMinute(resolvesAt)} UTC`,
    ),
    '',
    ...formatFacts(
      [
        ['Signal', styleValue(data.signal)],
        ['Direction', direction === undefined ? null : styleValue(direction)],
        ['Confidence', confidence === undefined ? null : formatPercentOrDash(confidence)],
        ['Price', btcPrice === undefined ? null : `${formatUsdAmount(btcPrice)} USD`],
        ['Regime', regime ?? null],
        ['On chain', attestationUid ?? null],
        ['Paid', payment === null ? 'nothing' : `${payment.usd} USD at ${formatMinute(payment.settledAt)} UTC`],
        ['Transaction', payment?.txHash ?? null],
      ],
      writer,
    ),
    ...(charged || note === undefined ? [] : ['', ...wrapText(note, writer.width)]),
  ];
}
