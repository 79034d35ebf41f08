import { isIP } from 'node:net';
import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';
import { INTERFACES } from '../interfaces.ts';
import { MCP_VERSIONS } from '../protocols.ts';

export const SERVER_CARD_TYPE = INTERFACES.mcp.description.type;

export interface McpServerFileSource {
  publicUrl: string;
  version: string;
  /** Whether assistants can authorize by OAuth. */
  hasOAuth: boolean;
}

export const MCP_REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';

/** Members that say the same in every entry and card. */
export const SERVER_COPY = { title: IDENTITY.name, description: IDENTITY.tagline } as const;

/** Entry of this very service in the MCP registry (`server.json`). The package, which reaches any service, has an entry of its own. */
export function buildMcpServerFile({ publicUrl, version, hasOAuth }: McpServerFileSource) {
  const oauth = hasOAuth ? `. Assistants authorize by OAuth at ${joinUrl(publicUrl, ENDPOINTS.mcpAccount)}` : '';
  return {
    $schema: MCP_REGISTRY_SCHEMA,
    name: `${toNamespace(publicUrl)}/${IDENTITY.slug}`,
    ...SERVER_COPY,
    version,
    websiteUrl: joinUrl(publicUrl, '/'),
    remotes: [
      {
        type: 'streamable-http' as const,
        url: joinUrl(publicUrl, INTERFACES.mcp.endpoints[0]),
        headers: [
          {
            name: 'Authorization',
            description: `"Bearer " and a token from POST ${joinUrl(publicUrl, '/api/svc/oracle/verify')}; only gated tools ask for it${oauth}`,
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** MCP server card (SEP-2127): how to connect. Tools are listed by the server itself. */
export function buildMcpServerCard(source: McpServerFileSource) {
  const { $schema: _, remotes, ...server } = buildMcpServerFile(source);
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...server,
    icons: [{ src: joinUrl(source.publicUrl, ENDPOINTS.icon), mimeType: 'image/svg+xml', sizes: ['any'] }],
    remotes: remotes.map((remote) => ({ ...remote, supportedProtocolVersions: [...MCP_VERSIONS] })),
  };
}

/** Reverse host name; `localhost` for an IP address. */
function toNamespace(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.split('.').filter(Boolean).reverse().join('.') : 'localhost';
}
