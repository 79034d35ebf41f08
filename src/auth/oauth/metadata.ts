import { joinUrl } from '../../platform/service-url.ts';
import { getResourceMetadataUrl, MCP_PATHS, type McpPath, OAUTH_PATHS } from './resources.ts';
import { FORECAST_SCOPES, OFFLINE_SCOPE } from './scopes.ts';

export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
export const CLIENT_AUTH_METHODS = ['none', 'private_key_jwt'] as const;

/** Authorization server metadata (RFC 8414), with the members that OpenID Connect Discovery requires of its readers. */
export function buildServerMetadata(publicUrl: string) {
  const issuer = toIssuer(publicUrl);
  return {
    issuer,
    authorization_endpoint: joinUrl(issuer, OAUTH_PATHS.authorize),
    token_endpoint: joinUrl(issuer, OAUTH_PATHS.token),
    registration_endpoint: joinUrl(issuer, OAUTH_PATHS.register),
    revocation_endpoint: joinUrl(issuer, OAUTH_PATHS.revoke),
    jwks_uri: joinUrl(issuer, '/.well-known/jwks.json'),
    scopes_supported: [...FORECAST_SCOPES, OFFLINE_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...GRANT_TYPES],
    token_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'EdDSA', 'PS256', 'RS256'],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
    revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'EdDSA', 'PS256', 'RS256'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['EdDSA'],
    service_documentation: joinUrl(issuer, '/docs/ASSISTANTS.md'),
  };
}

/** Protected resource metadata (RFC 9728) of a path of the MCP server. */
export function buildResourceMetadata(publicUrl: string, path: McpPath = MCP_PATHS.open) {
  return {
    resource: joinUrl(publicUrl, path),
    authorization_servers: [toIssuer(publicUrl)],
    scopes_supported: [...FORECAST_SCOPES],
    bearer_methods_supported: ['header'],
    resource_name: 'Bitcoin Signal Oracle',
  };
}

/** The public URL without a trailing slash: clients compare it character by character. */
export function toIssuer(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}

interface Challenge {
  publicUrl: string;
  path: McpPath;
  scope: string;
  /** Absent where no token was sent (RFC 6750, section 3.1). */
  error?: 'invalid_token' | 'insufficient_scope';
}

/** `WWW-Authenticate` that starts or renews an authorization (RFC 9728, section 5.1). */
export function formatChallenge({ publicUrl, path, scope, error }: Challenge): string {
  const parameters = [
    'realm="oracle"',
    ...(error === undefined ? [] : [`error="${error}"`]),
    `resource_metadata="${getResourceMetadataUrl(publicUrl, path)}"`,
    `scope="${scope}"`,
  ];
  return `Bearer ${parameters.join(', ')}`;
}
