import { isIP } from 'node:net';
import { ENDPOINTS } from './endpoints.ts';
import { IDENTITY } from './identity.ts';
import { urlAt } from './url.ts';

export interface McpServerFileSource {
  publicUrl: string;
  /** Of the software. */
  version: string;
}

/** Entry for the MCP registry (`server.json`). It lists no package: none is published. */
export function mcpServerFile({ publicUrl, version }: McpServerFileSource) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: `${namespaceOf(publicUrl)}/${IDENTITY.slug}`,
    title: IDENTITY.name,
    description: IDENTITY.tagline,
    version,
    websiteUrl: urlAt(publicUrl, '/'),
    remotes: [
      {
        type: 'streamable-http' as const,
        url: urlAt(publicUrl, ENDPOINTS.mcp),
        headers: [
          {
            name: 'Authorization',
            description: `"Bearer " and a token from POST ${urlAt(publicUrl, '/api/svc/oracle/verify')}; only gated tools ask for it`,
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** The host's name, last part first; an address has none. */
function namespaceOf(publicUrl: string): string {
  const { hostname } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.split('.').filter(Boolean).reverse().join('.') : 'localhost';
}
