import type { Address } from 'viem';
import type { Agent } from './agent.ts';
import { ask, reach } from './ask.ts';
import { beginStep, check, narrate } from './narrate.ts';
import { short } from './receipt.ts';

export interface Terms {
  /** Whose signature receipts carry. */
  seller: Address;
  payee: Address;
}

interface PriceList {
  payee: Address;
  resources: { resource: string; title: string; price: { amount: string; usd: string } }[];
  receipt: { signer: Address };
  realMoney: boolean;
}

/** What the header PAYMENT-REQUIRED of a 402 holds. */
interface PaymentRequired {
  accepts: { amount: string; asset: Address; payTo: Address }[];
}

/** Prices are in one document, and in the 402 of a request without payment. */
export async function readPrice({ service, contracts }: Agent): Promise<Terms> {
  beginStep('Read the price');
  const { resources, payee, receipt, realMoney } = await ask<PriceList>(`${service}/.well-known/x402.json`);
  for (const { resource, price, title } of resources) narrate(`${new URL(resource).pathname}: ${price.usd} USD (${title})`);
  const unpaid = await reach(`${service}/oracle`);
  check(unpaid.status === 402, 'GET /oracle answers 402 Payment Required');
  const [terms] = requiredBy(unpaid).accepts;
  const listed = resources.find(({ resource }) => new URL(resource).pathname === '/oracle');
  check(
    terms?.amount === listed?.price.amount && terms?.payTo === payee,
    `it asks for the same ${listed?.price.usd} USD, to ${short(payee)}`,
  );
  check(terms.asset.toLowerCase() === contracts.stablecoin.toLowerCase(), 'in the stablecoin that this wallet holds');
  narrate(realMoney ? 'This is real money.' : 'This chain is a local one: its money is worth nothing.');
  return { seller: receipt.signer, payee };
}

function requiredBy({ headers }: Response): PaymentRequired {
  const header = headers.get('payment-required');
  return header === null ? { accepts: [] } : JSON.parse(Buffer.from(header, 'base64').toString());
}
