import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import type { Configuration } from 'oidc-provider';
import type { Address } from 'viem';
import { z } from 'zod';
import type { AdapterError, ProtocolAdapter } from '../../adapter.ts';
import type { AuthService, RequestContext } from '../../auth/auth.ts';
import {
  buildServerMetadata,
  ClientMetadataError,
  type ClientStore,
  DEFAULT_SCOPE,
  FORECAST_SCOPES,
  MCP_PATHS,
  type McpPath,
  OAUTH_PATHS,
  OFFLINE_SCOPE,
  RESOURCE_METADATA_PATH,
  toIssuer,
} from '../../auth/oauth-clients.ts';
import { type ConsentRequest, type OAuthServer, type OAuthStores, registerClient } from '../../auth/oauth-server.ts';
import { formatTierRequirement, type PaidTier, tierRequired } from '../../auth/tiers.ts';
import { type ErrorCode, isOracleError, OracleError } from '../../errors.ts';
import { el, type Markup } from '../../page/markup.ts';
import { joinUrl } from '../../platform/service-client.ts';
import { parseInput } from '../../platform/validation.ts';
import { findCrossSiteError } from '../guard.ts';
import { walletInput } from '../parameters.ts';
import { buildNotFoundError } from '../problems.ts';
import { negotiateMediaType } from '../replies.ts';
import { SIGNED_BODY } from './access.ts';
import { PAGE_HEADERS, renderPage } from './home.ts';

interface OAuthAdapterDeps extends ConsentDeps {
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
  return {
    mounts: [
      ...[...documents.keys()].map((path) => ({ path, methods: ['get'] as const })),
      ...Object.keys(ENDPOINT_METHODS).map((path) => ({ path })),
      { path: OAUTH_PATHS.base, below: true as const },
    ],
    bodyTypes: ['application/json'],
    bodyLimitBytes: BODY_LIMIT_BYTES,
    async handle(request, response, context) {
      const path: string | undefined = request.route?.path;
      if (path === undefined) throw buildNotFoundError();
      const document = documents.get(path);
      if (document !== undefined) {
        response.type('application/json').set('Cache-Control', 'public, max-age=300').send(document);
        return;
      }
      await serveEndpoint(deps, path as keyof typeof ENDPOINT_METHODS, { request, response, context });
    },
    serializeError: createOAuthErrorSerializer(deps.publicUrl),
  };
}

/** RFC 8414. */
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server';
/** The same document where clients of OpenID Connect Discovery look for it. */
const OPENID_METADATA_PATH = '/.well-known/openid-configuration';

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

/** Protected resource metadata (RFC 9728) of a path of the MCP server. */
function buildResourceMetadata(publicUrl: string, path: McpPath = MCP_PATHS.open) {
  return {
    resource: joinUrl(publicUrl, path),
    authorization_servers: [toIssuer(publicUrl)],
    scopes_supported: [...FORECAST_SCOPES],
    bearer_methods_supported: ['header'],
    resource_name: 'Bitcoin Signal Oracle',
  };
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

/** The error of RFC 7591, section 3.2.2, for a rejected registration; other errors are thrown on. */
function toRegistrationError(error: unknown): { error: string; error_description: string } {
  if (!(error instanceof ClientMetadataError)) throw error;
  return { error: error.isAboutRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', error_description: error.message };
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

/** The scopes of a request that this service knows; the default where it names none for forecasts. */
export function toKnownScope(scope: string | undefined): string {
  const names = (scope ?? '').split(' ').filter((name) => FORECAST_SCOPES.includes(name) || name === OFFLINE_SCOPE);
  return [...new Set(names.some((name) => FORECAST_SCOPES.includes(name)) ? names : [DEFAULT_SCOPE, ...names])].join(' ');
}

interface ConsentDeps {
  server: Pick<OAuthServer, 'getConsentRequest' | 'allow' | 'deny'>;
  access: Pick<AuthService, 'acts' | 'getGateBalance'>;
  publicUrl: string;
  /** Whether the demo wallets of a local chain can sign. */
  hasDemoWallets: boolean;
}

interface ConsentCall {
  id: string;
  request: Request;
  response: Response;
  context: Pick<RequestContext, 'countChainCall'>;
}

/** `sign` gives the text that a wallet signs for this application, `allow` brings it back. */
const DECISION = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('deny') }),
  z.strictObject({ decision: z.literal('sign'), wallet: walletInput }),
  z.strictObject({ decision: z.literal('allow'), ...SIGNED_BODY.shape }),
]);

/** GET: the page. POST: the decision, by the page's script; the answer has the text to sign, or where the browser continues. */
async function serveConsent(deps: ConsentDeps, call: ConsentCall): Promise<void> {
  const { request, response } = call;
  if (request.method === 'GET') {
    const consent = await deps.server.getConsentRequest(request, response, call.id);
    response.set(CONSENT_HEADERS).send(renderConsentPage(consent, deps));
    return;
  }
  if (request.method !== 'POST') {
    response.set('Allow', 'GET, POST');
    throw methodNotAllowed('POST');
  }
  // The cookie of the interaction is `SameSite=Lax` already; this holds where a browser ignores that.
  const crossSite = findCrossSiteError(request);
  if (crossSite !== null) throw crossSite;
  response.type('application/json').send(JSON.stringify({ success: true, ...(await decide(deps, call)) }));
}

/** @throws OracleError INPUT_INVALID, UNAUTHENTICATED, TIER_REQUIRED, CONFLICT, NOT_FOUND, CHAIN_UNREACHABLE */
async function decide(deps: ConsentDeps, call: ConsentCall): Promise<{ message: string } | { redirectTo: string }> {
  const { id, request, response, context } = call;
  const { server, access } = deps;
  const input = parseInput(DECISION, request.body ?? {}, { kind: 'body field', root: 'body' });
  if (input.decision === 'deny') return { redirectTo: await server.deny(request, response, id) };
  await context.countChainCall();
  const consent = await server.getConsentRequest(request, response, id);
  if (input.decision === 'sign') {
    const { wallet } = input;
    // A wallet that can allow nothing is rejected before it signs.
    await readPaidTier(deps, wallet);
    const { client, tier } = consent;
    const { message } = await access.acts.compose(wallet, { kind: 'allow-application', request: consent.id, client, tier });
    return { message };
  }
  const redirectTo = await access.acts.redeem('allow-application', input, async (wallet, act) => {
    const { client: name } = consent;
    if (act.request !== consent.id || act.client !== name) {
      throw new OracleError('UNAUTHENTICATED', 'This text was signed for another request of an application', {
        field: 'message',
        suggestedAction: 'Sign the text of this page.',
      });
    }
    return server.allow(request, response, { id, wallet, name, tier: await readPaidTier(deps, wallet) });
  });
  return { redirectTo };
}

/** @throws OracleError TIER_REQUIRED, CHAIN_UNREACHABLE */
async function readPaidTier({ access }: ConsentDeps, wallet: Address): Promise<PaidTier> {
  const gate = await access.getGateBalance(wallet);
  if (gate.tier === 'public') throw tierRequired('basic', gate);
  return gate.tier;
}

/** Unlike other pages it connects to this service alone. Neither stored, nor framed, nor named to where the browser goes next. */
const CONSENT_HEADERS = {
  ...PAGE_HEADERS,
  'Content-Security-Policy': PAGE_HEADERS['Content-Security-Policy'].replace(/connect-src [^;]+/, "connect-src 'self'"),
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** The page on which a wallet allows an application to use its tier; the script adds the wallets of the browser. */
function renderConsentPage(consent: ConsentRequest, { publicUrl, hasDemoWallets }: ConsentDeps): string {
  const { id, client } = consent;
  const body = el('main', { id: 'main', tabindex: -1, class: 'consent' }, [
    el('h1', {}, `Allow ${client} to read forecasts?`),
    el('p', { class: 'notice' }, formatIdentity(consent)),
    renderConsentFacts(consent),
    el(
      'p',
      {},
      'Your wallet signs a text that names this application: a signature, not a transaction. It is free and moves no funds. The application never learns the signature.',
    ),
    el('noscript', {}, el('p', { class: 'notice' }, 'Signing needs JavaScript.')),
    el('div', { id: 'consent-choice', 'data-id': id, 'data-demo': hasDemoWallets ? 'yes' : null }),
    el('p', { id: 'consent-status', role: 'status' }),
    el('p', {}, el('button', { id: 'consent-deny', type: 'button' }, 'Cancel')),
  ]);
  return renderPage(publicUrl, {
    title: 'Allow an application',
    path: `${OAUTH_PATHS.consent.slice(1)}/${id}`,
    kind: 'consent',
    bundle: 'consent',
    body,
  });
}

function formatIdentity({ claimedName, documentHost, redirectHost }: ConsentRequest): string {
  const claim = claimedName === null ? '' : `It calls itself “${claimedName}”, which is not verified. `;
  if (documentHost !== null) return `${claim}This service has checked that its description is published by ${documentHost}.`;
  return `${claim}Your permission goes to ${redirectHost}: go on only if you have just connected it there.`;
}

function renderConsentFacts({ redirectHost, tier }: ConsentRequest): Markup {
  const facts = [
    [
      'It may',
      `read forecasts over MCP with the ${tier === 'basic' ? 'Basic tier of your wallet' : 'tier of your wallet, up to Premium'}, and nothing else`,
    ],
    ['Your wallet needs', formatTierRequirement('basic')],
    ['Until', 'you revoke it, or the wallet loses its tier; for a year at most'],
    ['Afterwards you go to', redirectHost],
  ] as const;
  return el(
    'dl',
    { class: 'facts' },
    facts.map(([term, value]) => el('div', {}, el('dt', {}, term), el('dd', {}, value))),
  );
}

/** Why an authorization cannot go on, where there is no application to send the browser back to. */
function renderOAuthErrorPage(publicUrl: string, problem: string): string {
  const body = el('main', { id: 'main', tabindex: -1 }, [
    el('h1', {}, 'The application cannot be connected'),
    el('p', {}, problem),
    el('p', {}, 'Nothing was allowed. You can close this page.'),
  ]);
  return renderPage(publicUrl, { title: 'Not connected', path: '', kind: 'document', body });
}

function methodNotAllowed(allowed: string): OracleError {
  return new OracleError('METHOD_NOT_ALLOWED', `Only ${allowed} is served here`, { suggestedAction: `Send a ${allowed}.` });
}

type FetchingContext = Pick<RequestContext, 'address' | 'detach'>;

/** Counts the documents of clients that are fetched for a request against its address, but those of clients that wallets allow. */
export class DocumentBudget {
  readonly #stores: Pick<OAuthStores, 'clients' | 'grants'>;
  readonly #contexts = new WeakMap<IncomingMessage, FetchingContext>();

  constructor(stores: Pick<OAuthStores, 'clients' | 'grants'>) {
    this.#stores = stores;
  }

  async during<T>(request: IncomingMessage, context: FetchingContext, work: () => Promise<T>): Promise<T> {
    this.#contexts.set(request, context);
    return work();
  }

  /** False beyond the limits of the address. The unit of work ends: the request now waits for a server that its client names. */
  async takeOne(request: IncomingMessage, clientId: string): Promise<boolean> {
    const { clients, grants } = this.#stores;
    const context = this.#contexts.get(request);
    if (context === undefined) return true;
    try {
      if (!(await grants.hasLive(clientId))) await clients.countDocument(context.address);
      context.detach();
      return true;
    } catch (error) {
      if (isOracleError(error, 'RATE_LIMITED')) return false;
      throw error;
    }
  }
}

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
function createOAuthErrorSerializer(publicUrl: string): (error: AdapterError, response: Response) => void {
  return ({ status: _, ...error }, response) => {
    const { code, message, suggestedAction } = error;
    const { req: request } = response;
    const types = ['application/json', 'text/html'] as const;
    if (request.method === 'GET' && negotiateMediaType(request.get('accept') ?? '', types) === 'text/html') {
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

type RenderError = NonNullable<Configuration['renderError']>;

/** An error of the provider that cannot go back to the application. Its description is the provider's, not the client's. */
export function renderProviderError(publicUrl: string, context: Parameters<RenderError>[0], out: Parameters<RenderError>[1]): void {
  if (context.accepts('json', 'html') !== 'html') {
    context.body = out;
    return;
  }
  context.set(CONSENT_HEADERS);
  context.body = renderOAuthErrorPage(publicUrl, `${out.error}: ${out.error_description ?? 'the request was refused'}.`);
}
