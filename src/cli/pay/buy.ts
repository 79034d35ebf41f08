import { formatUnits, type LocalAccount } from 'viem';
import { refusalOf, requestService } from '../../ask-service.ts';
import { Misuse } from '../../audit/misuse.ts';
import type { OracleError } from '../../errors.ts';
import type { Host } from '../host.ts';
import { tell, tellLines } from '../print.ts';
import { minute } from '../text/amounts.ts';
import { facts } from '../text/facts.ts';
import { endOf, type SignedPayment, signPayment } from './authorization.ts';
import { type Coin, coinOf } from './coins.ts';
import { endedUnanswered, notUsed, refused, underWay, unknownYet } from './outcomes.ts';
import { dropPayment, keepPayment, type PendingPayment, type Purchase, pendingPayment } from './pending.ts';
import { sendPayment } from './send.ts';
import { readTerms, type Terms } from './terms.ts';

interface BuyOptions {
  url: string;
  path: string;
  account: LocalAccount;
  /** No more is paid than this. */
  mostMicros: bigint;
  /** Coins to pay with. */
  coins: readonly Coin[];
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
    if (!('ended' in bought)) return bought;
    tell(host, await notUsed(host, { purchase, payment: kept.payment, coins: options.coins, refusal: bought.ended }));
    await dropPayment(host, purchase, kept.payment);
  }
  const terms = await termsFor(options);
  if (!(await agreed(host, terms, options))) return null;
  const payment = await signPayment(options.account, terms, host.now());
  if (!(await keepPayment(host, purchase, { signedAt: host.now().toISOString(), payment }))) throw underWay();
  const bought = await finish(host, purchase, { payment });
  if (!('ended' in bought)) return bought;
  throw await endedUnanswered(host, { purchase, payment, coins: options.coins, refusal: bought.ended });
}

/** What was bought; or the refusal of a payment that has ended meanwhile, of which the service alone says that it was not used. */
async function finish(
  host: Host,
  purchase: Purchase,
  { payment }: Pick<PendingPayment, 'payment'>,
): Promise<Bought | { ended: OracleError }> {
  const sent = await sendPayment({ ...purchase, payment, onRetry: (text) => tell(host, text) }).catch((error) => {
    throw unknownYet(error);
  });
  if ('body' in sent) {
    const body = sent.body as Record<string, unknown>;
    // One that was not used is good for the next call, and until its end nobody needs a second one.
    if (body.charged !== false) await dropPayment(host, purchase, payment);
    return { body, payment, charged: body.charged !== false };
  }
  if (endOf(payment) > host.now()) throw refused(sent.refusal, endOf(payment));
  return { ended: sent.refusal };
}

async function termsFor({ url, path, mostMicros, coins }: BuyOptions): Promise<Terms> {
  const answer = await requestService({ url, path, token: undefined, deadlineMs: DEADLINE_MS });
  if (answer.status !== 402) throw refusalOf(answer, url);
  const terms = readTerms(answer.headers.get('PAYMENT-REQUIRED'), coins);
  if (terms.amountMicros <= mostMicros) return terms;
  const [price, most] = [terms.amountMicros, mostMicros].map((micros) => formatUnits(micros, DECIMALS));
  throw new Misuse(
    '--max-usd',
    `the service asks for ${price} USD, and no more than ${most} is to be paid`,
    'Nothing was paid. A higher --max-usd allows it.',
  );
}

/** Says what is to be paid, and asks whether it may be. @throws Misuse where nobody can be asked */
async function agreed(host: Host, terms: Terms, { yes, account, coins }: BuyOptions): Promise<boolean> {
  const price = `${formatUnits(terms.amountMicros, DECIMALS)} USD`;
  const rows = [
    ['Price', price],
    ['To', terms.payTo],
    ['In', `${terms.assetName}, ${terms.asset}`],
    // A local chain goes by the number of the one that it stands for.
    ['On', `chain ${terms.chainId}${coinOf(coins, terms)?.isLocal ? ', a local one: its money is worth nothing' : ''}`],
    ['From', account.address],
  ] as const;
  tellLines(host, (pen) => facts(rows, pen));
  if (yes) return true;
  if (host.ask === null) throw new Misuse('--yes', 'is needed where nobody can be asked', 'Nothing was paid.');
  const answer = await host.ask(`Pay ${price}? [y/N] `);
  return /^y(es)?$/i.test(answer.trim());
}
