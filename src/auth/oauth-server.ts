import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import type * as oidc from 'oidc-provider';
import { type Address, getAddress } from 'viem';
import { isOracleError, OracleError } from '../errors.ts';
import { isFirstWrite } from '../platform/mongo.ts';
import type { TargetRules } from '../platform/outbound/guarded.ts';
import type { SecretBox } from '../platform/secrets.ts';
import type { ArtifactPayload, ArtifactStore, GrantStore } from './oauth-clients.ts';
import {
  CLIENT_AUTH_METHODS,
  ClientMetadataError,
  type ClientStore,
  createDocumentReader,
  FORECAST_SCOPES,
  findDocumentHost,
  findMcpResource,
  formatClientName,
  getRedirectHost,
  isOwnedRedirect,
  listMcpResources,
  MAX_DOCUMENT_BYTES,
  OAUTH_PATHS,
  OFFLINE_SCOPE,
  parseClientMetadata,
  requireOneDomain,
  toGrantedScope,
  toIssuer,
  toScopeTier,
} from './oauth-clients.ts';
import type { PaidTier, ReadGateBalance } from './tiers.ts';

interface OAuthServerOptions extends ProviderDeps {
  /** A rejected request: the code of the standard, and what was wrong, without secrets. */
  onRejected(rejection: { error: string; detail: string; clientHost: string | null }): void;
  onError(error: unknown): void;
}

/** What an application asks a wallet for. */
export interface ConsentRequest {
  id: string;
  /** As it is named to the owner of the wallet. */
  client: string;
  /** Host of the client's metadata document; null for a registered client, of which nothing is checked. */
  documentHost: string | null;
  /** As the client calls itself; null if it does not. */
  claimedName: string | null;
  /** Where the browser goes with the code. */
  redirectHost: string;
  tier: PaidTier;
}

/** The authorization server. `oidc-provider` costs memory, so that a process loads it with its first request. */
export class OAuthServer {
  readonly #options: OAuthServerOptions;
  #provider: Promise<oidc.Provider> | undefined;

  constructor(options: OAuthServerOptions) {
    this.#options = options;
  }

  /** Serves an endpoint of `OAUTH_PATHS`, whose request has its full path as URL. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const provider = await this.#load();
    await provider.callback()(request, response);
  }

  /** What the provider would refuse later on. @throws ClientMetadataError */
  async validateClient(metadata: Record<string, unknown>): Promise<void> {
    const { Client } = (await this.#load()) as unknown as { Client: new (metadata: object) => unknown };
    const { errors: known } = await import('oidc-provider');
    try {
      new Client(metadata);
    } catch (error) {
      if (!(error instanceof known.InvalidClientMetadata)) throw error;
      throw new ClientMetadataError(error instanceof known.InvalidRedirectUri, error.error_description ?? error.message);
    }
  }

  /** @throws OracleError NOT_FOUND for a request that is over, or that another browser has made */
  async getConsentRequest(request: IncomingMessage, response: ServerResponse, id: string): Promise<ConsentRequest> {
    const { client, interaction } = await this.#findInteraction(request, response, id);
    const { scope, redirect_uri: redirectUri } = interaction.params as { scope?: string; redirect_uri: string };
    return {
      id,
      client: formatClientName({ clientId: client.clientId, redirectUri, claimedName: client.clientName }),
      documentHost: findDocumentHost(client.clientId),
      claimedName: client.clientName ?? null,
      redirectHost: getRedirectHost(redirectUri),
      tier: toScopeTier(scope) ?? 'basic',
    };
  }

  /** Grants what was asked for, up to the tier of the wallet; returns where the browser continues. @param signed `name` as in the text that the wallet signed */
  async allow(
    request: IncomingMessage,
    response: ServerResponse,
    { id, wallet, tier, name }: { id: string; wallet: Address; tier: PaidTier; name: string },
  ): Promise<string> {
    const { provider, client, interaction } = await this.#findInteraction(request, response, id);
    const { scope, resource } = interaction.params as { scope?: string; resource: string };
    const grant = new provider.Grant({ accountId: wallet, clientId: client.clientId });
    grant.addResourceScope(resource, toGrantedScope(scope, tier));
    if (scope?.split(' ').includes(OFFLINE_SCOPE)) grant.addOIDCScope(OFFLINE_SCOPE);
    const grantId = await grant.save();
    await this.#options.stores.grants.setName(grantId, name);
    const result = { login: { accountId: wallet, remember: false }, consent: { grantId } };
    return provider.interactionResult(request, response, result, { mergeWithLastSubmission: false });
  }

  async deny(request: IncomingMessage, response: ServerResponse, id: string): Promise<string> {
    const { provider } = await this.#findInteraction(request, response, id);
    const result = { error: 'access_denied', error_description: 'the owner of the wallet declined' };
    return provider.interactionResult(request, response, result, { mergeWithLastSubmission: false });
  }

  async #findInteraction(request: IncomingMessage, response: ServerResponse, id: string) {
    const provider = await this.#load();
    const { errors: known } = await import('oidc-provider');
    const interaction = await provider.interactionDetails(request, response).catch((error: unknown) => {
      // Without the cookie of a live interaction; a database that does not answer is an error.
      if (error instanceof known.SessionNotFound) return undefined;
      throw error;
    });
    const client = interaction?.uid === id ? await provider.Client.find(String(interaction.params.client_id)) : undefined;
    if (interaction !== undefined && client !== undefined) return { provider, interaction, client };
    const suggestedAction = 'Connect again in the application.';
    throw new OracleError('NOT_FOUND', 'This request of an application is over, or another browser has made it', { suggestedAction });
  }

  #load(): Promise<oidc.Provider> {
    this.#provider ??= this.#createProvider().catch((error: unknown) => {
      this.#provider = undefined;
      throw error;
    });
    return this.#provider;
  }

  async #createProvider(): Promise<oidc.Provider> {
    const { Provider: OidcProvider, ...library } = await import('oidc-provider');
    const { refreshReplies } = this.#options.stores;
    const GracefulProvider = class extends OidcProvider {
      /** The provider registers its own grant types too. */
      override registerGrantType<T extends object>(
        ...[name, handle, ...rest]: Parameters<typeof oidc.Provider.prototype.registerGrantType<T>>
      ) {
        const answerOnce: typeof handle = (context) => answerRefresh(refreshReplies, library.errors, context, () => handle(context));
        super.registerGrantType<T>(name, name === 'refresh_token' ? answerOnce : handle, ...rest);
      }
    };
    const provider = new GracefulProvider(toIssuer(this.#options.publicUrl), buildConfiguration(this.#options, library));
    // The forwarded protocol is set by the transport, from the public URL.
    provider.proxy = true;
    this.#keepErrorsHere(provider);
    this.#report(provider);
    return provider;
  }

  /**
   * Anyone can register a client, and send a browser here with a request that fails: errors go only to clients that have a document, that a
   * wallet has allowed before, or whose user has decided on the consent page (RFC 9700, section 4.11.2).
   */
  #keepErrorsHere(provider: oidc.Provider): void {
    const rejected = new WeakMap<oidc.KoaContextWithOIDC, oidc.errors.OIDCProviderError>();
    provider.on('authorization.error', (context, error) => void rejected.set(context, error));
    provider.use(async (context: oidc.KoaContextWithOIDC, next: () => Promise<void>) => {
      await next();
      const error = rejected.get(context);
      if (error === undefined || (await this.#mayGetErrors(context))) return;
      context.remove('Location');
      context.status = error.statusCode;
      const out = { error: error.error, error_description: error.error_description };
      await this.#options.renderError(context, out, error);
    });
  }

  async #mayGetErrors({ oidc: { client, params, entities } }: oidc.KoaContextWithOIDC): Promise<boolean> {
    const { redirect_uri: redirectUri } = (params ?? {}) as { redirect_uri?: string };
    if (client === undefined || redirectUri === undefined || !isOwnedRedirect(redirectUri)) return false;
    return entities.Interaction !== undefined || (await this.#options.stores.clients.mayRedirect(client.clientId));
  }

  #report(provider: oidc.Provider): void {
    const report = (context: oidc.KoaContextWithOIDC, rejection: oidc.errors.OIDCProviderError) => {
      const { error, error_description: description, error_detail: reason } = rejection;
      const detail = [description, reason].filter((text) => text !== undefined).join(': ');
      const { client, params } = context.oidc ?? {};
      const redirectUri = params?.redirect_uri ?? client?.redirectUris?.[0];
      const clientHost = client === undefined ? null : (findDocumentHost(client.clientId) ?? getRedirectHost(String(redirectUri)));
      this.#options.onRejected({ error, detail, clientHost });
    };
    provider.on('authorization.error', report);
    provider.on('grant.error', report);
    provider.on('revocation.error', report);
    provider.on('server_error', (_context, error) => this.#options.onError(error));
  }
}

const ACCESS_TOKEN_SECONDS = 15 * 60;
const CODE_SECONDS = 60;
/** For reading the consent page, and signing. */
const INTERACTION_SECONDS = 15 * 60;
/** Of a refresh token that is not used. */
const REFRESH_TOKEN_SECONDS = 30 * 86_400;
/** After which a wallet signs again, whatever is used. */
const GRANT_SECONDS = 365 * 86_400;

interface ProviderDeps {
  publicUrl: string;
  stores: OAuthStores;
  readGate: ReadGateBalance;
  /** Public addresses only, unless a demonstration allows this machine. */
  documentRules: TargetRules;
  /** Counts a fetch of a client's document; false beyond the limits of the request's address. */
  allowFetch(request: IncomingMessage, clientId: string): Promise<boolean>;
  renderError: NonNullable<oidc.Configuration['renderError']>;
  onDocumentFailure(host: string, reason: string): void;
  now(): Date;
}

/** OAuth 2.1 for public clients: codes with PKCE and rotating refresh tokens, opaque tokens for the MCP server. */
function buildConfiguration(deps: ProviderDeps, library: Pick<typeof oidc, 'errors' | 'interactionPolicy'>): oidc.Configuration {
  const { errors, interactionPolicy } = library;
  const { publicUrl, stores, renderError, now } = deps;
  const createReplayError = () => new errors.InvalidGrant('the code or token was used before');
  const readDocument = createDocumentReader(deps.documentRules, deps.onDocumentFailure);
  const { Prompt, Check } = interactionPolicy;
  // One prompt for signing and consent, for every authorization: no session of a browser answers it.
  const isMissing = new Check('consent_missing', 'a wallet must sign', (context) => context.oidc.result?.consent === undefined);
  return {
    adapter: createAdapterFactory({ ...stores, now, createReplayError }),
    // The library wants a key. No id token is issued, so that it signs nothing.
    jwks: { keys: [generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })] },
    scopes: [OFFLINE_SCOPE],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    clientDefaults: {
      id_token_signed_response_alg: 'EdDSA',
      token_endpoint_auth_method: 'none',
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    clientBasedCORS: () => true,
    findAccount: (_context, wallet, token) => findAccount(deps, errors, wallet, token),
    loadExistingGrant: async ({ oidc: { result, provider } }) => {
      const grantId = result?.consent?.grantId;
      return grantId === undefined ? undefined : provider.Grant.find(grantId);
    },
    interactions: {
      policy: [new Prompt({ name: 'consent', requestable: true }, isMissing)] as never,
      url: (_context, { uid }) => `${new URL(publicUrl).pathname.replace(/\/+$/, '')}${OAUTH_PATHS.consent}/${uid}`,
    },
    routes: { authorization: OAUTH_PATHS.authorize, token: OAUTH_PATHS.token, revocation: OAUTH_PATHS.revoke },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: INTERACTION_SECONDS,
    },
    renderError,
    fetch: (url) => readDocument(String(url)),
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_DOCUMENT_BYTES, jwks_uri: MAX_DOCUMENT_BYTES },
    features: buildFeatures(deps, errors),
  } as oidc.Configuration;
}

function buildFeatures({ publicUrl, allowFetch }: ProviderDeps, errors: typeof oidc.errors): oidc.Configuration['features'] {
  const off = { enabled: false };
  return {
    devInteractions: off,
    userinfo: off,
    rpInitiatedLogout: off,
    dPoP: off,
    pushedAuthorizationRequests: off,
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => listMcpResources(publicUrl)[0]!,
      useGrantedResource: async () => true,
      getResourceServerInfo: (_context, identifier) => {
        const audience = findMcpResource(publicUrl, identifier);
        if (audience === null) throw new errors.InvalidTarget();
        return { scope: FORECAST_SCOPES.join(' '), audience, accessTokenFormat: 'opaque' };
      },
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      // The documents that a consent page reads again were fetched for its authorization.
      allowFetch: async (context, clientId) => {
        if (context === undefined || (await allowFetch(context.req, clientId))) return true;
        throw toStatus(429, new errors.TemporarilyUnavailable('too many clients were looked up from this address, try again later'));
      },
      cacheDuration: { min: 300, max: 3_600 },
    },
  };
}

/** @param token absent during an authorization, whose wallet has just signed */
async function findAccount({ readGate }: ProviderDeps, errors: typeof oidc.errors, wallet: string, token: object | undefined) {
  const account = { accountId: wallet, claims: async () => ({ sub: wallet }) };
  if (token === undefined) return account;
  const gate = await readGate(wallet as `0x${string}`).catch((error: unknown) => {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
    // It says nothing about the wallet: the client keeps its token and tries again.
    throw toStatus(503, new errors.TemporarilyUnavailable('the chain does not answer, try again'));
  });
  if (gate.tier === 'public') throw new errors.InvalidGrant('the wallet no longer has a tier');
  return account;
}

function toStatus(status: number, error: Error): Error {
  return Object.assign(error, { status, statusCode: status });
}

export interface OAuthStores {
  artifacts: ArtifactStore;
  clients: ClientStore;
  grants: GrantStore;
  refreshReplies: RefreshReplyStore;
}

interface AdapterDeps extends OAuthStores {
  now(): Date;
  /** The error of `oidc-provider` for a code or refresh token that was used before. */
  createReplayError(): Error;
}

type GrantStores = Pick<OAuthStores, 'artifacts' | 'grants'>;

/** A grant ends with everything that was issued under it. */
export async function endGrant({ grants, artifacts }: GrantStores, id: string, wallet?: Address): Promise<boolean> {
  const wasLive = await grants.delete(id, wallet);
  if (wasLive) await artifacts.deleteOfGrant(id);
  return wasLive;
}

/** Storage of `oidc-provider` in the database, shared by all processes. */
function createAdapterFactory(deps: AdapterDeps): (model: string) => oidc.Adapter {
  return (model) => {
    if (model === 'Session') return NO_SESSIONS;
    if (model === 'Client') {
      return {
        ...unused,
        upsert: async () => Promise.reject(new Error('clients are registered by the registration endpoint')),
        find: (id) => deps.clients.find(id) as Promise<oidc.AdapterPayload | undefined>,
        destroy: async () => undefined,
      };
    }
    return model === 'Grant' ? createGrantAdapter(deps) : createArtifactAdapter(deps, model);
  };
}

const unused = {
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/** Each authorization is signed for by a wallet, so that a browser keeps no session to be misused. */
const NO_SESSIONS: oidc.Adapter = { ...unused, upsert: async () => undefined, find: async () => undefined, destroy: async () => undefined };

function createGrantAdapter({ now, ...stores }: AdapterDeps): oidc.Adapter {
  const { grants, clients } = stores;
  return {
    ...unused,
    async upsert(id, payload, expiresIn = 0) {
      const { accountId, clientId, resources } = payload as { accountId: string; clientId: string; resources?: Record<string, string> };
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + expiresIn * 1_000);
      const registered = await clients.find(clientId);
      const tier = toScopeTier(Object.values(resources ?? {}).join(' '));
      if (tier === null) throw new Error('a grant must have a scope of this service');
      const wallet = getAddress(accountId);
      await grants.put({ _id: id, wallet, clientId, tier, payload, createdAt, lastUsedAt: null, expiresAt });
      if (registered !== undefined) await clients.markUsed(clientId, wallet, expiresAt);
      for (const excess of await grants.listExcess(wallet)) await endGrant(stores, excess);
      for (const excess of await clients.listExcess(wallet)) if (!(await grants.hasLive(excess))) await clients.delete(excess);
    },
    find: async (id) => (await grants.findLive(id))?.payload,
    destroy: async (id) => void (await endGrant(stores, id)),
  };
}

function createArtifactAdapter({ artifacts, now, createReplayError, ...others }: AdapterDeps, model: string): oidc.Adapter {
  return {
    ...unused,
    upsert: (id, payload, expiresIn = 0) =>
      artifacts.put(model, id, payload as ArtifactPayload, new Date(now().getTime() + expiresIn * 1_000)),
    find: (id) => artifacts.find(model, id),
    destroy: (id) => artifacts.delete(model, id),
    async consume(id) {
      const found = await artifacts.find(model, id);
      if (await artifacts.consume(model, id)) return;
      // The other request of the same instant has it: one of the two is not the client's.
      if (typeof found?.grantId === 'string') await endGrant({ artifacts, ...others }, found.grantId);
      throw createReplayError();
    },
    revokeByGrantId: (grantId) => artifacts.deleteOfGrant(grantId),
  };
}

/** Within which a repeated refresh gets the same tokens: assistants refresh twice at once, and lose answers. */
const REFRESH_GRACE_MS = 60_000;
/** A refresh takes less: its process has died. Measured by the database's clock. */
const LEASE_MS = 10_000;
const POLL_MS = 50;

interface ReplyDoc {
  /** SHA-256 of the refresh token that was exchanged. */
  _id: string;
  clientId: string;
  /** Identifies the request that exchanges it. */
  holder: string;
  heldUntil: Date;
  /** When the holder began, by its own clock, as the consumption of the token is dated. */
  since: Date;
  /** The token response, encrypted, bound to client and token; null until it is there. */
  sealed: string | null;
  expiresAt: Date;
}

const COLLECTION = 'oauth_refresh_replies';

/** What is to be done with a refresh: `exchange` as its holder, leave it to the provider's own judgement, wait, or repeat the answer. */
type Admission = { do: 'exchange'; holder: string } | { do: 'judge' } | { do: 'wait' } | { do: 'repeat'; body: unknown };

/** Answers to refreshes, kept for their grace. Tokens are stored as hashes, so that the provider itself could not repeat them. */
export class RefreshReplyStore {
  readonly #replies: Collection<ReplyDoc>;
  readonly #deps: { artifacts: ArtifactStore; secretBox: SecretBox; now(): Date };

  constructor({ db, ...deps }: { db: Db; artifacts: ArtifactStore; secretBox: SecretBox; now(): Date }) {
    this.#replies = db.collection(COLLECTION);
    this.#deps = deps;
  }

  async admit(token: string, clientId: string): Promise<Admission> {
    const _id = toKey(token);
    const holder = randomUUID();
    if (await this.#insert(_id, clientId, holder)) return { do: 'exchange', holder };
    const found = await this.#replies.findOne({ _id });
    if (found === null) return { do: 'wait' };
    if (found.clientId !== clientId) return { do: 'judge' };
    if (found.sealed !== null) return found.expiresAt <= this.#deps.now() ? { do: 'judge' } : { do: 'repeat', body: this.#open(found) };
    if (!(await this.#takeOver(found, holder))) return { do: 'wait' };
    // The tokens of the dead process were not sent: no client has them.
    await this.#deps.artifacts.restore('RefreshToken', token, found.since);
    return { do: 'exchange', holder };
  }

  async keep(token: string, clientId: string, holder: string, body: unknown): Promise<void> {
    const _id = toKey(token);
    const sealed = this.#deps.secretBox.seal('oauth-token-response', `${clientId}:${_id}`, JSON.stringify(body));
    const expiresAt = new Date(this.#deps.now().getTime() + REFRESH_GRACE_MS);
    await this.#replies.updateOne({ _id, holder }, { $set: { sealed, expiresAt } });
  }

  /** The exchange has failed, and nothing was sent: what it consumed can be exchanged again. */
  async release(token: string, holder: string): Promise<void> {
    const _id = toKey(token);
    const held = await this.#replies.findOne({ _id, holder, sealed: null });
    if (held === null) return;
    await this.#deps.artifacts.restore('RefreshToken', token, held.since);
    await this.#replies.deleteOne({ _id, holder, sealed: null });
  }

  async #insert(_id: string, clientId: string, holder: string): Promise<boolean> {
    const since = this.#deps.now();
    const fields = { clientId, holder, since, sealed: null, expiresAt: new Date(since.getTime() + REFRESH_GRACE_MS) };
    // The holder is new: the filter matches no other document. Only updates can use the clock of the database.
    return isFirstWrite(this.#replies.updateOne({ _id, holder }, [{ $set: { ...fields, heldUntil: LEASE_END } }], { upsert: true }));
  }

  async #takeOver({ _id, holder: dead }: ReplyDoc, holder: string): Promise<boolean> {
    const abandoned = { _id, holder: dead, sealed: null, $expr: { $lt: ['$heldUntil', '$$NOW'] } };
    const taken = { holder, since: this.#deps.now(), heldUntil: LEASE_END };
    return (await this.#replies.updateOne(abandoned, [{ $set: taken }])).modifiedCount === 1;
  }

  #open({ _id, clientId, sealed }: ReplyDoc): unknown {
    return JSON.parse(this.#deps.secretBox.open('oauth-token-response', `${clientId}:${_id}`, sealed!));
  }
}

const LEASE_END = { $add: ['$$NOW', LEASE_MS] };

/**
 * Exchanges a refresh token once; a repetition by the same client, which the provider has authenticated, gets the same answer while the
 * grace lasts. Any later use is the provider's to judge: it ends the grant.
 */
async function answerRefresh(
  replies: RefreshReplyStore,
  errors: typeof oidc.errors,
  context: oidc.KoaContextWithOIDC,
  exchange: () => unknown,
): Promise<void> {
  const { client, params } = context.oidc;
  const token = params?.refresh_token;
  if (typeof token !== 'string' || client === undefined) return void (await exchange());
  const exchangeAs = async (holder: string) => {
    try {
      await exchange();
    } catch (error) {
      await replies.release(token, holder);
      throw error;
    }
    await replies.keep(token, client.clientId, holder, context.body);
  };
  const giveUpAt = performance.now() + LEASE_MS;
  for (;;) {
    const admission = await replies.admit(token, client.clientId);
    if (admission.do === 'judge') return void (await exchange());
    if (admission.do === 'repeat') {
      context.body = admission.body;
      return;
    }
    if (admission.do === 'exchange') return exchangeAs(admission.holder);
    if (performance.now() > giveUpAt) throw new errors.TemporarilyUnavailable('the token is being refreshed by another request, try again');
    await delay(POLL_MS);
  }
}

function toKey(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** Registers a public client (RFC 7591), for clients without a document of their own. @throws ClientMetadataError; OracleError RATE_LIMITED */
export async function registerClient(
  { clients, server }: { clients: ClientStore; server: Pick<OAuthServer, 'validateClient'> },
  document: unknown,
  address: string,
) {
  const metadata = parseClientMetadata(document);
  requireOneDomain(metadata);
  const client_id = `client-${randomUUID()}`;
  await server.validateClient({ client_id, ...metadata });
  const registeredAt = await clients.insert(client_id, { client_id, ...metadata }, address);
  return { client_id, client_id_issued_at: Math.floor(registeredAt.getTime() / 1_000), ...metadata };
}
