import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveDocuments } from '../../../support/auth/client-document.ts';
import { demoWallets } from '../../../support/auth/login.ts';
import { OAuthTestClient } from '../../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../../support/auth/oauth-service.ts';

let oauth: OAuthService;
beforeAll(async () => {
  oauth = await serveOAuthService(0, { PUSH_LOCAL_TARGETS: 'allow' });
});
afterAll(() => oauth?.close());

const basic = () => demoWallets(oauth.service).basic;

async function registered(metadata: Record<string, unknown> = {}): Promise<OAuthTestClient> {
  const client = new OAuthTestClient(oauth.url);
  const { status, body } = await client.register(metadata);
  expect(status, JSON.stringify(body)).toBe(201);
  return client;
}

/** The text of the consent page. */
async function readConsent(client: OAuthTestClient, redirectUri: string): Promise<{ consent: URL; page: string }> {
  const { location } = await client.authorize({ redirect_uri: redirectUri });
  const { body } = await client.send('GET', location!.pathname, { headers: { Accept: 'text/html' } });
  return { consent: location!, page: body.replaceAll(/<[^>]+>/g, ' ') };
}

const names = async () => (await oauth.service.applications!.list(basic().address)).map(({ name }) => name);

describe('a client is named by who gets the code', () => {
  it('also where it has registered another host first: page, signed text and list of access name the one in use', async () => {
    const [first, second] = ['https://www.assistant.example/cb', 'https://other.assistant.example/cb'];
    const client = await registered({ client_name: 'claude.ai', redirect_uris: [first, second] });
    const { consent, page } = await readConsent(client, second);
    expect(page).toContain('Allow other.assistant.example to read forecasts?');
    expect(page).not.toMatch(/This service has checked/);
    expect((await client.sign(consent, basic())).json.message).toContain('Allow other.assistant.example to read forecasts');
    await client.decide(consent, basic());
    expect((await names())[0]).toBe('other.assistant.example');
  });

  it('as a program on this computer where that listens', async () => {
    const client = await registered({ client_name: 'Inspector', redirect_uris: ['http://127.0.0.1:6274/oauth/callback'] });
    const { page } = await readConsent(client, 'http://127.0.0.1:6274/oauth/callback');
    expect(page).toContain('Allow “Inspector”, a program on this computer to read forecasts?');
  });

  it('hosts of two owners are not one client', async () => {
    const client = new OAuthTestClient(oauth.url);
    const redirect_uris = ['https://claude.ai/api/mcp/auth_callback', 'https://evil.example/cb'];
    expect(await client.register({ redirect_uris })).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
  });
});

/** As the clients send them. */
const REGISTRATIONS: Record<string, Record<string, unknown>> = {
  Cursor: {
    client_name: 'Cursor',
    redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  'VS Code': {
    client_name: 'Visual Studio Code',
    client_uri: 'https://code.visualstudio.com',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    redirect_uris: ['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  },
  Claude: {
    client_name: 'Claude',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'forecast:basic forecast:premium offline_access',
    redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
  },
  ChatGPT: {
    client_name: 'ChatGPT',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  'mcp-remote': {
    redirect_uris: ['http://localhost:3334/oauth/callback'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    client_name: 'MCP CLI Proxy',
    client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
    software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
    software_version: '0.1.37',
  },
  'MCP Inspector': {
    redirect_uris: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    client_name: 'MCP Inspector',
    client_uri: 'https://github.com/modelcontextprotocol/inspector',
    scope: '',
  },
};

describe('the registrations of known clients', () => {
  it.each(Object.entries(REGISTRATIONS))('%s connects', async (_, metadata) => {
    const client = await registered(metadata);
    for (const redirect_uri of metadata.redirect_uris as string[]) {
      const { location, body } = await client.authorize({ redirect_uri });
      expect(location?.pathname, JSON.stringify(body)).toMatch(/^\/oauth\/consent\//);
      const { location: back } = await client.decide(location!, basic());
      expect(back!.href.startsWith(redirect_uri)).toBe(true);
      const { status } = await client.exchange(back!.searchParams.get('code')!, { redirect_uri });
      expect(status).toBe(200);
    }
  });
});

describe('a client that signs for itself', () => {
  async function assertionOf(key: Parameters<SignJWT['sign']>[0], clientId: string) {
    return new SignJWT({ iss: clientId, sub: clientId, aud: oauth.url, jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(key);
  }

  it.each(['jwks', 'jwks_uri'] as const)('registers by %s, and connects and refreshes with its key alone', async (by) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] };
    const keys = await serveDocuments(() => ({ body: JSON.stringify(jwks) }));
    const named = by === 'jwks' ? { jwks } : { jwks_uri: `${keys.url}/jwks.json`, jwks: null };
    const client = await registered({ token_endpoint_auth_method: 'private_key_jwt', ...named });
    const assertion = async () => ({
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await assertionOf(privateKey, client.clientId),
    });
    const { status, body } = await client.exchange(await client.getCode(basic()), await assertion());
    expect(status, JSON.stringify(body)).toBe(200);
    const refreshed = await client.refresh(body.refresh_token, await assertion());
    expect(refreshed.status).toBe(200);
    // Repeated without the key, the answer is not for this caller.
    expect((await client.refresh(body.refresh_token)).status).toBe(401);
    expect(await client.refresh(body.refresh_token, await assertion())).toMatchObject({ status: 200, body: refreshed.body });
    await keys.close();
  });

  it('is refused at its registration where its keys would be refused later', async () => {
    const client = new OAuthTestClient(oauth.url);
    const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'private' }] };
    const { status, body } = await client.register({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_client_metadata' });
  });
});

describe('an error of an authorization', () => {
  const failing = { code_challenge: undefined };

  it('stays here for a client that no wallet has allowed: the service is no open redirector', async () => {
    const client = await registered();
    for (const changes of [failing, { ...failing, response_mode: 'form_post' }, { response_type: 'token' }]) {
      const { status, location, body } = await client.authorize(changes);
      expect([status, location]).toEqual([400, null]);
      expect(JSON.stringify(body)).not.toContain('assistant.example');
    }
    const page = await client.send(
      'GET',
      `/oauth/authorize?client_id=${client.clientId}&response_type=code&redirect_uri=https%3A%2F%2Fassistant.example%2Fcallback`,
      {
        headers: { Accept: 'text/html' },
      },
    );
    expect(page).toMatchObject({ status: 400, location: null });
    expect(page.body).toContain('The application cannot be connected');
  });

  it('goes back to one that a wallet has allowed, or that has a metadata document', async () => {
    const client = await registered();
    await client.getCode(basic());
    expect((await client.authorize(failing)).location?.searchParams.get('error')).toBe('invalid_request');
    const documents = await serveDocuments((_, url) => ({
      body: JSON.stringify({ client_id: url, redirect_uris: ['https://assistant.example/callback'] }),
    }));
    const other = new OAuthTestClient(oauth.url);
    other.clientId = `${documents.url}/client.json`;
    expect((await other.authorize(failing)).location?.searchParams.get('error')).toBe('invalid_request');
    await documents.close();
  });

  it('never opens an application by a scheme that anyone could claim', async () => {
    const redirect_uri = 'cursor://anysphere.cursor-mcp/oauth/callback';
    const client = await registered({ redirect_uris: [redirect_uri] });
    await client.getCode(basic(), { redirect_uri });
    expect(await client.authorize({ redirect_uri, ...failing })).toMatchObject({ status: 400, location: null });
    const owned = 'com.example.app:/callback';
    const other = await registered({ redirect_uris: [owned] });
    await other.getCode(basic(), { redirect_uri: owned });
    expect((await other.authorize({ redirect_uri: owned, ...failing })).location?.protocol).toBe('com.example.app:');
  });
});

it('paths are those of the router, however they are spelt', async () => {
  const { status } = await fetch(`${oauth.url}/OAuth/Token/`, { method: 'POST' });
  expect(status).toBe(400);
  for (const path of ['/mcp/account/', '/mcp/Account', '/MCP/ACCOUNT/']) {
    const reply = await fetch(`${oauth.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    expect(reply.status, path).toBe(401);
    expect(reply.headers.get('www-authenticate'), path).toContain('/.well-known/oauth-protected-resource/mcp/account"');
  }
});
