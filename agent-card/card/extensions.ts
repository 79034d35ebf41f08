import type { AgentExtension } from '@a2a-js/sdk';
import { joinUrl } from '../../src/platform/service-url.ts';
import { SCHEMA_DIALECT } from '../documents/skill-contracts.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { CardSource } from './card-source.ts';

export const EXTENSION_URIS = {
  skillContracts: 'urn:bitcoin-signal-oracle:ext:skill-contracts:v2',
  identity: 'urn:bitcoin-signal-oracle:ext:erc-8004:v1',
  /** Third-party extension for x402 payments. */
  x402: 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2',
} as const;

/** All optional. No number and no non-ASCII character: the Python SDK canonicalizes those differently and would reject the signature. */
export function buildExtensions(source: CardSource): AgentExtension[] {
  return [buildContractsExtension(source), buildIdentityExtension(source), buildPaymentsExtension(source)];
}

function buildContractsExtension({ publicUrl }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.skillContracts,
    description:
      '`contracts` has the JSON Schemas, tier, price and freshness of each skill. Call a skill with a data part {"skill": "<id>", "input": {...}}; the artifact of the task has the output as a data part and as text. No activation needed.',
    required: false,
    params: {
      documentation: joinUrl(publicUrl, ENDPOINTS.skillFile),
      contracts: joinUrl(publicUrl, ENDPOINTS.skills),
      prices: joinUrl(publicUrl, '/api/svc/commerce/offerings'),
      schemaDialect: SCHEMA_DIALECT,
    },
  };
}

function buildPaymentsExtension({ publicUrl, chainId, payments: { payee, asset, receiptSigner } }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.x402,
    description:
      'Single answers for callers without the tier: the task requests payment and continues with a message that carries it. Without activation, such a call is rejected. Tasks paid without a token are not listed: keep the id.',
    required: false,
    params: {
      documentation: joinUrl(publicUrl, ENDPOINTS.skillFile),
      network: `eip155:${chainId}`,
      payee,
      asset,
      receiptSigner,
      terms: joinUrl(publicUrl, ENDPOINTS.x402),
      // Our metadata beside that of the extension.
      metadata: {
        'bitcoin-signal-oracle/payment-required': 'payment requirements in x402 version 2; payments of both versions are accepted',
        'bitcoin-signal-oracle/receipt': 'with the answer: settlement and signed EIP-712 receipt',
        'bitcoin-signal-oracle/ref': 'with the payment: referral code',
      },
    },
  };
}

function buildIdentityExtension({ publicUrl, chainId, registry, agentId }: CardSource): AgentExtension {
  return {
    uri: EXTENSION_URIS.identity,
    description: 'ERC-8004 identity of this agent. The registry links the registration file, which links this card.',
    required: false,
    params: {
      registration: joinUrl(publicUrl, ENDPOINTS.registration),
      agentRegistry: `eip155:${chainId}:${registry}`,
      // A string, because protobuf converts numbers to floats.
      agentId: String(agentId),
      identity: joinUrl(publicUrl, '/api/svc/agent/identity'),
    },
  };
}
