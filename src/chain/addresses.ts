import type { Address } from 'viem';

/** Where the contracts of one chain are. */
export interface ChainAddresses {
  eas: Address;
  schemaRegistry: Address;
  gateToken: Address;
  stablecoin: Address;
  identityRegistry: Address;
  reputationRegistry: Address;
}

/** Predeployed by the OP Stack, hence the same on Base, Base Sepolia and the local chain. */
export const EAS_ADDRESS: Address = '0x4200000000000000000000000000000000000021';
export const SCHEMA_REGISTRY_ADDRESS: Address = '0x4200000000000000000000000000000000000020';

/** ERC-8004 registries and Circle's USDC, by chain id. */
export const KNOWN_ADDRESSES: Record<number, Pick<ChainAddresses, 'identityRegistry' | 'reputationRegistry' | 'stablecoin'>> = {
  8453: {
    identityRegistry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
    reputationRegistry: '0x8004BAa17C55a88189AE136b182e5fdA19dE9b63',
    stablecoin: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  },
  84532: {
    identityRegistry: '0x8004A818BFB912233c491871b3d84c89A494BD9e',
    reputationRegistry: '0x8004B663056A597Dffe9eCcC1965A193B7388713',
    stablecoin: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
};
