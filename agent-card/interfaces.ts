import { PAID_RESOURCES } from '../src/commerce/price-list.ts';
import { ENDPOINTS } from './endpoints.ts';
import { A2A_VERSION, ASYNCAPI_VERSION, MCP_VERSION, OPENAPI_VERSION } from './protocols.ts';

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

export const listInterfaces = (): readonly ServiceInterface[] => Object.values(INTERFACES);
