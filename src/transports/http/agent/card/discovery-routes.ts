import type { z } from 'zod';
import { AI_CATALOG_TYPE, buildAiCatalog } from '../../../../../agent-card/documents/ai-catalog.ts';
import { API_CATALOG_TYPE, buildApiCatalog, formatCatalogLinks } from '../../../../../agent-card/documents/api-catalog.ts';
import { buildMcpServerCard, SERVER_CARD_TYPE } from '../../../../../agent-card/documents/mcp-server-file.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import type { HttpDeps } from '../../deps.ts';
import { createStaticReply } from '../../server/replies/static-reply.ts';
import { type Route, route } from '../../server/route.ts';
import { AI_CATALOG, API_CATALOG, MCP_SERVER_CARD } from './discovery-schemas.ts';

interface JsonFile extends Pick<Route, 'summary' | 'description'> {
  /** Media type, with its parameters. */
  type: string;
  schema: z.ZodType;
  /** Further headers. */
  headers?(): Record<string, string>;
  build(): object;
}

/** Documents by which directories and clients find the interfaces, in the formats of their specifications. */
export function discoveryRoutes(deps: Pick<HttpDeps, 'hasOAuth' | 'publicUrl' | 'version'>): Route[] {
  const serverCard = {
    summary: 'MCP server card (SEP-2127)',
    description: 'URL, headers and protocol revisions of the MCP endpoint; its tools are listed there.',
    type: SERVER_CARD_TYPE,
    schema: MCP_SERVER_CARD,
    build: () => buildMcpServerCard(deps),
  };
  return [
    jsonRoute(ENDPOINTS.aiCatalog, 'getAiCatalog', {
      summary: 'AI catalog (ai-catalog.io): agent card, MCP server card, skills and OpenAPI',
      type: AI_CATALOG_TYPE,
      schema: AI_CATALOG,
      build: () => buildAiCatalog(deps),
    }),
    jsonRoute(ENDPOINTS.apiCatalog, 'getApiCatalog', {
      summary: 'API catalog (RFC 9727): all endpoints with their descriptions, as a link set',
      description: 'HEAD has the endpoints in `Link`.',
      type: API_CATALOG_TYPE,
      schema: API_CATALOG,
      headers: () => ({ Link: formatCatalogLinks(deps) }),
      build: () => buildApiCatalog(deps),
    }),
    jsonRoute(ENDPOINTS.mcpServerCard, 'getMcpServerCard', serverCard),
    jsonRoute(ENDPOINTS.mcpServerCardWellKnown, 'getWellKnownMcpServerCard', {
      ...serverCard,
      summary: 'The same, where readers of SEP-1649 look for it',
    }),
  ];
}

function jsonRoute(path: string, name: string, { type, schema, headers, build, ...declared }: JsonFile): Route {
  return route(`GET ${path}`, name, {
    ...declared,
    tag: 'agent',
    reply: null,
    alternatives: { [type.split(';', 1)[0]!]: { description: 'The document.', schema } },
    handle: createStaticReply(
      () => JSON.stringify(build()),
      () => ({ 'Content-Type': type, 'Cache-Control': 'public, max-age=3600', ...headers?.() }),
    ),
  });
}
