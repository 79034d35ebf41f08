import type { Address } from 'viem';
import type { StablecoinDomain } from '../chain/stablecoin/stablecoin.ts';

/** Limits of x402, specs/extensions/bazaar.md: a name and tags of at most 32 printable ASCII characters, five tags. */
export interface SellerInfo {
  serviceName: string;
  tags: string[];
  iconUrl: string;
}

export interface MerchantConfig {
  chainId: number;
  asset: Address;
  /** EIP-712 domain of the stablecoin, without chain id and contract. */
  domain: StablecoinDomain;
  payee: Address;
  /** False on a local chain, whose stablecoin is freely mintable. */
  realMoney: boolean;
  publicUrl: string;
  /** How directories show the seller, in `resource` of each quote; unset: by its URL. */
  service?: SellerInfo;
}

export function getCaip2Network({ chainId }: Pick<MerchantConfig, 'chainId'>): `eip155:${number}` {
  return `eip155:${chainId}`;
}
