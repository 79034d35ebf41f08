import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORECAST_SCOPES } from '../../../../src/auth/oauth-clients.ts';
import { serveDocuments } from '../../../support/auth/client-document.ts';
import { moveGateTokens } from '../../../support/auth/gate-tokens.ts';
import { demoWallets, loginToken } from '../../../support/auth/login.ts';
import { callMcp, OAuthTestClient, REDIRECT_URI } from '../../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../../support/auth/oauth-service.ts';

let oauth: OAuthService;
beforeAll(async () => {
  oauth = await serveOAuthService(0, { PUSH_LOCAL_TARGETS: 'allow' });
});
afterAll(() => oauth?.close());

const account = () => `${oauth.url}/mcp/account`;
const token = (tier: 'basic' | 'premium' = 'basic') => loginToken(oauth.service, tier);
const wallet = (tier: 'basic' | 'premium' | 'poor' = 'basic') => demoWallets(oauth.service)[tier];

async function registered(): Promise<OAuthTestClient> {
  const client = new OAuthTestClient(oauth.url);
  await client.register();
  return client;
}

async function authorized(tier: 'basic' | 'premium' = 'basic', changes: Record<string, string> = {}) {
  const client = await registered();
  const { body } = await client.exchange(await client.getCode(wallet(tier), changes));
  return { client, accessToken: body.access_token as string, refreshToken: body.refresh_token as string, body };
}

const json = async (path: string) => (await fetch(`${oauth.url}${path}`)).json() as Promise<Record<string, unknown>>;

describe('discovery', () => {
  it('names the authorization server in the metadata of each resource, and its endpoints in that of the server', async () => {
    for (const path of ['/mcp', '/mcp/account']) {
      expect(await json(`/.well-known/oauth-protected-resource${path}`)).toMatchObject({
        resource: `${oauth.url}${path}`,
        authorization_servers: [oauth.url],
        scopes_supported: FORECAST_SCOPES,
      });
    }
    expect(await json('/.well-known/oauth-protected-resource')).toMatchObject({ resource: `${oauth.url}/mcp` });
    const server = await json('/.well-known/oauth-authorization-server');
    expect(server).toMatchObject({
      issuer: oauth.url,
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
    expect(await json('/.well-known/openid-configuration')).toEqual(server);
    for (const name of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint']) {
      expect((await fetch(String(server[name]), { method: 'PUT', redirect: 'manual' })).status, name).toBe(405);
    }
  });

  it('challenges at the account address, and answers without a token at the other', async () => {
    const { status, challenge } = await callMcp(account());
    expect(status).toBe(401);
    expect(challenge).toBe(
      `Bearer realm="oracle", resource_metadata="${oauth.url}/.well-known/oauth-protected-resource/mcp/account", scope="forecast:basic forecast:premium"`,
    );
    expect((await callMcp(`${oauth.url}/mcp`)).status).toBe(200);
    expect((await callMcp(account(), await token())).status).toBe(200);
  });

  it('challenges a client whose token has ended at both addresses, so that it refreshes', async () => {
    for (const path of ['/mcp', '/mcp/account']) {
      const { status, challenge } = await callMcp(`${oauth.url}${path}`, 'x'.repeat(43));
      expect(status).toBe(401);
      expect(challenge).toContain('error="invalid_token"');
    }
  });
});

describe('an authorization', () => {
  it('returns code, state and issuer, and the code gives tokens with which gated tools answer', async () => {
    const client = await registered();
    const { location: consent } = await client.authorize({
      scope: `openid ${FORECAST_SCOPES.join(' ')} offline_access`,
      prompt: 'consent',
    });
    const { location } = await client.decide(consent!, wallet('premium'));
    expect(`${location!.origin}${location!.pathname}`).toBe(REDIRECT_URI);
    expect(Object.fromEntries(location!.searchParams)).toEqual({ code: expect.any(String), state: 'the state', iss: oauth.url });
    const { status, body } = await client.exchange(location!.searchParams.get('code')!);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: FORECAST_SCOPES.join(' ') });
    expect((await callMcp(account(), body.access_token)).status).toBe(200);
  });

  it('grants at most the scope and at most the tier of the wallet', async () => {
    const { body } = await authorized('basic');
    expect(body.scope).toBe('forecast:basic');
    const { accessToken } = await authorized('premium', { scope: 'forecast:basic' });
    const { caller } = await oauth.service.http.access.identifyToken(accessToken, 'mcp');
    expect(caller).toMatchObject({ tier: 'basic', wallet: demoWallets(oauth.service).premium.address });
  });

  it('returns access_denied when the owner cancels', async () => {
    const client = await registered();
    const { location: consent } = await client.authorize();
    const { location } = await client.decide(consent!, 'deny');
    expect(Object.fromEntries(location!.searchParams)).toMatchObject({ error: 'access_denied', state: 'the state', iss: oauth.url });
  });

  it('accepts the token at the MCP server alone', async () => {
    const { accessToken } = await authorized();
    const reply = await fetch(`${oauth.url}/api/svc/oracle`, { headers: { Authorization: `Bearer ${accessToken}` } });
    expect(reply.status).toBe(401);
    expect(await reply.json()).toMatchObject({ detail: expect.stringContaining('meant for the MCP server alone') });
  });
});

describe('a code', () => {
  it('is redeemed by one of two requests at once, and a replay ends the grant', async () => {
    const client = await registered();
    const code = await client.getCode(wallet());
    const replies = await Promise.all([client.exchange(code), client.exchange(code)]);
    expect(replies.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(replies.find(({ status }) => status !== 200)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    for (const { body } of replies)
      if (body.access_token !== undefined) expect((await callMcp(account(), body.access_token)).status).toBe(401);
  });

  it('that is replayed later ends the grant', async () => {
    const client = await registered();
    const code = await client.getCode(wallet());
    const { body } = await client.exchange(code);
    expect((await callMcp(account(), body.access_token)).status).toBe(200);
    expect(await client.exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await callMcp(account(), body.access_token)).status).toBe(401);
    expect(await client.refresh(body.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('is bound to its verifier, its redirect URI, its client and its resource', async () => {
    const client = await registered();
    for (const [changes, error] of [
      [{ code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
      [{ redirect_uri: 'https://other.example/callback' }, 'invalid_grant'],
      [{ client_id: (await registered()).clientId }, 'invalid_grant'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    ] as const) {
      const code = await client.getCode(wallet());
      expect(await client.exchange(code, changes), error).toMatchObject({ status: 400, body: { error } });
    }
  });
});

describe('a refresh token', () => {
  it('is refused once the tokens have left the wallet, and works when they are back', async () => {
    const { client, refreshToken } = await authorized('premium');
    const giveBack = await moveGateTokens(oauth.service, 'premium', 'poor');
    expect(await client.refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await giveBack();
    expect((await client.refresh(refreshToken)).status).toBe(200);
  });
});

describe('a revocation', () => {
  it('by the client ends its tokens at once', async () => {
    const { client, accessToken, refreshToken } = await authorized();
    expect((await client.revoke(refreshToken)).status).toBe(200);
    expect((await callMcp(account(), accessToken)).status).toBe(401);
    expect((await client.refresh(refreshToken)).status).toBe(400);
  });

  it('by the wallet ends the application that it names, and no other', async () => {
    const { applications } = oauth.service;
    const [one, other] = [await authorized('premium'), await authorized('premium')];
    const { address } = wallet('premium');
    const [newest] = await applications!.list(address);
    expect(newest).toMatchObject({ kind: 'application', name: 'assistant.example', tier: 'premium' });
    expect(await applications!.revoke(demoWallets(oauth.service).basic.address, newest!.id)).toBe(false);
    expect(await applications!.revoke(address, newest!.id)).toBe(true);
    expect(await applications!.revoke(address, newest!.id)).toBe(false);
    expect((await callMcp(account(), other.accessToken)).status).toBe(401);
    expect((await callMcp(account(), one.accessToken)).status).toBe(200);
    expect((await applications!.list(address)).find(({ lastUsedAt }) => lastUsedAt !== null)).toBeDefined();
  });
});

describe('an authorization request', () => {
  it.each([
    ['without a challenge', { code_challenge: undefined }, 'invalid_request'],
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['for an implicit token', { response_type: 'token' }, 'unsupported_response_type'],
  ])('%s goes back to a client that a wallet has allowed with an error', async (_, changes, error) => {
    const { client } = await authorized();
    const { location } = await client.authorize(changes);
    expect(`${location!.origin}${location!.pathname}`).toBe(REDIRECT_URI);
    const parameters = new URLSearchParams(location!.search || location!.hash.slice(1));
    expect(Object.fromEntries(parameters)).toMatchObject({ error, iss: oauth.url });
  });

  it.each([
    ['a foreign redirect URI', { redirect_uri: 'https://attacker.example/' }, 'invalid_redirect_uri'],
    ['an unknown client', { client_id: 'client-unknown' }, 'invalid_client'],
    ['a client document on a private address', { client_id: 'https://10.0.0.1/client.json' }, 'invalid_client'],
    ['a client document on a host without an address', { client_id: 'https://client.invalid/client.json' }, 'invalid_client'],
  ])('with %s redirects nowhere', async (_, changes, error) => {
    const client = await registered();
    const { status, location, body } = await client.authorize(changes);
    expect({ status, location }).toEqual({ status: 400, location: null });
    expect(body.error).toBe(error);
  });
});

describe('a client metadata document', () => {
  const document = (url: string) => ({ client_id: url, client_name: 'Claims \u202eto be\nClaude', redirect_uris: [REDIRECT_URI] });

  it('identifies a client without registration, by its host', async () => {
    const documents = await serveDocuments((_, url) => ({ body: JSON.stringify(document(url)) }));
    const client = new OAuthTestClient(oauth.url);
    client.clientId = `${documents.url}/client.json`;
    const { location } = await client.authorize();
    const page = await client.send('GET', location!.pathname, { headers: { Accept: 'text/html' } });
    expect(page.body).toContain(`Allow ${new URL(documents.url).host} to read forecasts?`);
    expect(page.body).toContain('It calls itself “Claims to be Claude”, which is not verified.');
    const { location: back } = await client.decide(location!, wallet());
    expect((await client.exchange(back!.searchParams.get('code')!)).status).toBe(200);
    expect(documents.requested).toEqual(['/client.json']);
    await documents.close();
  });

  it.each([
    ['of 10 MB', () => ({ body: ' '.repeat(10_000_000) })],
    ['behind a redirect', () => ({ status: 302, body: '', location: 'https://127.0.0.1:1/' })],
    ['of another client', () => ({ body: JSON.stringify(document('https://other.example/client.json')) })],
    ['with a foreign scheme', (url: string) => ({ body: JSON.stringify({ ...document(url), redirect_uris: ['javascript:alert(1)'] }) })],
    ['with a secret', (url: string) => ({ body: JSON.stringify({ ...document(url), client_secret: 'secret' }) })],
    ['that is not JSON', () => ({ body: '<html>' })],
  ])('%s is refused', async (_, answer) => {
    const documents = await serveDocuments((_path, url) => answer(url));
    const client = new OAuthTestClient(oauth.url);
    client.clientId = `${documents.url}/client.json`;
    const { status, location, body } = await client.authorize();
    expect({ status, location, error: body.error }).toEqual({ status: 400, location: null, error: 'invalid_client' });
    await documents.close();
  });
});

describe('a registration', () => {
  it.each([
    ['without a redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['with plain HTTP elsewhere', { redirect_uris: ['http://assistant.example/'] }, 'invalid_redirect_uri'],
    ['with a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['without codes', { grant_types: ['client_credentials'] }, 'invalid_client_metadata'],
  ])('%s is refused', async (_, metadata, error) => {
    const client = new OAuthTestClient(oauth.url);
    expect(await client.register(metadata)).toMatchObject({ status: 400, body: { error } });
  });

  it('larger than 8 kB is refused', async () => {
    const client = new OAuthTestClient(oauth.url);
    expect((await client.register({ client_name: 'x'.repeat(9_000) })).status).toBe(413);
  });
});

describe('the consent of a wallet', () => {
  it('is accepted from the browser of the request alone, and from its own page', async () => {
    const [client, stranger] = [await registered(), new OAuthTestClient(oauth.url)];
    const { location: consent } = await client.authorize();
    expect((await stranger.decide(consent!, wallet())).status).toBe(404);
    const { json } = await client.sign(consent!, wallet());
    const foreign = { json: { decision: 'allow', ...json }, headers: { 'Sec-Fetch-Site': 'cross-site' } };
    expect((await client.send('POST', consent!.pathname, foreign)).status).toBe(401);
    expect((await client.decide(consent!, wallet())).location!.searchParams.has('code')).toBe(true);
  });

  it('is given by no token, whatever it is of', async () => {
    const { accessToken } = await authorized();
    const client = await registered();
    const { location: consent } = await client.authorize();
    for (const sent of [accessToken, await token('premium')]) {
      const reply = await client.send('POST', consent!.pathname, { json: { decision: 'allow' }, token: sent });
      expect(reply).toMatchObject({ status: 400, body: { code: 'INPUT_INVALID' } });
    }
  });

  it('is for one request of one application: the text of another is not accepted', async () => {
    const [one, other] = [await registered(), await registered()];
    const [first, second] = [(await one.authorize()).location!, (await other.authorize()).location!];
    const { json } = await one.sign(first, wallet());
    const reply = await other.send('POST', second.pathname, { json: { decision: 'allow', ...json } });
    expect(reply).toMatchObject({ status: 401, body: { field: 'message' } });
    const { status } = await one.send('POST', first.pathname, { json: { decision: 'allow', ...json } });
    expect(status).toBe(200);
  });

  it('is refused to a wallet without tokens before it signs', async () => {
    const client = await registered();
    const { location: consent } = await client.authorize();
    const { reply } = await client.sign(consent!, wallet('poor'));
    expect(reply).toMatchObject({ status: 403, body: { code: 'TIER_REQUIRED' } });
  });

  it('is a page that cannot be framed or stored', async () => {
    const client = await registered();
    const { location } = await client.authorize();
    const { headers } = await fetch(location!, { headers: { Accept: 'text/html' } });
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/connect-src 'self';/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});
