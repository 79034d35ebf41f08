import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callMcp } from '../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../support/auth/oauth-service.ts';
import { describeWithBrowser } from '../../support/docs/browser.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

// biome-ignore lint/suspicious/noExplicitAny: the packages of this folder are not there when types are checked
type Untyped = any;

// Resolved at run time, for the same reason.
const load = (name: string): Promise<Untyped> => import(pathToFileURL(createRequire(import.meta.url).resolve(name)).href);

interface Tokens {
  access: string;
  refresh: string;
}

interface Connection {
  authorizationUrl: URL;
  redeem(back: URL): Promise<Tokens>;
  refresh(token: string): Promise<Tokens>;
}

/** A client of a library, from its discovery to its authorization URL. */
type Connect = (server: { url: string; callback: string }) => Promise<Connection>;

const connectByOauth4webapi: Connect = async ({ url, callback }) => {
  const oauth = await load('oauth4webapi');
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(url);
  const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  const server = await oauth.processDiscoveryResponse(issuer, discovered);
  const registered = await oauth.dynamicClientRegistrationRequest(server, { client_name: 'o4w', redirect_uris: [callback] }, insecure);
  const client = await oauth.processDynamicClientRegistrationResponse(registered);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const authorizationUrl = new URL(server.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: callback,
    response_type: 'code',
    scope: 'forecast:basic offline_access',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: `${url}/mcp`,
    state,
  };
  for (const [name, value] of Object.entries(parameters)) authorizationUrl.searchParams.set(name, value);
  const toTokens = ({ access_token: access, refresh_token: refresh }: Untyped): Tokens => ({ access, refresh });
  return {
    authorizationUrl,
    async redeem(back) {
      const code = oauth.validateAuthResponse(server, client, back, state);
      const answer = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), code, callback, verifier, insecure);
      return toTokens(await oauth.processAuthorizationCodeResponse(server, client, answer));
    },
    async refresh(token) {
      const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, insecure);
      return toTokens(await oauth.processRefreshTokenResponse(server, client, answer));
    },
  };
};

const connectByBadgateway: Connect = async ({ url, callback }) => {
  const { OAuth2Client, generateCodeVerifier } = await load('@badgateway/oauth2-client');
  const response = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'badgateway', redirect_uris: [callback] }),
  });
  const { client_id: clientId } = (await response.json()) as { client_id: string };
  const client = new OAuth2Client({ server: url, clientId, discoveryEndpoint: '/.well-known/oauth-authorization-server' });
  const codeVerifier = await generateCodeVerifier();
  const shared = { redirectUri: callback, codeVerifier, state: 'the state' };
  const resource = `${url}/mcp`;
  const authorizationUrl = new URL(
    await client.authorizationCode.getAuthorizeUri({ ...shared, scope: ['forecast:basic', 'offline_access'], extraParams: { resource } }),
  );
  const toTokens = ({ accessToken, refreshToken }: Untyped): Tokens => ({ access: accessToken, refresh: refreshToken });
  return {
    authorizationUrl,
    redeem: async (back) => toTokens(await client.authorizationCode.getTokenFromCodeRedirect(back.href, shared)),
    refresh: async (token) => toTokens(await client.refreshToken({ accessToken: '', refreshToken: token, expiresAt: null })),
  };
};

describeWithBrowser('a client of an OAuth library', (browser) => {
  let oauth: OAuthService;
  let receiver: Receiver;
  beforeAll(async () => {
    oauth = await serveOAuthService();
    receiver = await startReceiver(200);
  });
  afterAll(async () => {
    await receiver?.close();
    await oauth?.close();
  });

  it.each<[string, Connect]>([
    ['oauth4webapi', connectByOauth4webapi],
    ['@badgateway/oauth2-client', connectByBadgateway],
  ])('%s connects by a wallet, refreshes in pairs, and survives a lost answer', async (_, connect) => {
    const callback = `${receiver.url}/callback`;
    const { authorizationUrl, redeem, refresh } = await connect({ url: oauth.url, callback });
    const page = await browser.open(authorizationUrl.href);
    await page.getByRole('button', { name: 'Sign as Basic and allow' }).click();
    await page.waitForURL(`${callback}*`);
    const tokens = await redeem(new URL(page.url()));
    const mayCall = async ({ access }: Tokens) => (await callMcp(`${oauth.url}/mcp/account`, access)).status;
    expect(await mayCall(tokens)).toBe(200);
    const [one, other] = await Promise.all([refresh(tokens.refresh), refresh(tokens.refresh)]);
    expect(other).toEqual(one);
    const again = await refresh(tokens.refresh);
    expect(again).toEqual(one);
    const next = await refresh(one!.refresh);
    expect([await mayCall(next), next.refresh === one!.refresh]).toEqual([200, false]);
  });
});
