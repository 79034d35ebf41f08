import type { Address } from 'viem';
import { SKILLS } from '../../skills/index.ts';
import { joinUrl } from '../../src/platform/service-url.ts';
import type { CardPayments } from '../card/card-source.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';
import { A2A_VERSION, MCP_VERSION, OPENAPI_VERSION } from '../protocols.ts';

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
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: IDENTITY.name,
    description: IDENTITY.description,
    image: joinUrl(publicUrl, ENDPOINTS.icon),
    services: [
      { name: 'web', endpoint: joinUrl(publicUrl, '/') },
      { name: 'A2A', endpoint: joinUrl(publicUrl, ENDPOINTS.agentCard), version: A2A_VERSION, a2aSkills: skills },
      { name: 'MCP', endpoint: joinUrl(publicUrl, ENDPOINTS.mcp), version: MCP_VERSION, mcpTools: skills },
      { name: 'OpenAPI', endpoint: joinUrl(publicUrl, ENDPOINTS.openApi), version: OPENAPI_VERSION },
      { name: 'x402', endpoint: joinUrl(publicUrl, ENDPOINTS.x402), version: '2', ...toAccounts(chainId, payments) },
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
