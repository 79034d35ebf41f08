import type { Address } from 'viem';

/** Where the contracts of one chain are. */
export interface ChainAddresses {
  eas: Address;
  schemaRegistry: Address;
  gateToken: Address;
  stablecoin: Address;
  identityRegistry: Address;
  reputationRegistry: Address;
  /** ERC-8183 contract whose jobs are taken; null where none is. */
  agentCommerce: Address | null;
}

/** Predeployed by the OP Stack, hence the same on Base, Base Sepolia and the local chain. */
export const EAS_ADDRESS: Address = '0x4200000000000000000000000000000000000021';
export const SCHEMA_REGISTRY_ADDRESS: Address = '0x4200000000000000000000000000000000000020';
