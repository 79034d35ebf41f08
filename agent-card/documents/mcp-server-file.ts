import { isIP } from 'node:net';
import { joinUrl } from '../../src/platform/service-url.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { IDENTITY } from '../identity.ts';

export interface McpServerFileSource {
  publicUrl: string;
  version: string;
}

/** Entry of the MCP registry (`server.json`). The published package is no MCP server, so it lists remotes only. */
export function buildMcpServerFile({ publicUrl, version }: McpServerFileSource) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: `${toNamespace(publicUrl)}/${IDENTITY.slug}`,
    title: IDENTITY.name,
    description: IDENTITY.tagline,
    version,
    websiteUrl: joinUrl(publicUrl, '/'),
    remotes: [
      {
        type: 'streamable-http' as const,
        url: joinUrl(publicUrl, ENDPOINTS.mcp),
        headers: [
          {
            name: 'Authorization',
            description: `"Bearer " and a token from POST ${joinUrl(publicUrl, '/api/svc/oracle/verify')}; only gated tools ask for it`,
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** Reverse host name; `localhost` for an IP address. */
function toNamespace(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.split('.').filter(Boolean).reverse().join('.') : 'localhost';
}
