import type { Request, Response } from 'express';
import { registerClient, toRegistrationError } from '../../../auth/oauth/clients/register-client.ts';
import { buildResourceMetadata, buildServerMetadata } from '../../../auth/oauth/metadata.ts';
import type { OAuthServer } from '../../../auth/oauth/provider/oauth-server.ts';
import {
  MCP_PATHS,
  OAUTH_PATHS,
  OPENID_METADATA_PATH,
  RESOURCE_METADATA_PATH,
  SERVER_METADATA_PATH,
} from '../../../auth/oauth/resources.ts';
import { toKnownScope } from '../../../auth/oauth/scopes.ts';
import type { ClientStore } from '../../../auth/oauth/stores/client-store.ts';
import type { RequestContext } from '../../../auth/request-context.ts';
import type { ProtocolAdapter } from '../../adapter.ts';
import { buildNotFoundError } from '../server/not-found.ts';
import { type ConsentDeps, serveConsent } from './consent.ts';
import type { DocumentBudget } from './document-budget.ts';
import { createOAuthErrorSerializer } from './error-reply.ts';
import { methodNotAllowed } from './method-not-allowed.ts';

export interface OAuthAdapterDeps extends ConsentDeps {
  server: OAuthServer;
  clients: ClientStore;
  budget: DocumentBudget;
}

/** A client registers with less. */
const BODY_LIMIT_BYTES = 8 * 1_024;

/** The authorization server: its metadata, its endpoints and the consent page. */
export function createOAuthAdapter(deps: OAuthAdapterDeps): ProtocolAdapter {
  const documents = buildDocuments(deps.publicUrl);
  const methods = ['get'] as const;
  return {
    mounts: [{ path: OAUTH_PATHS.base, below: true }, ...[...documents.keys()].map((path) => ({ path, methods }))],
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    async handle(request, response, context) {
      const document = documents.get(toPath(request));
      if (document !== undefined) return sendDocument(response, document);
      await serveEndpoint(deps, request, response, context);
    },
    serializeError: createOAuthErrorSerializer(deps.publicUrl),
  };
}

/** By path. The metadata of a path-less resource is that of the open endpoint, for clients that look nowhere else. */
function buildDocuments(publicUrl: string): Map<string, string> {
  const server = JSON.stringify(buildServerMetadata(publicUrl));
  const resources = Object.values(MCP_PATHS).map(
    (path) => [`${RESOURCE_METADATA_PATH}${path}`, JSON.stringify(buildResourceMetadata(publicUrl, path))] as const,
  );
  return new Map([
    [SERVER_METADATA_PATH, server],
    [OPENID_METADATA_PATH, server],
    [RESOURCE_METADATA_PATH, JSON.stringify(buildResourceMetadata(publicUrl))],
    ...resources,
  ]);
}

function sendDocument(response: Response, document: string): void {
  response.type('application/json').set('Cache-Control', 'public, max-age=300').send(document);
}

async function serveEndpoint(deps: OAuthAdapterDeps, request: Request, response: Response, context: RequestContext): Promise<void> {
  const path = toPath(request);
  if (path.startsWith(`${OAUTH_PATHS.consent}/`)) {
    return serveConsent(deps, { id: path.slice(OAUTH_PATHS.consent.length + 1), request, response, caller: context.caller });
  }
  if (path === OAUTH_PATHS.register) return serveRegistration(deps, request, response, context);
  const isAuthorization = path === OAUTH_PATHS.authorize || path.startsWith(`${OAUTH_PATHS.authorize}/`);
  const isToken = path === OAUTH_PATHS.token || path === OAUTH_PATHS.revoke;
  if (!isAuthorization && !isToken) throw buildNotFoundError();
  requireMethod(request, response, isAuthorization ? 'GET' : 'POST');
  // The provider reads the body itself: a client that sends it slowly holds no capacity.
  if (!request.complete) context.detach();
  await deps.budget.during(request, context, () => deps.server.handle(toProviderRequest(request, deps.publicUrl), response));
}

async function serveRegistration({ clients }: OAuthAdapterDeps, request: Request, response: Response, { address }: RequestContext) {
  requireMethod(request, response, 'POST');
  const sendJson = (status: number, body: object) => response.status(status).type('application/json').send(JSON.stringify(body));
  try {
    sendJson(201, await registerClient(clients, request.body, address));
  } catch (error) {
    sendJson(400, toRegistrationError(error));
  }
}

function requireMethod(request: Request, response: Response, method: 'GET' | 'POST'): void {
  if (request.method === method) return;
  response.set('Allow', method);
  throw methodNotAllowed(method);
}

function toPath({ originalUrl }: Request): string {
  return originalUrl.split('?', 1)[0]!;
}

/** As a client sends it to the public URL: what a proxy or a client says of host and protocol makes no difference. */
function toProviderRequest(request: Request, publicUrl: string): Request {
  const { host, protocol, pathname } = new URL(publicUrl);
  Object.assign(request.headers, { host, 'x-forwarded-proto': protocol.slice(0, -1) });
  delete request.headers['x-forwarded-host'];
  // The provider builds its URLs from these three.
  request.baseUrl = pathname.replace(/\/+$/, '');
  request.url = withKnownScopes(request);
  request.originalUrl = `${request.baseUrl}${request.url}`;
  return request;
}

/** Scopes of other services are ignored, and an authorization without one of this service gets the default (RFC 6749, section 3.3). */
function withKnownScopes({ originalUrl }: Request): string {
  const [path, query = ''] = originalUrl.split('?', 2) as [string, string?];
  if (path !== OAUTH_PATHS.authorize) return originalUrl;
  const parameters = new URLSearchParams(query);
  const sent = parameters.getAll('scope');
  // The provider rejects a repeated parameter.
  if (sent.length > 1) return originalUrl;
  parameters.set('scope', toKnownScope(sent[0]));
  return `${path}?${parameters}`;
}
