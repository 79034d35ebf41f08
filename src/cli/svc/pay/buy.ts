import { formatUnits, type LocalAccount } from 'viem';
import { getPaymentExpiry, signPayment } from '../../../payer/authorization.ts';
import { findCoin } from '../../../payer/coins.ts';
import { type PaymentRequirement, parsePaymentRequired } from '../../../payer/payment-requirement.ts';
import type { SignedPayment } from '../../../payer/payment-signer.ts';
import type { OracleError } from '../../../platform/errors.ts';
import { parseServiceError, sendServiceRequest } from '../../../platform/service-client/service-client.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import type { CliContext } from '../context.ts';
import { printNotice, printNoticeLines } from '../print.ts';
import { formatMinute } from '../text/amounts.ts';
import { formatFacts } from '../text/facts.ts';
import type { Coin } from './coins.ts';
import { describeUnused, paymentInProgressError, rejectedPaymentError, toEndedPaymentError, toUnconfirmedError } from './payment-errors.ts';
import { type PendingPayment, type Purchase, readPendingPayment, removePendingPayment, storePendingPayment } from './pending-payment.ts';
import { sendPayment } from './send-payment.ts';

interface BuyOptions {
  url: string;
  path: string;
  account: LocalAccount;
  maxMicros: bigint;
  coins: readonly Coin[];
  yes: boolean;
}

export interface PurchasedAnswer {
  body: Record<string, unknown>;
  payment: SignedPayment;
  /** Settlement response of x402, unchecked; undefined without one. */
  settlement: unknown;
  /** False when the answer was free and the authorization stays unused. */
  charged: boolean;
}

const DEADLINE_MS = 30_000;
const DECIMALS = 6;

/** Stored before it is sent, resent by the next call until its outcome is known: never paid twice. @returns null when the user declined */
export async function buyAnswer(context: CliContext, options: BuyOptions): Promise<PurchasedAnswer | null> {
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
  const sent = await sendPayment({ ...purchase, payment, onRetry: (text) => printNotice(context, text) }).catch((error) => {
    throw toUnconfirmedError(error);
  });
  if ('body' in sent) {
    const body = sent.body as Record<string, unknown>;
    const charged = body.charged !== false;
    // An unused authorization serves the next call, so that no second one is signed while it is valid.
    if (charged) await removePendingPayment(context, purchase, payment);
    return { body, payment, settlement: sent.settlement, charged };
  }
  if (getPaymentExpiry(payment) > context.now()) throw rejectedPaymentError(sent.rejection, getPaymentExpiry(payment));
  return { ended: sent.rejection };
}

async function fetchPaymentRequirement({ url, path, maxMicros, coins }: BuyOptions): Promise<PaymentRequirement> {
  const answer = await sendServiceRequest({ url, path, token: undefined, deadlineMs: DEADLINE_MS });
  if (answer.status !== 402) throw parseServiceError(answer, url);
  const requirement = parsePaymentRequired(answer.headers.get('PAYMENT-REQUIRED'), coins, 'To pay with this coin, use --asset and --rpc.');
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
