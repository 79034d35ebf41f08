import type { Request, Response } from 'express';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import type { Caller } from '../../auth/caller.ts';
import { isApplicationToken } from '../../auth/oauth/application-tokens.ts';
import { formatChallenge } from '../../auth/oauth/metadata.ts';
import { MCP_PATHS, type McpPath } from '../../auth/oauth/resources.ts';
import { DEFAULT_SCOPE, FORECAST_SCOPES } from '../../auth/oauth/scopes.ts';
import { findBearerToken } from '../../auth/tokens/access-tokens.ts';
import { OracleError } from '../../platform/errors.ts';
import type { ProtocolAdapter } from '../adapter.ts';

export interface McpAuthorization extends Required<Pick<ProtocolAdapter, 'identify'>> {
  /** Sets the challenge that starts or renews an authorization. @throws OracleError UNAUTHENTICATED */
  requireAuthorized(path: McpPath, request: Request, response: Response, caller: Caller): void;
}

interface McpAuthorizationOptions extends Required<Pick<ProtocolAdapter, 'identify'>> {
  publicUrl: string;
}

/**
 * MCP authorization (revision 2026-07-28). The account endpoint challenges every caller without a token, so that an assistant authorizes
 * when it connects. The open endpoint answers anonymous callers, and challenges only a client whose OAuth token has ended, which renews it.
 */
export function createMcpAuthorization({ publicUrl, identify }: McpAuthorizationOptions): McpAuthorization {
  return {
    identify,
    requireAuthorized(path, request, response, { wallet, rejectedToken }) {
      if (wallet !== undefined || (path === MCP_PATHS.open && !sentApplicationToken(request))) return;
      const scope = path === MCP_PATHS.open ? DEFAULT_SCOPE : FORECAST_SCOPES.join(' ');
      const isRejected = rejectedToken !== undefined;
      response.set('WWW-Authenticate', formatChallenge({ publicUrl, path, scope, ...(isRejected ? { error: 'invalid_token' } : {}) }));
      throw new OracleError('UNAUTHENTICATED', rejectedToken ?? 'This address is for assistants that a wallet has authorized', {
        field: 'Authorization',
        suggestedAction: `Authorize by OAuth, as WWW-Authenticate says; ${ENDPOINTS.mcp} answers without a token.`,
      });
    },
  };
}

function sentApplicationToken(request: Request): boolean {
  return isApplicationToken(findBearerToken(request.get('Authorization') ?? '') ?? '');
}
