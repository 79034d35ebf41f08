import { type Address, isAddressEqual } from 'viem';
import { BASE_SEPOLIA_ADDRESSES } from '../chain/addresses.ts';

/** A coin with six decimals that a payer accepts to pay in. */
export interface PayableCoin {
  address: Address;
  chainId: number;
}

/** USDC by chain. A token at another address may call itself USDC and be worth nothing. */
export const USDC_COINS: readonly PayableCoin[] = [
  { chainId: 8453, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  { chainId: 84532, address: BASE_SEPOLIA_ADDRESSES.stablecoin },
];

export function findCoin<Coin extends PayableCoin>(
  coins: readonly Coin[],
  { asset, chainId }: { asset: Address; chainId: number },
): Coin | undefined {
  return coins.find((coin) => coin.chainId === chainId && isAddressEqual(coin.address, asset));
}
