import type { Address } from 'viem';
import { z } from 'zod';
import { parseAddressOption, parseEndpointOption } from '../../../audit/command/option-values.ts';
import { DEFAULT_HORIZON } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { checkReceipt, type ReceiptCheck } from '../../../payer/check-receipt.ts';
import { checkX402Receipt } from '../../../payer/check-x402-receipt.ts';
import { isOracleError } from '../../../platform/errors.ts';
import { HORIZON_OPTION, JSON_OPTION, parseChoice, type ServiceValues, URL_OPTION } from '../arguments.ts';
import { EXIT, type SvcCommand } from '../command.ts';
import { buyAnswer, type PurchasedAnswer } from '../pay/buy.ts';
import { listCoins } from '../pay/coins.ts';
import { parseUsdOption } from '../pay/usd-option.ts';
import { formatJson, printNotice, printNoticeLines, printResult, wantsJson } from '../print.ts';
import { KEY_OPTIONS, type KeyOptions, loadAccount } from '../secrets/keys.ts';
import { queryService, resolveServiceUrl } from '../service-request.ts';
import { formatMinute, formatPercentOrDash, formatUsdAmount } from '../text/amounts.ts';
import { formatCheckLines, formatFacts, wrapText } from '../text/facts.ts';
import { styleValue, type TerminalWriter } from '../text/style.ts';
import { formatWindowTitle } from './signal.ts';

const PAID_PATHS = { signal: '/oracle', premium: '/oracle/premium' } as const;
const DEFAULT_MAX_USD = '0.05';

interface PayValues extends ServiceValues, KeyOptions {
  horizon?: HorizonName;
  maxUsd?: bigint;
  asset?: Address;
  rpc?: string;
  yes?: boolean;
}

const SELLER_INFO = z.object({ receipt: z.object({ signer: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }) });
const ANSWER = z.object({
  signal: z.string(),
  horizon: z.string(),
  date: z.string(),
  predictionId: z.string(),
  windowOpensAt: z.string(),
  resolvesAt: z.string(),
  direction: z.string().optional(),
  confidence: z.number().optional(),
  btcPrice: z.number().optional(),
  regime: z.string().optional(),
  attestationUid: z.string().nullable().optional(),
  note: z.string().optional(),
  payment: z.object({ usd: z.string(), txHash: z.string(), settledAt: z.string() }).nullable(),
});

/** Interface, section 4.5: pay per request. */
export const payCommand: SvcCommand<PayValues> = {
  arguments: '[what]',
  argumentValues: Object.keys(PAID_PATHS),
  description: `[what] is signal (default) or premium. Shows price, payee and network, and asks before it pays. A payment is stored before it is sent: after an interruption the next call sends the same payment, so that nothing is paid for twice. A HOLD may be free.`,
  options: [
    HORIZON_OPTION,
    ['--max-usd <sum>', `highest price to pay (default: ${DEFAULT_MAX_USD})`, parseUsdOption],
    ['--yes', 'do not ask'],
    [
      '--asset <address>',
      'also pay with this coin, on the chain of --rpc (known: USDC on Base; with --wallet the demo coin)',
      parseAddressOption,
    ],
    [
      '--rpc <url>',
      'endpoint of the chain, asked for the state of an expired payment (default for the demo coin: its own)',
      parseEndpointOption,
    ],
    ...KEY_OPTIONS,
    URL_OPTION,
    [JSON_OPTION[0], `${JSON_OPTION[1]}; includes the receipt`],
  ],
  footer: `Examples:
  svc pay --wallet buyer
  PRIVATE_KEY=0x... svc pay premium --yes > answer.json`,
  async run(context, { horizon = DEFAULT_HORIZON, json, ...options }, [what]) {
    const path = `${PAID_PATHS[parseChoice('what', what, ['signal', 'premium']) ?? 'signal']}?horizon=${horizon}`;
    const url = await resolveServiceUrl(context, options.url);
    const purchased = await buyAnswer(context, {
      url,
      path,
      coins: await listCoins(context, options),
      account: await loadAccount(options, context),
      maxMicros: options.maxUsd ?? parseUsdOption('--max-usd', DEFAULT_MAX_USD),
      yes: options.yes === true,
    });
    if (purchased === null) {
      printNotice(context, 'Nothing was paid.');
      return EXIT.failed;
    }
    const checks = purchased.charged ? await checkPurchase(purchased, url) : [];
    printResult(context, json, purchased.body, (writer) => [...formatAnswer(purchased, writer), '', ...formatCheckLines(checks, writer)]);
    if (wantsJson(context, json)) printNoticeLines(context, (writer) => formatCheckLines(checks, writer));
    return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
  },
};

/** The paid answer is printed in any case, so a receipt that cannot be checked becomes a failed check. */
async function checkPurchase({ body, payment, settlement }: PurchasedAnswer, url: string): Promise<ReceiptCheck[]> {
  try {
    const { receipt } = (await queryService({ url, path: '/.well-known/x402.json', schema: SELLER_INFO })).answer;
    const chainId = Number(String(payment.accepted.network).split(':')[1]);
    const issuer = { seller: receipt.signer as Address, chainId };
    const sale = { payer: payment.payload.authorization.from, payment: body.payment ?? {} };
    return [...(await checkReceipt(body, { payment, ...issuer })), ...(await checkX402Receipt(settlement, { ...sale, ...issuer }))];
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [{ what: `the receipt signer of the seller is known (${error.message})`, ok: false }];
  }
}

function formatAnswer({ body, charged }: PurchasedAnswer, writer: TerminalWriter): string[] {
  const { data } = ANSWER.safeParse(body);
  if (data === undefined) return formatJson({ isTTY: true }, body, 2).split('\n');
  const { direction, confidence, btcPrice, regime, attestationUid, payment, note } = data;
  return [
    formatWindowTitle(data, writer),
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
