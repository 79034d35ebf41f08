import type { Request, Response } from 'express';
import type { ErrorCode } from '../../../platform/errors.ts';
import type { AdapterError } from '../../adapter.ts';
import { negotiateMediaType } from '../server/replies/negotiate.ts';
import { CONSENT_HEADERS, renderOAuthErrorPage } from './consent-page.ts';

/** Errors of RFC 6749 where this service, and not the provider, rejects a request. */
const OAUTH_ERRORS: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'invalid_token',
  TIER_REQUIRED: 'access_denied',
  RATE_LIMITED: 'temporarily_unavailable',
  OVERLOADED: 'temporarily_unavailable',
  CHAIN_UNREACHABLE: 'temporarily_unavailable',
  DATABASE_UNAVAILABLE: 'temporarily_unavailable',
  SHUTTING_DOWN: 'temporarily_unavailable',
  INTERNAL: 'server_error',
};

/** For browsers a page; for clients the JSON of RFC 6749, section 5.2, with members of a problem document. */
export function createOAuthErrorSerializer(publicUrl: string): (error: AdapterError, response: Response) => void {
  return ({ status: _, ...error }, response) => {
    const { code, message, suggestedAction } = error;
    if (isPageRequest(response.req)) {
      response.set(CONSENT_HEADERS).send(renderOAuthErrorPage(publicUrl, `${message}. ${suggestedAction}`));
      return;
    }
    const body = {
      error: OAUTH_ERRORS[code] ?? 'invalid_request',
      error_description: message,
      detail: message,
      ...error.details,
      ...error,
    };
    response.type('application/json').send(JSON.stringify(body));
  };
}

function isPageRequest(request: Request): boolean {
  const accept = request.get('accept') ?? '';
  return request.method === 'GET' && negotiateMediaType(accept, ['application/json', 'text/html']) === 'text/html';
}
