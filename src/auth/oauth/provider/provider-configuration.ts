import { generateKeyPairSync } from 'node:crypto';
import type { Configuration, errors as providerErrors, interactionPolicy as providerPolicy } from 'oidc-provider';
import { isOracleError } from '../../../platform/errors.ts';
import type { TargetRules } from '../../../platform/outbound/target.ts';
import type { ReadGateBalance } from '../../tiers/gate-balance.ts';
import { createDocumentReader, MAX_DOCUMENT_BYTES } from '../clients/client-documents.ts';
import { CLIENT_AUTH_METHODS } from '../metadata.ts';
import { findMcpResource, listMcpResources, OAUTH_PATHS } from '../resources.ts';
import { FORECAST_SCOPES, OFFLINE_SCOPE } from '../scopes.ts';
import { createAdapterFactory, type OAuthStores } from './provider-adapter.ts';

export const ACCESS_TOKEN_SECONDS = 15 * 60;
const CODE_SECONDS = 60;
/** For reading the consent page, and signing. */
const INTERACTION_SECONDS = 15 * 60;
/** Of a refresh token that is not used. */
const REFRESH_TOKEN_SECONDS = 30 * 86_400;
/** After which a wallet signs again, whatever is used. */
export const GRANT_SECONDS = 365 * 86_400;

type Context = Parameters<NonNullable<Configuration['renderError']>>[0];

export interface ProviderDeps {
  publicUrl: string;
  stores: OAuthStores;
  readGate: ReadGateBalance;
  /** Public addresses only, unless a demonstration allows this machine. */
  documentRules: TargetRules;
  /** Counts a fetch of a client's document; false beyond the limits of the request's address. */
  allowFetch(request: Context['req'], clientId: string): Promise<boolean>;
  renderError: NonNullable<Configuration['renderError']>;
  onDocumentFailure(host: string, reason: string): void;
  now(): Date;
}

export interface ProviderLibrary {
  errors: typeof providerErrors;
  interactionPolicy: typeof providerPolicy;
}

/** OAuth 2.1 for public clients: codes with PKCE and rotating refresh tokens, opaque tokens for the MCP server. */
export function buildConfiguration(deps: ProviderDeps, { errors, interactionPolicy }: ProviderLibrary): Configuration {
  const { publicUrl, stores, renderError, now } = deps;
  const createReplayError = () => new errors.InvalidGrant('the code or token was used before');
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
    loadExistingGrant: (context) => loadGrant(context),
    interactions: {
      policy: [buildConsentPrompt(interactionPolicy)] as never,
      url: (_context, { uid }) => `${new URL(publicUrl).pathname.replace(/\/+$/, '')}${OAUTH_PATHS.consent}/${uid}`,
    },
    routes: {
      authorization: OAUTH_PATHS.authorize,
      token: OAUTH_PATHS.token,
      revocation: OAUTH_PATHS.revoke,
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: INTERACTION_SECONDS,
    },
    renderError,
    fetch: createFetch(deps),
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_DOCUMENT_BYTES, jwks_uri: MAX_DOCUMENT_BYTES },
    features: buildFeatures(deps, errors),
  } as Configuration;
}

function buildFeatures({ publicUrl, allowFetch }: ProviderDeps, errors: ProviderLibrary['errors']): Configuration['features'] {
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

function createFetch({ documentRules, onDocumentFailure }: ProviderDeps): NonNullable<Configuration['fetch']> {
  const read = createDocumentReader(documentRules, onDocumentFailure);
  return (url) => read(String(url));
}

/** One prompt for signing and consent, for every authorization: no session of a browser answers it. */
function buildConsentPrompt({ Prompt, Check }: ProviderLibrary['interactionPolicy']) {
  const isMissing = new Check('consent_missing', 'a wallet must sign', (context) => context.oidc.result?.consent === undefined);
  return new Prompt({ name: 'consent', requestable: true }, isMissing);
}

async function loadGrant({ oidc }: Parameters<NonNullable<Configuration['loadExistingGrant']>>[0]) {
  const grantId = oidc.result?.consent?.grantId;
  return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
}

/** @param token absent during an authorization, whose wallet has just signed */
async function findAccount(
  { readGate }: ProviderDeps,
  errors: ProviderLibrary['errors'],
  wallet: string,
  token: { kind?: string } | undefined,
) {
  if (token !== undefined && !(await holdsTokens(readGate, errors, wallet))) {
    throw new errors.InvalidGrant('the wallet no longer holds the gate tokens of a tier');
  }
  return { accountId: wallet, claims: async () => ({ sub: wallet }) };
}

/** A chain that does not answer says nothing about the wallet: the client keeps its token and tries again. */
async function holdsTokens(readGate: ReadGateBalance, errors: ProviderLibrary['errors'], wallet: string): Promise<boolean> {
  try {
    return (await readGate(wallet as `0x${string}`)).tier !== 'public';
  } catch (error) {
    if (!isOracleError(error, 'CHAIN_UNREACHABLE')) throw error;
    throw toStatus(503, new errors.TemporarilyUnavailable('the chain does not answer, try again'));
  }
}

function toStatus(status: number, error: Error): Error {
  return Object.assign(error, { status, statusCode: status });
}
