import type { Address } from 'viem';
import { SKILLS } from '../../skills/index.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import type { CardPayments } from '../card/card-source.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';
import { INTERFACES } from '../interfaces.ts';

export interface RegistrationSource {
  publicUrl: string;
  chainId: number;
  registry: Address;
  agentId: number;
  payments: CardPayments;
}

export const REGISTRATION_PATH = ENDPOINTS.registration;

/** ERC-8004 registration file. Service names are those of EIP-8004, plus `OpenAPI` and `x402`. */
export function buildRegistrationFile({ publicUrl, chainId, registry, agentId, payments }: RegistrationSource) {
  const skills = SKILLS.map(({ id }) => id);
  const { a2a, mcp, rest, x402 } = INTERFACES;
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: IDENTITY.name,
    description: IDENTITY.description,
    image: joinUrl(publicUrl, ENDPOINTS.icon),
    services: [
      { name: 'web', endpoint: joinUrl(publicUrl, '/') },
      { name: 'A2A', endpoint: joinUrl(publicUrl, a2a.description.path), version: a2a.version, a2aSkills: skills },
      { name: 'MCP', endpoint: joinUrl(publicUrl, mcp.endpoints[0]), version: mcp.version, mcpTools: skills },
      { name: 'OpenAPI', endpoint: joinUrl(publicUrl, rest.description.path), version: rest.version },
      { name: 'x402', endpoint: joinUrl(publicUrl, x402.description.path), version: x402.version, ...toAccounts(chainId, payments) },
    ],
    active: true,
    x402Support: true,
    registrations: [{ agentId, agentRegistry: `eip155:${chainId}:${registry}` }],
    supportedTrust: ['reputation'],
  };
}

/** CAIP-10 accounts, because the file may be read on another chain. */
function toAccounts(chainId: number, { payee, asset, receiptSigner }: CardPayments) {
  const account = (address: Address) => `eip155:${chainId}:${address}`;
  return { payee: account(payee), asset: account(asset), receiptSigner: account(receiptSigner) };
}
