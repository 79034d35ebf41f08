import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { WEBSOCKET } from '../../../../events/channels.ts';

export const STANDARD_KINDS = ['chain', 'identity', 'payment', 'agent', 'push', 'http'] as const;

export interface Standard {
  id: string;
  name: string;
  kind: (typeof STANDARD_KINDS)[number];
  url: string;
  /** Endpoints; absent where it applies everywhere, or on chain only. */
  paths?: readonly string[];
  note: string;
}

const eip = (number: number) => `https://eips.ethereum.org/EIPS/eip-${number}`;
const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;

export const STANDARDS: readonly Standard[] = [
  {
    id: 'eas',
    name: 'Ethereum Attestation Service',
    kind: 'chain',
    url: 'https://attest.org',
    paths: ['/api/svc/onchain-oracle/verify/{uid}'],
    note: 'Every forecast and every outcome is an attestation.',
  },
  {
    id: 'erc-8004',
    name: 'ERC-8004 Trustless Agents',
    kind: 'agent',
    url: eip(8004),
    paths: ['/api/svc/agent/identity', '/api/svc/agent/reputation', '/.well-known/agent-registration.json'],
    note: 'Agent identity, and wager outcomes in the reputation registry.',
  },
  {
    id: 'eip-191',
    name: 'EIP-191 Signed Data',
    kind: 'identity',
    url: eip(191),
    paths: ['/api/svc/oracle/verify'],
    note: 'Wallet login by a signed message.',
  },
  {
    id: 'eip-4361',
    name: 'EIP-4361 Sign-In with Ethereum',
    kind: 'identity',
    url: eip(4361),
    paths: ['/api/svc/oracle/nonce', '/api/svc/oracle/siwe'],
    note: 'Alternative wallet login.',
  },
  {
    id: 'eip-1271',
    name: 'EIP-1271 Signatures of Contracts',
    kind: 'identity',
    url: eip(1271),
    paths: ['/api/svc/oracle/verify'],
    note: 'Login of contract wallets; of undeployed ones by ERC-6492.',
  },
  {
    id: 'eip-712',
    name: 'EIP-712 Typed Structured Data',
    kind: 'identity',
    url: eip(712),
    paths: ['/api/svc/prestake/commit'],
    note: 'Commitments of the contest.',
  },
  {
    id: 'jwt',
    name: 'JSON Web Token, EdDSA, with its key set',
    kind: 'identity',
    url: rfc(7519),
    paths: ['/.well-known/jwks.json'],
    note: 'Session tokens, publicly verifiable.',
  },
  {
    id: 'jws',
    name: 'JSON Web Signature, ES256, with its key set',
    kind: 'agent',
    url: rfc(7515),
    paths: [ENDPOINTS.agentCard, ENDPOINTS.cardKeys],
    note: 'Signature of the agent card, over its RFC 8785 form.',
  },
  {
    id: 'agent-skills',
    name: 'Agent Skills, and llms.txt',
    kind: 'agent',
    url: 'https://agentskills.io',
    paths: [ENDPOINTS.skillFile, ENDPOINTS.llms],
    note: 'Instructions for agents and language models.',
  },
  {
    id: 'x402',
    name: 'x402 Payment Required',
    kind: 'payment',
    url: 'https://x402.org',
    paths: ['/oracle', '/oracle/premium', '/.well-known/x402.json'],
    note: 'Payment with the request, in a stablecoin by EIP-3009.',
  },
  {
    id: 'erc-8183',
    name: 'ERC-8183 Agentic Commerce',
    kind: 'payment',
    url: eip(8183),
    note: 'Jobs paid from escrow.',
  },
  {
    id: 'a2a',
    name: 'Agent2Agent Protocol',
    kind: 'agent',
    url: 'https://a2a-protocol.org',
    paths: [ENDPOINTS.agentCard, ENDPOINTS.a2a, ENDPOINTS.a2aRest],
    note: 'Tasks from other agents, 1.0 and 0.3, over JSON-RPC and HTTP+JSON.',
  },
  {
    id: 'mcp',
    name: 'Model Context Protocol',
    kind: 'agent',
    url: 'https://modelcontextprotocol.io',
    paths: [ENDPOINTS.mcp, ENDPOINTS.mcpServer],
    note: 'Tools for assistants, over Streamable HTTP.',
  },
  {
    id: 'standard-webhooks',
    name: 'Standard Webhooks',
    kind: 'push',
    url: 'https://www.standardwebhooks.com',
    paths: ['/api/svc/webhooks/register'],
    note: 'Signed webhooks, in order, with the retries of the standard.',
  },
  {
    id: 'websocket',
    name: 'WebSocket Protocol',
    kind: 'push',
    url: rfc(6455),
    paths: [WEBSOCKET.path, '/api/svc/ws/ticket'],
    note: 'Events as they happen.',
  },
  {
    id: 'openapi',
    name: 'OpenAPI 3.1',
    kind: 'http',
    url: 'https://spec.openapis.org/oas/v3.1.0',
    paths: ['/.well-known/openapi.json'],
    note: 'Generated from the mounted operations.',
  },
  {
    id: 'asyncapi',
    name: 'AsyncAPI 3.1',
    kind: 'push',
    url: 'https://www.asyncapi.com/docs/reference/specification/v3.1.0',
    paths: [ENDPOINTS.asyncApi],
    note: 'Generated from the message schemas.',
  },
  {
    id: 'rfc-9457',
    name: 'RFC 9457 Problem Details',
    kind: 'http',
    url: rfc(9457),
    note: 'All errors.',
  },
  {
    id: 'ratelimit-headers',
    name: 'RateLimit header fields, draft-ietf-httpapi-ratelimit-headers',
    kind: 'http',
    url: 'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/',
    note: 'On all rate-limited responses.',
  },
  {
    id: 'rfc-9745',
    name: 'RFC 9745 Deprecation header field',
    kind: 'http',
    url: rfc(9745),
    paths: ['/api/svc/signal'],
    note: 'On deprecated operations.',
  },
  {
    id: 'rfc-8785',
    name: 'RFC 8785 JSON Canonicalization Scheme, and CIDv1',
    kind: 'http',
    url: rfc(8785),
    paths: ['/ipfs/{cid}'],
    note: 'The exact bytes behind on-chain digests.',
  },
];
