import { type Address, type Hex, hashTypedData, toHex } from 'viem';
import type { Commitment } from './commitment.ts';

export const COMMITMENT_TYPES = {
  Commitment: [
    { name: 'market', type: 'string' },
    { name: 'wallet', type: 'address' },
    { name: 'probabilityBps', type: 'uint16' },
    { name: 'issuedAtMs', type: 'uint64' },
  ],
} as const;

export const COMMITMENT_PRIMARY_TYPE = 'Commitment';

export interface ContestDeployment {
  chainId: number;
  identityRegistry: Address;
  agentId: number;
}

export type ContestDomain = ReturnType<typeof buildContestDomain>;

/** Binds a signature to one deployment: agents may share chain and registry, but not the agent id. */
export function buildContestDomain({ chainId, identityRegistry, agentId }: ContestDeployment) {
  return {
    name: 'Bitcoin Signal Oracle Contest',
    version: '1',
    chainId,
    verifyingContract: identityRegistry,
    salt: toHex(agentId, { size: 32 }),
  };
}

export function hashContestCommitment(domain: ContestDomain, { market, wallet, probabilityBps, issuedAtMs }: Commitment): Hex {
  const message = { market, wallet, probabilityBps, issuedAtMs: BigInt(issuedAtMs) };
  return hashTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
}
