import type { Address } from 'viem';
import type { StablecoinDomain } from '../chain/stablecoin/stablecoin.ts';

export interface MerchantConfig {
  chainId: number;
  asset: Address;
  /** EIP-712 domain of the stablecoin, without chain id and contract. */
  domain: StablecoinDomain;
  payee: Address;
  /** False on a local chain, whose stablecoin is freely mintable. */
  realMoney: boolean;
  publicUrl: string;
}

export function getCaip2Network({ chainId }: Pick<MerchantConfig, 'chainId'>): `eip155:${number}` {
  return `eip155:${chainId}`;
}
