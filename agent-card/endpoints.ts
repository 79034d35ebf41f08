import type { Address } from 'viem';
import { PAID_RESOURCES } from '../src/commerce/offerings.ts';
import { DIRECTION_EVIDENCE } from '../src/forecast/signal.ts';

/** Paths of the service that agents use; no other file names them. */
export const ENDPOINTS = {
  /** A2A over JSON-RPC; also served at `/`. */
  a2a: '/a2a',
  /** A2A over HTTP+JSON, base path. */
  a2aRest: '/a2a/rest',
  mcp: '/mcp',
  /** The same for assistants that authorize by OAuth. */
  mcpAccount: '/mcp/account',
  agentCard: '/.well-known/agent-card.json',
  /** Where A2A 0.2 had it. */
  agentCardOld: '/.well-known/agent.json',
  cardKeys: '/.well-known/agent-card-jwks.json',
  /** ERC-8004 registration file, named by the identity on chain. */
  registration: '/.well-known/agent-registration.json',
  mcpServer: '/.well-known/mcp/server.json',
  /** Reserved for the card by SEP-2127: the URL of the server and `/server-card`. */
  mcpServerCard: '/mcp/server-card',
  /** Where readers of SEP-1649 look for it. */
  mcpServerCardWellKnown: '/.well-known/mcp/server-card.json',
  mcpServerCardOld: '/.well-known/mcp.json',
  aiCatalog: '/.well-known/ai-catalog.json',
  /** RFC 9727. */
  apiCatalog: '/.well-known/api-catalog',
  llms: '/llms.txt',
  skillFile: '/SKILL.md',
  methodology: '/methodology.md',
  skills: '/api/svc/skills',
  openApi: '/.well-known/openapi.json',
  /** The only place where directories of paid services read it. */
  openApiRoot: '/openapi.json',
  asyncApi: '/.well-known/asyncapi.json',
  webSocket: '/ws/signal',
  /** API reference for browsers. */
  reference: '/docs',
  health: '/health',
  x402: '/.well-known/x402.json',
  /** The same as a bare list, for x402 indexers. */
  x402Resources: '/.well-known/x402',
  icon: '/icon.svg',
  favicon: '/favicon.ico',
  robots: '/robots.txt',
  /** RFC 9116. */
  security: '/.well-known/security.txt',
} as const;

export const IDENTITY = {
  name: 'Bitcoin Signal Oracle',
  /** For identifiers without spaces. */
  slug: 'bitcoin-signal-oracle',
  description: `A daily forecast of BTC/USD, committed on chain before its outcome window opens, wagered, resolved and scored in public. ${DIRECTION_EVIDENCE}`,
  /** At most 100 characters, the limit of the MCP registry. */
  tagline: 'Daily BTC/USD forecasts, committed on chain before their outcome and scored in public.',
  /** Topics under which directories list what is sold; at most five. */
  topics: ['bitcoin', 'forecast', 'probability', 'on-chain commitment', 'trading signal'],
  capabilities: ['btc-usd-forecast', 'on-chain-commitment', 'public-scorecard', 'attestation-verification', 'a2a', 'mcp'],
} as const;

export const A2A_VERSION = '1.0';
export const A2A_LEGACY_VERSION = '0.3';
export const MCP_VERSION = '2026-07-28';
const OPENAPI_VERSION = '3.1.0';
const ASYNCAPI_VERSION = '3.1.0';

/** A way for programs to use the service. Paths are without the base URL. */
export interface ServiceInterface {
  /** Name of its description in lists. */
  title: string;
  /** What the description holds. */
  note: string;
  version: string;
  /** What clients call, the preferred one first. */
  endpoints: readonly [string, ...string[]];
  /** Machine-readable document about it, with the media type that it is served with. */
  description: { path: string; type: string };
  /** Page for people. */
  guide: string;
  /** Media type of the description in AI catalogs; null: they list no such thing. */
  artifactType: string | null;
}

const [firstPaid, ...otherPaid] = PAID_RESOURCES.map(({ resource }) => resource.path);

/** All interfaces. The documents of discovery are written from this table, so that they name the same URLs. */
export const INTERFACES = {
  a2a: {
    title: 'Agent card',
    note: `A2A ${A2A_VERSION}, signed; description and endpoints`,
    version: A2A_VERSION,
    endpoints: [ENDPOINTS.a2a, ENDPOINTS.a2aRest],
    description: { path: ENDPOINTS.agentCard, type: 'application/json' },
    guide: ENDPOINTS.skillFile,
    artifactType: 'application/a2a-agent-card+json',
  },
  mcp: {
    title: 'MCP server card',
    note: `Streamable HTTP, revisions up to ${MCP_VERSION}`,
    version: MCP_VERSION,
    endpoints: [ENDPOINTS.mcp],
    description: { path: ENDPOINTS.mcpServerCard, type: 'application/mcp-server-card+json' },
    guide: ENDPOINTS.skillFile,
    artifactType: 'application/mcp-server-card+json',
  },
  skills: {
    title: 'Step-by-step guide',
    note: 'plain HTTP, A2A and MCP; access tokens; paying for one answer with x402; verifying an answer',
    version: '1',
    endpoints: [ENDPOINTS.skills],
    description: { path: ENDPOINTS.skillFile, type: 'text/markdown' },
    guide: ENDPOINTS.skillFile,
    artifactType: 'application/agent-skills+md',
  },
  rest: {
    title: 'OpenAPI',
    note: `every operation, OpenAPI ${OPENAPI_VERSION}`,
    version: OPENAPI_VERSION,
    endpoints: ['/'],
    description: { path: ENDPOINTS.openApi, type: 'application/json' },
    guide: ENDPOINTS.reference,
    artifactType: 'application/openapi+json',
  },
  events: {
    title: 'AsyncAPI',
    note: `events over WebSocket and webhooks, AsyncAPI ${ASYNCAPI_VERSION}`,
    version: ASYNCAPI_VERSION,
    endpoints: [ENDPOINTS.webSocket],
    description: { path: ENDPOINTS.asyncApi, type: 'application/json' },
    guide: ENDPOINTS.reference,
    artifactType: null,
  },
  x402: {
    title: 'Terms',
    note: 'payee, asset, chain, x402 versions, and verification of receipts',
    version: '2',
    endpoints: [firstPaid!, ...otherPaid],
    description: { path: ENDPOINTS.x402, type: 'application/json' },
    guide: ENDPOINTS.reference,
    artifactType: null,
  },
} as const satisfies Record<string, ServiceInterface>;

export interface CardSource {
  publicUrl: string;
  version: string;
  chainId: number;
  registry: Address;
  agentId: number;
  payments: { payee: Address; asset: Address; receiptSigner: Address };
}
