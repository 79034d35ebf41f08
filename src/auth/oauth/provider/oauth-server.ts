import type { IncomingMessage, ServerResponse } from 'node:http';
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Address } from 'viem';
import { OracleError } from '../../../platform/errors.ts';
import type { PaidTier } from '../../tiers/tiers.ts';
import { ClientMetadataError, findDocumentHost, formatClientName, getRedirectHost, isOwnedRedirect } from '../clients/client-metadata.ts';
import { toIssuer } from '../metadata.ts';
import { OFFLINE_SCOPE, toGrantedScope, toScopeTier } from '../scopes.ts';
import { buildConfiguration, type ProviderDeps } from './provider-configuration.ts';
import { answerRefresh } from './refresh-grace.ts';

export interface OAuthServerOptions extends ProviderDeps {
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
  #provider: Promise<Provider> | undefined;

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
    const interaction = await findDetails(provider, request, response);
    if (interaction?.uid !== id) throw requestEnded();
    const client = await provider.Client.find(String(interaction.params.client_id));
    if (client === undefined) throw requestEnded();
    return { provider, interaction, client };
  }

  #load(): Promise<Provider> {
    this.#provider ??= this.#createProvider().catch((error: unknown) => {
      this.#provider = undefined;
      throw error;
    });
    return this.#provider;
  }

  async #createProvider(): Promise<Provider> {
    const { Provider: OidcProvider, ...library } = await import('oidc-provider');
    const { refreshReplies } = this.#options.stores;
    const GracefulProvider = class extends OidcProvider {
      /** The provider registers its own grant types too. */
      override registerGrantType<T extends object>(...[name, handle, ...rest]: Parameters<typeof Provider.prototype.registerGrantType<T>>) {
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
  #keepErrorsHere(provider: Provider): void {
    const rejected = new WeakMap<KoaContextWithOIDC, errors.OIDCProviderError>();
    provider.on('authorization.error', (context, error) => void rejected.set(context, error));
    provider.use(async (context: KoaContextWithOIDC, next: () => Promise<void>) => {
      await next();
      const error = rejected.get(context);
      if (error === undefined || (await this.#mayGetErrors(context))) return;
      context.remove('Location');
      context.status = error.statusCode;
      const out = { error: error.error, error_description: error.error_description };
      await this.#options.renderError(context, out, error);
    });
  }

  async #mayGetErrors({ oidc: { client, params, entities } }: KoaContextWithOIDC): Promise<boolean> {
    const { redirect_uri: redirectUri } = (params ?? {}) as { redirect_uri?: string };
    if (client === undefined || redirectUri === undefined || !isOwnedRedirect(redirectUri)) return false;
    return entities.Interaction !== undefined || (await this.#options.stores.clients.mayRedirect(client.clientId));
  }

  #report(provider: Provider): void {
    const report = (
      { oidc }: KoaContextWithOIDC,
      { error, error_description: description, error_detail: reason }: errors.OIDCProviderError,
    ) => {
      const detail = [description, reason].filter((text) => text !== undefined).join(': ');
      const { client, params } = oidc ?? {};
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

/** Undefined without the cookie of a live interaction; a database that does not answer is an error. */
async function findDetails(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  const { errors: known } = await import('oidc-provider');
  return provider.interactionDetails(request, response).catch((error: unknown) => {
    if (error instanceof known.SessionNotFound) return undefined;
    throw error;
  });
}

function requestEnded(): OracleError {
  return new OracleError('NOT_FOUND', 'This request of an application is over, or another browser has made it', {
    suggestedAction: 'Connect again in the application.',
  });
}
