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

const CONSENT_ROUTE = `${OAUTH_PATHS.consent}/:id` as const;
const RESUME_ROUTE = `${OAUTH_PATHS.authorize}/:uid` as const;

/** By path, as the router matches it; consent answers two methods. */
const ENDPOINT_METHODS = {
  [OAUTH_PATHS.authorize]: 'GET',
  [RESUME_ROUTE]: 'GET',
  [CONSENT_ROUTE]: 'GET',
  [OAUTH_PATHS.token]: 'POST',
  [OAUTH_PATHS.revoke]: 'POST',
  [OAUTH_PATHS.register]: 'POST',
} as const;

/** A client registers with less. */
const BODY_LIMIT_BYTES = 8 * 1_024;

/** The authorization server: its metadata, its endpoints and the consent page. */
export function createOAuthAdapter(deps: OAuthAdapterDeps): ProtocolAdapter {
  const documents = buildDocuments(deps.publicUrl);
  const methods = ['get'] as const;
  return {
    mounts: [
      ...[...documents.keys()].map((path) => ({ path, methods })),
      ...Object.keys(ENDPOINT_METHODS).map((path) => ({ path })),
      { path: OAUTH_PATHS.base, below: true as const },
    ],
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    async handle(request, response, context) {
      const path: string | undefined = request.route?.path;
      if (path === undefined) throw buildNotFoundError();
      const document = documents.get(path);
      if (document !== undefined) return sendDocument(response, document);
      await serveEndpoint(deps, path as keyof typeof ENDPOINT_METHODS, { request, response, context });
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

interface EndpointCall {
  request: Request;
  response: Response;
  context: RequestContext;
}

/** @param path as the router has matched it */
async function serveEndpoint(deps: OAuthAdapterDeps, path: keyof typeof ENDPOINT_METHODS, call: EndpointCall): Promise<void> {
  const { request, response, context } = call;
  if (path === CONSENT_ROUTE) return serveConsent(deps, { ...call, id: String(request.params.id) });
  requireMethod(request, response, ENDPOINT_METHODS[path]);
  if (path === OAUTH_PATHS.register) return serveRegistration(deps, request, response, context);
  // The provider reads the body itself: a client that sends it slowly holds no capacity.
  if (!request.complete) context.detach();
  const known = path.replace(':uid', String(request.params.uid));
  await deps.budget.during(request, context, () => deps.server.handle(toProviderRequest(request, known, deps.publicUrl), response));
}

async function serveRegistration(deps: OAuthAdapterDeps, request: Request, response: Response, { address }: RequestContext) {
  requireMethod(request, response, 'POST');
  const sendJson = (status: number, body: object) => response.status(status).type('application/json').send(JSON.stringify(body));
  try {
    sendJson(201, await registerClient(deps, request.body, address));
  } catch (error) {
    sendJson(400, toRegistrationError(error));
  }
}

function requireMethod(request: Request, response: Response, method: 'GET' | 'POST'): void {
  if (request.method === method) return;
  response.set('Allow', method);
  throw methodNotAllowed(method);
}

/** As a client sends it to the public URL: what a proxy or a client says of host and protocol makes no difference, nor how it spells the path. */
function toProviderRequest(request: Request, path: string, publicUrl: string): Request {
  const { host, protocol, pathname } = new URL(publicUrl);
  Object.assign(request.headers, { host, 'x-forwarded-proto': protocol.slice(0, -1) });
  delete request.headers['x-forwarded-host'];
  // The provider builds its URLs from these three.
  request.baseUrl = pathname.replace(/\/+$/, '');
  request.url = withKnownScopes(request, path);
  request.originalUrl = `${request.baseUrl}${request.url}`;
  return request;
}

/** Scopes of other services are ignored, and an authorization without one of this service gets the default (RFC 6749, section 3.3). */
function withKnownScopes({ originalUrl }: Request, path: string): string {
  const [, query] = originalUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  const sent = parameters.getAll('scope');
  // The provider rejects a repeated parameter.
  if (path === OAUTH_PATHS.authorize && sent.length <= 1) parameters.set('scope', toKnownScope(sent[0]));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
