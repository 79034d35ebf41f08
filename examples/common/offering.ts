import { type Address, isAddressEqual } from 'viem';
import { ask } from './service.ts';
import { ownCoin } from './wallet.ts';

/** What an entry of the price list says of how it is paid for. */
export interface Offering {
  title: string;
  /** Units of the coin. */
  price: bigint;
  asset: Address;
  payee: Address;
  /** Escrow of ERC-8183; null for what is paid by a transfer. */
  contract: Address | null;
}

interface PriceList {
  offerings: { name: string; title: string; open: boolean; price: { amount: string }; howToPay: Omit<Offering, 'title' | 'price'> }[];
  channels: { reason: string | null }[];
}

/** An offering as the price list has it. @throws Error where it cannot be bought now, or not in the own coin. */
export async function findOffering(channel: 'purchase' | 'agent-commerce', name: string): Promise<Offering> {
  const { offerings, channels } = await ask<PriceList>(`/api/svc/commerce/offerings?channel=${channel}`);
  const offering = offerings.find((one) => one.name === name);
  if (!offering?.open) throw new Error(`${name} is not for sale by ${channel} now: ${channels[0]?.reason ?? 'look at the list'}`);
  const { price, title, howToPay } = offering;
  if (!isAddressEqual(howToPay.asset, ownCoin())) throw new Error(`${name} is sold for a coin that this wallet does not use`);
  return { ...howToPay, title, price: BigInt(price.amount) };
}
