import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { INTERFACES } from '../../../../../agent-card/interfaces.ts';
import { WEBSOCKET } from '../../../../events/channels.ts';

export const STANDARD_KINDS = ['chain', 'identity', 'payment', 'agent', 'push', 'http'] as const;

const eip = (number: number) => `https://eips.ethereum.org/EIPS/eip-${number}`;
const rfc = (number: number) => `https://www.rfc-editor.org/rfc/rfc${number}`;

/** Id, topic, name, specification, use in this service. */
const ROWS: readonly (readonly [id: string, kind: (typeof STANDARD_KINDS)[number], name: string, url: string, note: string])[] = [
  ['eas', 'chain', 'Ethereum Attestation Service', 'https://attest.org', 'Every forecast and every outcome is an attestation.'],
  ['erc-8004', 'agent', 'ERC-8004 Trustless Agents', eip(8004), 'Agent identity, and wager outcomes in the reputation registry.'],
  ['eip-191', 'identity', 'EIP-191 Signed Data', eip(191), 'Wallet login by a signed message.'],
  ['eip-4361', 'identity', 'EIP-4361 Sign-In with Ethereum', eip(4361), 'Alternative wallet login.'],
  ['eip-1271', 'identity', 'EIP-1271 Signatures of Contracts', eip(1271), 'Login of contract wallets; of undeployed ones by ERC-6492.'],
  ['eip-712', 'identity', 'EIP-712 Typed Structured Data', eip(712), 'Commitments of the contest.'],
  ['jwt', 'identity', 'JSON Web Token, EdDSA, with its key set', rfc(7519), 'Session tokens, publicly verifiable.'],
  ['jws', 'agent', 'JSON Web Signature, ES256, with its key set', rfc(7515), 'Signature of the agent card, over its RFC 8785 form.'],
  ['api-catalog', 'http', 'RFC 9727 API Catalog', rfc(9727), 'All endpoints with their descriptions.'],
  ['ai-catalog', 'agent', 'AI Catalog 0.9', 'https://ai-catalog.io', 'Agent card, MCP server card and skills for directories.'],
  ['agent-skills', 'agent', 'Agent Skills, and llms.txt', 'https://agentskills.io', 'Instructions for agents and language models.'],
  ['x402', 'payment', 'x402 Payment Required', 'https://x402.org', 'Payment with the request, in a stablecoin by EIP-3009.'],
  ['erc-8183', 'payment', 'ERC-8183 Agentic Commerce', eip(8183), 'Jobs paid from escrow.'],
  [
    'a2a',
    'agent',
    'Agent2Agent Protocol',
    'https://a2a-protocol.org',
    'Tasks from other agents, 1.0 and 0.3, over JSON-RPC and HTTP+JSON.',
  ],
  ['mcp', 'agent', 'Model Context Protocol', 'https://modelcontextprotocol.io', 'Tools for assistants, over Streamable HTTP.'],
  [
    'standard-webhooks',
    'push',
    'Standard Webhooks',
    'https://www.standardwebhooks.com',
    'Signed webhooks, in order, with the retries of the standard.',
  ],
  ['websocket', 'push', 'WebSocket Protocol', rfc(6455), 'Events as they happen.'],
  ['openapi', 'http', 'OpenAPI 3.1', 'https://spec.openapis.org/oas/v3.1.0', 'Generated from the mounted operations.'],
  [
    'asyncapi',
    'push',
    'AsyncAPI 3.1',
    'https://www.asyncapi.com/docs/reference/specification/v3.1.0',
    'Generated from the message schemas.',
  ],
  ['rfc-9457', 'http', 'RFC 9457 Problem Details', rfc(9457), 'All errors.'],
  [
    'ratelimit-headers',
    'http',
    'RateLimit header fields, draft-ietf-httpapi-ratelimit-headers',
    'https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/',
    'On all rate-limited responses.',
  ],
  ['rfc-9745', 'http', 'RFC 9745 Deprecation header field', rfc(9745), 'On deprecated operations.'],
  ['rfc-8785', 'http', 'RFC 8785 JSON Canonicalization Scheme, and CIDv1', rfc(8785), 'The exact bytes behind on-chain digests.'],
];

/** Endpoints by standard; others apply everywhere, or on chain only. */
const PATHS: Record<string, readonly string[]> = {
  eas: ['/api/svc/onchain-oracle/verify/{uid}'],
  'erc-8004': ['/api/svc/agent/identity', '/api/svc/agent/reputation', '/.well-known/agent-registration.json'],
  'eip-191': ['/api/svc/oracle/verify'],
  'eip-4361': ['/api/svc/oracle/nonce', '/api/svc/oracle/siwe'],
  'eip-1271': ['/api/svc/oracle/verify'],
  'eip-712': ['/api/svc/prestake/commit'],
  jwt: ['/.well-known/jwks.json'],
  jws: [ENDPOINTS.agentCard, ENDPOINTS.cardKeys],
  'agent-skills': [ENDPOINTS.skillFile, ENDPOINTS.llms],
  x402: [...INTERFACES.x402.endpoints, INTERFACES.x402.description.path],
  a2a: [INTERFACES.a2a.description.path, ...INTERFACES.a2a.endpoints],
  mcp: [...INTERFACES.mcp.endpoints, ENDPOINTS.mcpServer, INTERFACES.mcp.description.path],
  'ai-catalog': [ENDPOINTS.aiCatalog],
  'api-catalog': [ENDPOINTS.apiCatalog],
  'standard-webhooks': ['/api/svc/webhooks/register'],
  websocket: [WEBSOCKET.path, '/api/svc/ws/ticket'],
  openapi: [INTERFACES.rest.description.path],
  asyncapi: [INTERFACES.events.description.path],
  'rfc-9745': ['/api/svc/signal'],
  'rfc-8785': ['/ipfs/{cid}'],
};

export const STANDARDS = ROWS.map(([id, kind, name, url, note]) => ({ id, name, kind, url, paths: PATHS[id] ?? [], note }));
