import type { Address } from 'viem';
import type { StablecoinDomain } from '../chain/stablecoin/stablecoin.ts';

/** Where money goes: what everything that is paid for has in common. */
export interface MerchantConfig {
  chainId: number;
  /** The stablecoin; amounts are millionths of a dollar. */
  asset: Address;
  /** EIP-712 domain of the stablecoin, beside chain and contract. */
  domain: StablecoinDomain;
  payee: Address;
  /** False on a local chain, whose stablecoin anybody can make. */
  realMoney: boolean;
  /** Where callers reach the service. */
  publicUrl: string;
}

/** The chain by its CAIP-2 name. */
export function getCaip2Network({ chainId }: Pick<MerchantConfig, 'chainId'>): `eip155:${number}` {
  return `eip155:${chainId}`;
}
