import type { AgentExtension } from '@a2a-js/sdk';
import type { CardSource } from './card.ts';
import { ENDPOINTS } from './endpoints.ts';
import { SCHEMA_DIALECT, skillContracts } from './skill-contracts.ts';
import { urlAt } from './url.ts';

/** Names that stay the same wherever the service runs; the files that the params lead to describe them. */
export const EXTENSIONS = {
  skillContracts: 'urn:bitcoin-signal-oracle:ext:skill-contracts:v1',
  identity: 'urn:bitcoin-signal-oracle:ext:erc-8004:v1',
} as const;

/** What the card says beyond the protocol; a client may ignore all of it. */
export function cardExtensions(source: CardSource): AgentExtension[] {
  return [contracts(source), identity(source)];
}

function contracts({ publicUrl }: CardSource): AgentExtension {
  return {
    uri: EXTENSIONS.skillContracts,
    description:
      'JSON Schemas of input and output, tier, price and freshness of each skill. A message calls one with a data part {"skill": "<id>", "input": {...}}; the artifact of its task has the output as a data part, and the same in words as a text part. Nothing has to be activated.',
    required: false,
    params: {
      documentation: urlAt(publicUrl, ENDPOINTS.skillFile),
      prices: urlAt(publicUrl, '/api/svc/commerce/offerings'),
      schemaDialect: SCHEMA_DIALECT,
      skills: skillContracts(),
    },
  };
}

function identity({ publicUrl, chainId, registry, agentId }: CardSource): AgentExtension {
  return {
    uri: EXTENSIONS.identity,
    description: 'The ERC-8004 identity of this agent. The registry names the registration file, which names this card.',
    required: false,
    params: {
      registration: urlAt(publicUrl, ENDPOINTS.registration),
      agentRegistry: `eip155:${chainId}:${registry}`,
      // In words: a number 0 would be gone after a way through protobuf.
      agentId: String(agentId),
      identity: urlAt(publicUrl, '/api/svc/agent/identity'),
    },
  };
}
