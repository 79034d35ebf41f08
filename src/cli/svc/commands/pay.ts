import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Address, formatUnits, type Hex, isAddressEqual, type LocalAccount, type PublicClient, parseUnits } from 'viem';
import { z } from 'zod';
import { ServiceProblem } from '../../../../clients/typescript/src/errors.ts';
import {
  checkPurchase as checkReceipts,
  deliverPayment,
  fetchReceiptSigner,
  fetchTerms,
} from '../../../../clients/typescript/src/payment.ts';
import { chainCall } from '../../../chain/rpc.ts';
import { stablecoinAbi } from '../../../chain/stablecoin.ts';
import { type PaymentRequirement, type SignedPayment, signPayment } from '../../../commerce/payment-signer.ts';
import { isOracleError, OracleError, UsageError } from '../../../errors.ts';
import { DEFAULT_HORIZON } from '../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../forecast/model.ts';
import { findCoin, getPaymentExpiry, type PayableCoin, type ReceiptCheck, USDC_COINS } from '../../../payer.ts';
import { createEvmReader } from '../../../platform/outbound/evm.ts';
import { parseAddressOption, parseEndpointOption } from '../audit-options.ts';
import {
  formatJson,
  HORIZON_OPTION,
  JSON_OPTION,
  parseChoice,
  printNotice,
  printNoticeLines,
  printResult,
  resolveServiceUrl,
  type ServiceValues,
  URL_OPTION,
  wantsJson,
} from '../command.ts';
import {
  type CliContext,
  createPrivateFile,
  type DemoDeployment,
  EXIT,
  getConfigFolder,
  readJsonFile,
  type SvcCommand,
} from '../context.ts';
import { createServiceSend, KEY_OPTIONS, type KeyOptions, loadAccount } from '../secrets.ts';
import {
  formatCheckLines,
  formatFacts,
  formatMinute,
  formatPercentOrDash,
  formatUsdAmount,
  styleValue,
  type TerminalWriter,
} from '../text.ts';
import { formatWindowTitle } from './signal.ts';

interface BuyOptions {
  url: string;
  path: string;
  account: LocalAccount;
  maxMicros: bigint;
  coins: readonly Coin[];
  yes: boolean;
}

interface PurchasedAnswer {
  body: Record<string, unknown>;
  payment: SignedPayment;
  /** Settlement response of x402, unchecked; undefined without one. */
  settlement: unknown;
}

/** A settlement is confirmed on chain before its answer is sent. */
const TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 5;
const DECIMALS = 6;

/** Stored before it is sent, resent by the next call until its outcome is known: never paid twice. @returns null when the user declined */
async function buyAnswer(context: CliContext, options: BuyOptions): Promise<PurchasedAnswer | null> {
  const purchase = { url: options.url, path: options.path, wallet: options.account.address };
  const pending = await readPendingPayment(context, purchase);
  if (pending !== null) {
    printNotice(context, `A payment of ${formatMinute(pending.signedAt)} UTC is unfinished: the same payment is sent again.`);
    const bought = await completePayment(context, purchase, pending);
    if (!('ended' in bought)) return bought;
    const ended = { purchase, payment: pending.payment, coins: options.coins, rejection: bought.ended };
    printNotice(context, await describeUnused(context, ended));
    await removePendingPayment(context, purchase, pending.payment);
  }
  const requirement = await fetchPaymentRequirement(options);
  if (!(await confirmPurchase(context, requirement, options))) return null;
  const payment = await signPayment(options.account, requirement, context.now());
  if (!(await storePendingPayment(context, purchase, { signedAt: context.now().toISOString(), payment }))) throw paymentInProgressError();
  const bought = await completePayment(context, purchase, { payment });
  if (!('ended' in bought)) return bought;
  throw await toEndedPaymentError(context, { purchase, payment, coins: options.coins, rejection: bought.ended });
}

/** The answer, or the rejection of a payment that has expired in the meantime; that it was not used is only the service's claim. */
async function completePayment(
  context: CliContext,
  purchase: Purchase,
  { payment }: Pick<PendingPayment, 'payment'>,
): Promise<PurchasedAnswer | { ended: OracleError }> {
  const { url, path } = purchase;
  const onRetry = ({ message }: OracleError) => printNotice(context, `${message}; the same payment is sent again`);
  const sent = await deliverPayment(connect(url), { path, payment }, { attempts: MAX_ATTEMPTS, onRetry }).catch((error: unknown) => {
    if (error instanceof ServiceProblem) return { rejection: error };
    throw toUnconfirmedError(error);
  });
  if ('answer' in sent) {
    await removePendingPayment(context, purchase, payment);
    return { body: sent.answer, payment, settlement: sent.settlement };
  }
  if (getPaymentExpiry(payment) > context.now()) throw rejectedPaymentError(sent.rejection, getPaymentExpiry(payment));
  return { ended: sent.rejection };
}

const connect = (url: string) => ({ url, send: createServiceSend(url, { timeoutMs: TIMEOUT_MS }) });

async function fetchPaymentRequirement({ url, path, maxMicros, coins }: BuyOptions): Promise<PaymentRequirement> {
  const requirement = await fetchTerms(connect(url), path, { coins, unknownCoinHint: 'To pay with this coin, use --asset and --rpc.' });
  if (requirement.amountMicros <= maxMicros) return requirement;
  const [price, maxUsd] = [requirement.amountMicros, maxMicros].map((micros) => formatUnits(micros, DECIMALS));
  const problem = `the price is ${price} USD, above the limit of ${maxUsd}`;
  throw new UsageError('--max-usd', problem, 'Nothing was paid. A higher --max-usd allows it.');
}

/** Shows the payment and asks for confirmation. @throws UsageError without a terminal */
async function confirmPurchase(context: CliContext, requirement: PaymentRequirement, options: BuyOptions): Promise<boolean> {
  const { yes, account, coins } = options;
  const price = `${formatUnits(requirement.amountMicros, DECIMALS)} USD`;
  const rows = [
    ['Price', price],
    ['To', requirement.payTo],
    ['In', `${requirement.assetName}, ${requirement.asset}`],
    // A local chain uses the chain id of the network that it simulates.
    ['On', `chain ${requirement.chainId}${findCoin(coins, requirement)?.isLocal ? ', a local one whose money is worth nothing' : ''}`],
    ['From', account.address],
  ] as const;
  printNoticeLines(context, (writer) => formatFacts(rows, writer));
  if (yes) return true;
  if (context.prompt === null) throw new UsageError('--yes', 'is required without a terminal', 'Nothing was paid.');
  const answer = await context.prompt(`Pay ${price}? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}

export interface Coin extends PayableCoin {
  /** Endpoint of its chain that was not named by the seller; null when none is known. */
  rpcUrl: string | null;
  /** On the local chain of the demo deployment, where it is worth nothing. Known from this folder, not from the seller. */
  isLocal: boolean;
}
const REQUEST = { timeoutMs: 15_000, retryCount: 2, retryDelayMs: 150 };

interface CoinOptions {
  wallet?: string;
  asset?: Address;
  rpc?: string;
}

/** USDC, the demo coin, or the coin of `--asset`. @throws UsageError; OracleError CHAIN_UNREACHABLE, CONFIG_INVALID */
async function listCoins(context: CliContext, { wallet, asset, rpc }: CoinOptions): Promise<Coin[]> {
  const demo = wallet === undefined ? await readDemoOrNull(context) : ((await context.demo?.()) ?? null);
  const rpcChain = rpc === undefined ? null : await readChainId(createRpcClient(rpc));
  const usdc = USDC_COINS.map((coin) => ({ ...coin, rpcUrl: coin.chainId === rpcChain ? (rpc as string) : null, isLocal: false }));
  const ofDemo: Coin[] =
    demo === null ? [] : [{ address: demo.contracts.stablecoin, chainId: demo.chainId, rpcUrl: demo.rpcUrl, isLocal: true }];
  const named = asset === undefined ? [] : [await readNamedCoin(asset, { rpc, ofDemo })];
  return [...named, ...(wallet === undefined ? [] : ofDemo), ...usdc];
}

async function readDemoOrNull({ demo }: CliContext): Promise<DemoDeployment | null> {
  return (await demo?.().catch((error: unknown) => (isOracleError(error) ? null : Promise.reject(error)))) ?? null;
}

/** Bound to the chain on which it was read: on another chain the address may be any contract. */
async function readNamedCoin(address: Address, { rpc, ofDemo }: { rpc: string | undefined; ofDemo: readonly Coin[] }): Promise<Coin> {
  const local = ofDemo.find((coin) => isAddressEqual(coin.address, address));
  const rpcUrl = rpc ?? local?.rpcUrl ?? undefined;
  if (rpcUrl === undefined) throw new UsageError('--asset', 'requires --rpc, to read the coin on its chain');
  const client = createRpcClient(rpcUrl);
  const chainId = await readChainId(client);
  const decimals = await chainCall('Reading the decimals of the coin', () =>
    client.readContract({ address, abi: stablecoinAbi, functionName: 'decimals' }),
  ).catch((error: unknown) => {
    if (!isOracleError(error, 'CHAIN_REVERTED')) throw error;
    throw new UsageError('--asset', `there is no coin at ${address} on chain ${chainId}`);
  });
  if (decimals !== DECIMALS) throw new UsageError('--asset', `has ${decimals} decimals instead of ${DECIMALS}`);
  return { address, chainId, rpcUrl, isLocal: local !== undefined && local.rpcUrl === rpcUrl };
}

function createRpcClient(rpcUrl: string): PublicClient {
  return createEvmReader({ rpcUrl, ...REQUEST });
}

function readChainId(client: PublicClient): Promise<number> {
  return chainCall('Asking for the chain id', () => client.getChainId());
}

/** `open`: not used, and still valid by the clock of the chain. `unknown`: no endpoint of the chain is known. */
type AuthorizationState = 'used' | 'unused' | 'open' | 'unknown';

interface EndedPayment {
  purchase: Purchase;
  payment: SignedPayment;
  coins: readonly Coin[];
  rejection: OracleError;
}

/** A notice that the payment was not used, and whether the chain confirms it. @throws OracleError when it was used, or still may be */
async function describeUnused(context: CliContext, ended: EndedPayment): Promise<string> {
  const use = await readAuthorizationState(ended.payment, ended.coins);
  if (use === 'used') throw usedPaymentError(context, ended);
  if (use === 'open') throw openPaymentError(ended.rejection);
  if (use === 'unused') return 'It expired unused according to the chain. A new one is signed.';
  return 'It has expired. Only the service claims that it was not used; --rpc checks the chain. A new one is signed.';
}

/** The error of a call whose payment has expired without an answer. The payment is deleted only when the chain confirms that it is unused. */
async function toEndedPaymentError(context: CliContext, ended: EndedPayment): Promise<OracleError> {
  const { purchase, payment, coins, rejection } = ended;
  const use = await readAuthorizationState(payment, coins).catch((error: unknown) => {
    if (!isOracleError(error)) throw error;
    return 'unknown' as const;
  });
  if (use === 'used') return usedPaymentError(context, ended);
  if (use === 'open') return openPaymentError(rejection);
  if (use === 'unknown') {
    const hint =
      'It is not known whether it was paid: the payment has expired, and the chain could not be read (--rpc). It is kept for the next call.';
    return withHint(rejection, hint);
  }
  await removePendingPayment(context, purchase, payment);
  return withHint(rejection, 'Nothing was paid: the payment expired unused according to the chain.');
}

function usedPaymentError(context: CliContext, { purchase, payment, rejection }: EndedPayment): OracleError {
  const { nonce, to } = payment.payload.authorization;
  const what = `The payment was used on chain, but the service returned no answer (${rejection.code}: ${rejection.message})`;
  return new OracleError('CONFLICT', what, {
    suggestedAction: `Ask the seller ${to} about the authorization ${nonce}. To pay again, remove ${getPaymentFile(context, purchase)}.`,
    cause: rejection,
  });
}

function openPaymentError(rejection: OracleError): OracleError {
  return withHint(rejection, 'By the clock of the chain the payment may still be used. The next call sends the same payment again.');
}

function rejectedPaymentError(rejection: OracleError, end: Date): OracleError {
  const again = `Only the service claims that nothing was paid. Until ${formatMinute(end)} UTC the next call sends the same payment again.`;
  return withHint(rejection, `${rejection.suggestedAction ?? ''} ${again}`.trim());
}

function toUnconfirmedError(error: unknown): unknown {
  if (!isOracleError(error)) return error;
  const hint = 'It is not known yet whether it was paid. Call again to send the same payment.';
  return new OracleError(error.code === 'SERVICE_UNREACHABLE' ? 'TRANSACTION_UNCONFIRMED' : error.code, error.message, {
    suggestedAction: hint,
    cause: error,
  });
}

function paymentInProgressError(): OracleError {
  return new OracleError('CONFLICT', 'Another call is paying for the same answer', {
    suggestedAction: 'Call again to continue with that payment.',
  });
}

function withHint(rejection: OracleError, suggestedAction: string): OracleError {
  return new OracleError(rejection.code, rejection.message, { suggestedAction, cause: rejection });
}

/** The on-chain state of an authorization (EIP-3009), without trusting the seller. @throws OracleError CHAIN_UNREACHABLE, CHAIN_REVERTED */
async function readAuthorizationState({ accepted, payload }: SignedPayment, coins: readonly Coin[]): Promise<AuthorizationState> {
  const { asset, network } = accepted as { asset: Address; network: string };
  const rpcUrl = findCoin(coins, { asset, chainId: Number(network.split(':')[1]) })?.rpcUrl;
  if (rpcUrl == null) return 'unknown';
  const client = createRpcClient(rpcUrl);
  const { from, nonce, validBefore } = payload.authorization;
  // On a quiet chain the newest block is old; the pending block is the one that could still use it.
  const { timestamp } = await chainCall('Reading the clock of the chain', () => client.getBlock({ blockTag: 'pending' }));
  const args = [from as Address, nonce as Hex] as const;
  const call = { address: asset, abi: stablecoinAbi, functionName: 'authorizationState', args } as const;
  const isUsed = await chainCall('Reading what became of the payment', () => client.readContract(call));
  return isUsed ? 'used' : timestamp < BigInt(validBefore) ? 'open' : 'unused';
}

const DECIMAL = z.string().regex(/^\d{1,30}$/);

const PENDING_PAYMENT = z.object({
  signedAt: z.iso.datetime(),
  payment: z.looseObject({
    x402Version: z.literal(2),
    accepted: z.looseObject({ network: z.string(), asset: z.string().regex(/^0x[0-9a-fA-F]{40}$/) }),
    payload: z.object({
      signature: z.string().regex(/^0x[0-9a-f]+$/),
      authorization: z.object({
        from: z.string(),
        to: z.string(),
        value: DECIMAL,
        validAfter: DECIMAL,
        validBefore: DECIMAL,
        nonce: z.string(),
      }),
    }),
  }),
});

interface PendingPayment {
  signedAt: string;
  payment: SignedPayment;
}

/** What a payment is for. While one payment may still be used, no second one is signed for the same purchase. */
interface Purchase {
  url: string;
  path: string;
  wallet: string;
}

export async function readPendingPayment(context: CliContext, purchase: Purchase): Promise<PendingPayment | null> {
  const pending = await readJsonFile(getPaymentFile(context, purchase));
  // Not the parsed value, which could reorder keys: the payment is resent byte for byte.
  return PENDING_PAYMENT.safeParse(pending).success ? (pending as PendingPayment) : null;
}

/** @returns false when a payment for the purchase exists @throws OracleError CONFIG_INVALID */
export function storePendingPayment(context: CliContext, purchase: Purchase, pending: PendingPayment): Promise<boolean> {
  return createPrivateFile(getPaymentFile(context, purchase), pending);
}

/** Deletes this payment, but not one that another call has stored in the meantime. */
export async function removePendingPayment(context: CliContext, purchase: Purchase, { payload }: SignedPayment): Promise<void> {
  const pending = await readPendingPayment(context, purchase);
  if (pending !== null && pending.payment.payload.authorization.nonce !== payload.authorization.nonce) return;
  await rm(getPaymentFile(context, purchase), { force: true });
}

function getPaymentFile(context: CliContext, { url, path, wallet }: Purchase): string {
  const name = createHash('sha256').update(`${url}${path} ${wallet.toLowerCase()}`).digest('hex').slice(0, 32);
  return join(getConfigFolder(context), 'payments', `${name}.json`);
}

/** Millionths of a dollar, exactly. @throws UsageError */
export function parseUsdOption(name: string, text: string): bigint {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new UsageError(name, 'must be an amount in US dollars, such as 0.05');
  return parseUnits(text, 6);
}

const PAID_PATHS = { signal: '/oracle', premium: '/oracle/premium' } as const;
const DEFAULT_MAX_USD = '0.05';

interface PayValues extends ServiceValues, KeyOptions {
  horizon?: HorizonName;
  maxUsd?: bigint;
  asset?: Address;
  rpc?: string;
  yes?: boolean;
}

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
  payment: z.object({ usd: z.string(), txHash: z.string(), settledAt: z.string() }).nullable(),
});

/** Interface, section 4.5: pay per request. */
export const payCommand: SvcCommand<PayValues> = {
  example: `svc pay --wallet buyer
  PRIVATE_KEY=0x... svc pay premium --yes > answer.json`,
  arguments: '[what]',
  description: `[what] is signal (default) or premium. Shows price, payee and network, and asks before it pays. A payment is stored before it is sent: after an interruption the next call sends the same payment, so that nothing is paid for twice. A HOLD is charged like any signal, and as complete.`,
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
    const checks = await checkPurchase(purchased, url);
    printResult(context, json, purchased.body, (writer) => [
      ...formatAnswer(purchased.body, writer),
      '',
      ...formatCheckLines(checks, writer),
    ]);
    if (wantsJson(context, json)) printNoticeLines(context, (writer) => formatCheckLines(checks, writer));
    return checks.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
  },
};

/** The paid answer is printed in any case, so a receipt that cannot be checked becomes a failed check. */
async function checkPurchase({ body, payment, settlement }: PurchasedAnswer, url: string): Promise<ReceiptCheck[]> {
  try {
    const { send } = connect(url);
    return await checkReceipts(body, { payment, seller: await fetchReceiptSigner(url, send), settlement });
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return [{ what: `the receipt signer of the seller is known (${error.message})`, ok: false }];
  }
}

function formatAnswer(body: PurchasedAnswer['body'], writer: TerminalWriter): string[] {
  const { data } = ANSWER.safeParse(body);
  if (data === undefined) return formatJson({ isTTY: true }, body, 2).split('\n');
  const { direction, confidence, btcPrice, regime, attestationUid, payment } = data;
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
  ];
}
