import type { Address } from 'viem';
import { IDENTITY } from './identity.ts';

export interface RegistrationSource {
  publicUrl: string;
  chainId: number;
  /** The ERC-8004 identity registry. */
  registry: Address;
  agentId: number;
}

/** Path of the registration file, which the on-chain identity points to. */
export const REGISTRATION_PATH = '/.well-known/agent-registration.json';

/** The ERC-8004 agent registration file. */
export function registrationFile({ publicUrl, chainId, registry, agentId }: RegistrationSource) {
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: IDENTITY.name,
    description: IDENTITY.description,
    services: [{ name: 'web', endpoint: publicUrl }],
    active: true,
    x402Support: false,
    registrations: [{ agentId, agentRegistry: `eip155:${chainId}:${registry}` }],
    supportedTrust: ['reputation'],
  };
}
