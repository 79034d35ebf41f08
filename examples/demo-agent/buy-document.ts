import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { type Agent, send } from './agent.ts';
import { ask, post } from './ask.ts';
import { beginStep, check, narrate, StepFailed, usd } from './narrate.ts';
import type { Terms } from './read-price.ts';
import { checkReceipt, type Receipt, short } from './receipt.ts';

const WANTED = 'svc_verified_track_record';

interface Delivery {
  title: string;
  document: object;
  receipt: Receipt;
  /** Whether it was delivered before. */
  again: boolean;
}

/** Buys a document by a plain transfer, whose hash proves the payment. */
export async function buyDocument(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Buy a document by a transfer');
  const { title, price, payee } = await findOffering(agent, 'purchase', WANTED);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, price] });
  const txHash = await send(agent, 'The transfer', { to: agent.contracts.stablecoin, data });
  narrate(`${title}: ${usd(price)} sent to ${short(payee)} in ${short(txHash)}`);
  const { account, service } = agent;
  const signature = await account.signMessage({ message: `Buy svc offering: ${WANTED}:${txHash}` });
  const order = { offering: WANTED, txHash, wallet: account.address, signature };
  const bought = await ask<Delivery>(`${service}/api/svc/commerce/purchase`, post(order));
  narrate(`delivered: "${bought.title}", ${Math.ceil(JSON.stringify(bought.document).length / 1_024)} kB`);
  await checkReceipt(agent, bought.receipt, { answer: bought.document, seller });
  const again = await ask<Delivery>(`${service}/api/svc/commerce/purchase`, post(order));
  check(
    again.again && again.receipt.signature === bought.receipt.signature,
    'the same transaction gets the same delivery again, and nothing else',
  );
}

export interface Wanted {
  title: string;
  /** Units of the stablecoin. */
  price: bigint;
  payee: Address;
  /** Of a job. */
  contract: Address | null;
}

interface Offerings {
  offerings: { name: string; title: string; open: boolean; price: { amount: string }; howToPay: Pick<Wanted, 'payee' | 'contract'> }[];
  channels: { reason: string | null }[];
}

/** An offering as the price list has it. */
export async function findOffering({ service }: Agent, channel: string, wanted: string): Promise<Wanted> {
  const { offerings, channels } = await ask<Offerings>(`${service}/api/svc/commerce/offerings?channel=${channel}`);
  const offering = offerings.find(({ name }) => name === wanted);
  if (offering?.open) return { title: offering.title, price: BigInt(offering.price.amount), ...offering.howToPay };
  throw new StepFailed(`${wanted} cannot be bought by ${channel} now`, channels[0]?.reason ?? 'Look at the list of offerings.');
}
