import { type Address, type Hex, hashTypedData, toHex } from 'viem';
import type { Commitment } from './commitment.ts';

/** What a wallet signs (EIP-712). */
export const COMMITMENT_TYPES = {
  Commitment: [
    { name: 'market', type: 'string' },
    { name: 'wallet', type: 'address' },
    { name: 'probabilityBps', type: 'uint16' },
    { name: 'issuedAtMs', type: 'uint64' },
  ],
} as const;

export const COMMITMENT_PRIMARY_TYPE = 'Commitment';

/** Where a contest takes place. */
export interface ContestDeployment {
  chainId: number;
  identityRegistry: Address;
  agentId: number;
}

export interface ContestDomain {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Address;
  /** The agent's id as 32 bytes. */
  salt: Hex;
}

/** What binds a signature to one deployment: several agents may share the chain and the registry, none its id there. */
export function buildContestDomain({ chainId, identityRegistry, agentId }: ContestDeployment): ContestDomain {
  return {
    name: 'Bitcoin Signal Oracle Contest',
    version: '1',
    chainId,
    verifyingContract: identityRegistry,
    salt: toHex(agentId, { size: 32 }),
  };
}

/** The hash that a wallet signs. */
export function hashContestCommitment(domain: ContestDomain, { market, wallet, probabilityBps, issuedAtMs }: Commitment): Hex {
  const message = { market, wallet, probabilityBps, issuedAtMs: BigInt(issuedAtMs) };
  return hashTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
}
