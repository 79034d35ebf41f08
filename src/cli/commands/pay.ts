import { type Address, parseUnits } from 'viem';
import { z } from 'zod';
import { Misuse } from '../../audit/misuse.ts';
import { addressIn, urlIn } from '../../audit/option-values.ts';
import { isOracleError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Host } from '../host.ts';
import { type Bought, buy } from '../pay/buy.ts';
import { checkReceipt, type ReceiptCheck } from '../pay/check-receipt.ts';
import { coinsFor } from '../pay/coins.ts';
import { jsonFor, printJson, printLines, tell, tellLines, wantsJson } from '../print.ts';
import { accountFor, KEY_HELP, KEY_OPTIONS } from '../secrets/keys.ts';
import { ask, serviceUrl } from '../service.ts';
import { minute, money, percent } from '../text/amounts.ts';
import { checkLines } from '../text/checks.ts';
import { facts, wrapped } from '../text/facts.ts';
import type { Pen } from '../text/style.ts';
import { wordOf } from '../text/words-of.ts';
import { horizonOf, oneOf, parseWords, SERVICE_HELP } from '../words.ts';

const PATHS = { signal: '/oracle', premium: '/oracle/premium' } as const;
const DEFAULT_MOST_USD = '0.05';

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = { ...KEY_OPTIONS, url: TEXT, horizon: TEXT, 'max-usd': TEXT, asset: TEXT, rpc: TEXT, yes: FLAG, json: FLAG } as const;

const SELLER = z.object({ receipt: z.object({ signer: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }) });
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
export const pay: Command = {
  name: 'pay',
  takes: '[signal | premium] [options]',
  summary: 'Buys one answer by x402, without an account, and checks its receipt',
  help: `It shows price, payee and network, and asks before it pays. A payment is kept before it is sent: when the call is cut off, the next one
sends the same payment again, so that nothing is paid for twice. A HOLD may be free, and is not charged then.

  --horizon <days>   1d, 2d, 3d or 7d; default 7d
  --max-usd <sum>    pays no more than this; default ${DEFAULT_MOST_USD}
  --yes              does not ask
  --asset <address>  also pays with that coin, on the chain of --rpc; known are USDC on Base, and that of the demonstration with --wallet
  --rpc <url>        endpoint of the chain: asked what became of a payment that ended. Default: for the coin of the demonstration, its own
${KEY_HELP}
${SERVICE_HELP}
  --json             the answer with its receipt as JSON; also when the output is no terminal

  svc pay --wallet buyer
  PRIVATE_KEY=0x... svc pay premium --yes > answer.json`,
  async run(words, host) {
    const { values, positionals } = parseWords(words, OPTIONS, 1);
    const what = oneOf('what', positionals[0], ['signal', 'premium']) ?? 'signal';
    const horizon = horizonOf('--horizon', values.horizon);
    const mostMicros = usdIn('--max-usd', values['max-usd'] ?? DEFAULT_MOST_USD);
    const url = serviceUrl(host, values.url);
    const named = { wallet: values.wallet, asset: addressIn('--asset', values.asset), rpc: urlIn('--rpc', values.rpc) };
    const coins = await coinsFor(host, named);
    const path = `${PATHS[what]}?horizon=${horizon}`;
    const bought = await buy(host, { url, path, account: await accountFor(values, host), mostMicros, coins, yes: values.yes === true });
    if (bought === null) {
      tell(host, 'Nothing was paid.');
      return EXIT.failed;
    }
    return show(host, bought, { url, json: values.json });
  },
};

/** Whole units of an amount in dollars, exactly. @throws Misuse */
export function usdIn(name: string, text: string): bigint {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new Misuse(name, 'must be an amount in US dollars, such as 0.05');
  return parseUnits(text, 6);
}

async function show(host: Host, bought: Bought, { url, json }: { url: string; json?: boolean }): Promise<number> {
  const checks = bought.charged ? await checksOf(bought, url) : [];
  if (wantsJson(host, json)) {
    printJson(host, bought.body);
    tellLines(host, (pen) => checkLines(checks, pen));
  } else printLines(host, (pen) => [...answerText(bought, pen), '', ...checkLines(checks, pen)]);
  return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** What was paid for is told in any case; a receipt that cannot be checked is one that does not hold. */
async function checksOf({ body, payment }: Bought, url: string): Promise<ReceiptCheck[]> {
  try {
    const { receipt } = (await ask({ url, path: '/.well-known/x402.json', as: SELLER })).answer;
    const chainId = Number(String(payment.accepted.network).split(':')[1]);
    return await checkReceipt(body, { payment, seller: receipt.signer as Address, chainId });
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [{ what: `the seller could be asked who signs its receipts (${error.message})`, ok: false }];
  }
}

function answerText({ body, charged }: Bought, pen: Pen): string[] {
  const { data } = ANSWER.safeParse(body);
  if (data === undefined) return jsonFor({ isTTY: true }, body, 2).split('\n');
  const { horizon, windowOpensAt, resolvesAt, direction, confidence, btcPrice, regime, attestationUid, payment, note } = data;
  return [
    pen.paint('bold', `BTC/USD, ${horizon.replace('d', ' days')}: from ${minute(windowOpensAt)} to ${minute(resolvesAt)} UTC`),
    '',
    ...facts(
      [
        ['Signal', wordOf(data.signal)],
        ['Direction', direction === undefined ? null : wordOf(direction)],
        ['Confidence', confidence === undefined ? null : percent(confidence)],
        ['Price', btcPrice === undefined ? null : `${money(btcPrice)} USD`],
        ['Regime', regime ?? null],
        ['On chain', attestationUid ?? null],
        ['Paid', payment === null ? 'nothing' : `${payment.usd} USD at ${minute(payment.settledAt)} UTC`],
        ['Transaction', payment?.txHash ?? null],
      ],
      pen,
    ),
    ...(charged || note === undefined ? [] : ['', ...wrapped(note, pen.width)]),
  ];
}
