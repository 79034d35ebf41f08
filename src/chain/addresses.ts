import { type Address, getAddress } from 'viem';

export interface ChainAddresses {
  eas: Address;
  schemaRegistry: Address;
  /** Null where the operator lists the wallets of the tiers. */
  gateToken: Address | null;
  stablecoin: Address;
  identityRegistry: Address;
  reputationRegistry: Address;
  /** ERC-8183 contract of the commerce jobs; null when jobs are disabled. */
  agentCommerce: Address | null;
}

/** OP Stack predeploys, identical on Base, Base Sepolia and the local chain. */
export const EAS_ADDRESS: Address = '0x4200000000000000000000000000000000000021';
export const SCHEMA_REGISTRY_ADDRESS: Address = '0x4200000000000000000000000000000000000020';

/** On Base Sepolia, and on the local chain, where stock clients then find them without settings. */
export const BASE_SEPOLIA_ADDRESSES = {
  stablecoin: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  identityRegistry: '0x8004A818BFB912233c491871b3d84c89A494BD9e',
  reputationRegistry: '0x8004B663056A597Dffe9eCcC1965A193B7388713',
} as const satisfies Partial<ChainAddresses>;

/** The same on every public chain where it is deployed, Base and Base Sepolia among them, and on the local chain. */
export const MULTICALL3_ADDRESS: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';

/** Canonical form of addresses in keys and in the database. */
export function toLowerCaseAddress(address: Address): Address {
  return address.toLowerCase() as Address;
}

/** Whether an address is in one case, or in mixed case with its checksum (EIP-55). */
export function hasValidChecksum(address: string): boolean {
  const digits = address.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || getAddress(address.toLowerCase()) === address;
}

/** The spellings of an address that clients sign texts with: with its checksum, in lower and in upper case. */
export function listAddressSpellings(address: string): string[] {
  return [getAddress(address), address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`];
}
