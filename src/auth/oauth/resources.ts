import { joinUrl } from '../../platform/service-url.ts';

/** Paths of the authorization server, below which it serves consent too. */
export const OAUTH_PATHS = {
  base: '/oauth',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  consent: '/oauth/consent',
} as const;

/** RFC 8414. */
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
/** The same document where clients of OpenID Connect Discovery look for it. */
export const OPENID_METADATA_PATH = '/.well-known/openid-configuration';
/** RFC 9728; the path of a resource is appended. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Paths of the MCP server, each a protected resource of its own name: a client compares that name with the URL it was given. */
export const MCP_PATHS = {
  /** Anonymous calls are answered. */
  open: '/mcp',
  /** Every request needs a token, so that assistants start the authorization when they connect. */
  account: '/mcp/account',
} as const;

export type McpPath = (typeof MCP_PATHS)[keyof typeof MCP_PATHS];

/** Resource identifiers (RFC 8707) that name the MCP server; the first is the default. */
export function listMcpResources(publicUrl: string): string[] {
  return Object.values(MCP_PATHS).map((path) => joinUrl(publicUrl, path));
}

/** The resource identifier that a client means, or null. The spelling of a URL makes no difference, nor a trailing slash. */
export function findMcpResource(publicUrl: string, identifier: string): string | null {
  const wanted = URL.parse(identifier)?.href.replace(/\/$/, '');
  return listMcpResources(publicUrl).find((resource) => new URL(resource).href === wanted) ?? null;
}

export function getResourceMetadataUrl(publicUrl: string, path: McpPath): string {
  return joinUrl(publicUrl, `${RESOURCE_METADATA_PATH}${path}`);
}
