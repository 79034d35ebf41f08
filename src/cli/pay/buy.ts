import { type Address, formatUnits, type LocalAccount } from 'viem';
import { refusalOf, requestService } from '../../ask-service.ts';
import { Misuse } from '../../audit/misuse.ts';
import { isOracleError, OracleError } from '../../errors.ts';
import type { Host } from '../host.ts';
import { tell } from '../print.ts';
import { minute } from '../text/amounts.ts';
import { facts } from '../text/facts.ts';
import { penFor } from '../text/style.ts';
import { endOf, type SignedPayment, signPayment } from './authorization.ts';
import { dropPayment, keepPayment, type PendingPayment, type Purchase, pendingPayment } from './pending.ts';
import { sendPayment } from './send.ts';
import { coinCheck, readTerms, type Terms } from './terms.ts';

export interface BuyOptions {
  url: string;
  path: string;
  account: LocalAccount;
  /** No more is paid than this. */
  mostMicros: bigint;
  /** Coins to pay with besides USDC. */
  coins: readonly Address[];
  /** Not to be asked. */
  yes: boolean;
}

export interface Bought {
  body: Record<string, unknown>;
  payment: SignedPayment;
  /** False: the answer was free, and the payment was not used. */
  charged: boolean;
}

const DEADLINE_MS = 30_000;
const DECIMALS = 6;

/**
 * Buys one answer by x402. A payment is kept before it is sent, and sent again by the next call, until it is known what became of it or
 * it can no longer be used: the same answer is never paid for twice.
 * @returns null when the person said no. @throws Misuse; OracleError
 */
export async function buy(host: Host, options: BuyOptions): Promise<Bought | null> {
  const purchase = { url: options.url, path: options.path, wallet: options.account.address };
  const kept = await pendingPayment(host, purchase);
  if (kept !== null) {
    tell(host, `A payment of ${minute(kept.signedAt)} UTC is not finished: it is sent again, and no other one.`);
    const bought = await finish(host, purchase, kept);
    if (bought !== null) return bought;
    tell(host, 'It can no longer be used, and was not: a new one is made.');
  }
  const terms = await termsFor(options);
  if (!(await agreed(host, terms, options))) return null;
  const pending = { signedAt: host.now().toISOString(), payment: await signPayment(options.account, terms, host.now()) };
  if (!(await keepPayment(host, purchase, pending))) throw underWay();
  return finish(host, purchase, pending);
}

/** Null when the payment is over without having been used. */
async function finish(host: Host, purchase: Purchase, { payment }: PendingPayment): Promise<Bought | null> {
  const sent = await sendPayment({ ...purchase, payment, onRetry: (text) => tell(host, text) }).catch((error) => {
    throw unknownYet(error);
  });
  if ('body' in sent) {
    const body = sent.body as Record<string, unknown>;
    // One that was not used is good for the next call, and until its end nobody needs a second one.
    if (body.charged !== false) await dropPayment(host, purchase);
    return { body, payment, charged: body.charged !== false };
  }
  if (endOf(payment) > host.now()) throw refused(sent.refusal, endOf(payment));
  await dropPayment(host, purchase);
  return null;
}

async function termsFor({ url, path, mostMicros, coins }: BuyOptions): Promise<Terms> {
  const answer = await requestService({ url, path, token: undefined, deadlineMs: DEADLINE_MS });
  if (answer.status !== 402) throw refusalOf(answer, url);
  const terms = readTerms(answer.headers.get('PAYMENT-REQUIRED'), coinCheck(coins));
  if (terms.amountMicros <= mostMicros) return terms;
  const [price, most] = [terms.amountMicros, mostMicros].map((micros) => formatUnits(micros, DECIMALS));
  throw new Misuse(
    '--max-usd',
    `the service asks for ${price} USD, and no more than ${most} is to be paid`,
    'Nothing was paid. A higher --max-usd allows it.',
  );
}

/** Says what is to be paid, and asks whether it may be. @throws Misuse where nobody can be asked */
async function agreed(host: Host, terms: Terms, { yes, account }: BuyOptions): Promise<boolean> {
  const price = `${formatUnits(terms.amountMicros, DECIMALS)} USD`;
  const lines = facts(
    [
      ['Price', price],
      ['To', terms.payTo],
      ['In', `${terms.assetName}, ${terms.asset}`],
      ['On', `chain ${terms.chainId}`],
      ['From', account.address],
    ],
    penFor(host.err, host),
  );
  tell(host, lines.join('\n'));
  if (yes) return true;
  if (host.ask === null) throw new Misuse('--yes', 'is needed where nobody can be asked', 'Nothing was paid.');
  const answer = await host.ask(`Pay ${price}? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}

function underWay(): OracleError {
  return new OracleError('CONFLICT', 'Another call is paying for the same answer at this moment', {
    suggestedAction: 'Call again: it goes on with that payment.',
  });
}

function unknownYet(error: unknown): unknown {
  if (!isOracleError(error)) return error;
  const hint = 'It is not known yet whether it was paid. Call again: the same payment is sent, and no second one.';
  return new OracleError(error.code === 'SERVICE_UNREACHABLE' ? 'TRANSACTION_UNCONFIRMED' : error.code, error.message, {
    suggestedAction: hint,
    cause: error,
  });
}

function refused(refusal: OracleError, end: Date): OracleError {
  const again = `Until ${minute(end)} UTC the next call sends the same payment again, and no second one.`;
  return new OracleError(refusal.code, refusal.message, {
    suggestedAction: `${refusal.suggestedAction ?? ''} ${again}`.trim(),
    cause: refusal,
  });
}
