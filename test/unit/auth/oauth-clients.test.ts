import { describe, expect, it } from 'vitest';
import {
  ClientMetadataError,
  findDocumentHost,
  findMcpResource,
  formatClientName,
  getRedirectHost,
  isOwnedRedirect,
  parseClientMetadata,
  requireOneDomain,
  toGrantedScope,
  toScopeTier,
} from '../../../src/auth/oauth-clients.ts';
import { toKnownScope } from '../../../src/http/routes/oauth.ts';
import { formatChallenge } from '../../../src/mcp/server.ts';

const parse = (changes: object) => parseClientMetadata({ redirect_uris: ['https://assistant.example/callback'], ...changes });

describe('the metadata of a client', () => {
  it('keeps what is used, and defaults to a public client with codes and refresh tokens', () => {
    expect(
      parse({ logo_uri: 'https://assistant.example/logo.png', scope: 'everything', token_endpoint_auth_method: 'client_secret_post' }),
    ).toEqual({
      redirect_uris: ['https://assistant.example/callback'],
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('is of a native client where a redirect URI is of this machine or of an application', () => {
    for (const uri of ['http://127.0.0.1:1234/callback', 'http://localhost/callback', 'cursor://anysphere/callback']) {
      expect(parse({ redirect_uris: ['https://assistant.example/', uri] }).application_type).toBe('native');
    }
  });

  it('keeps keys for signed assertions only', () => {
    const keys = { jwks_uri: 'https://assistant.example/jwks.json' };
    expect(parse({ ...keys, token_endpoint_auth_method: 'private_key_jwt' })).toMatchObject({
      ...keys,
      token_endpoint_auth_method: 'private_key_jwt',
    });
    expect(parse(keys)).not.toHaveProperty('jwks_uri');
    expect(parse({ token_endpoint_auth_method: 'private_key_jwt' }).token_endpoint_auth_method).toBe('none');
  });

  it('has a name of one line, without characters that reorder or hide text', () => {
    expect(parse({ client_name: ' Cla\u202eude\n\u200bby nobody ' }).client_name).toBe('Cla ude by nobody');
    expect(parse({ client_name: '😀'.repeat(500) }).client_name).toBe('😀'.repeat(80));
  });

  it.each([
    [[]],
    [['https://assistant.example/#fragment']],
    [['https://user:password@assistant.example/']],
    [['https://localhost/callback']],
    [['http://assistant.example/callback']],
    [['javascript:alert(1)']],
    [['data:text/html,x']],
    [['no URL']],
    [[`https://assistant.example/${'x'.repeat(600)}`]],
    [Array.from({ length: 21 }, (_, index) => `https://assistant.example/${index}`)],
  ])('is refused with the redirect URIs %j', (redirect_uris) => {
    expect(() => parse({ redirect_uris })).toThrow(ClientMetadataError);
  });
});

describe('optional members', () => {
  it.each(['client_name', 'grant_types', 'token_endpoint_auth_method', 'jwks', 'jwks_uri', 'logo_uri'])(
    '%s: null and an empty value are the same as its absence',
    (name) => {
      for (const empty of [null, '', [], {}]) expect(parse({ [name]: empty }), JSON.stringify(empty)).toEqual(parse({}));
    },
  );

  it('are never stored as undefined, which the database turns into null', () => {
    const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }] };
    expect(Object.values(parse({ token_endpoint_auth_method: 'private_key_jwt', jwks }))).not.toContain(undefined);
    expect(() => parse({ token_endpoint_auth_method: 'private_key_jwt', jwks, jwks_uri: 'https://assistant.example/jwks' })).toThrow(
      'must not both',
    );
  });
});

describe('the hosts of a registration', () => {
  it('are of one registrable domain', () => {
    const check = (...redirect_uris: string[]) => requireOneDomain({ redirect_uris });
    check('https://a.assistant.example/cb', 'https://b.assistant.example/cb', 'http://127.0.0.1/', 'com.example.app:/cb');
    expect(() => check('https://claude.ai/cb', 'https://evil.example/cb')).toThrow(ClientMetadataError);
    expect(() => check('https://one.github.io/cb', 'https://two.github.io/cb')).toThrow(ClientMetadataError);
    expect(() => check('https://192.0.2.1/cb', 'https://192.0.2.2/cb')).toThrow(ClientMetadataError);
  });
});

describe('the name of a client', () => {
  it('is the host of its document, or of the redirect URI in use, or its own claim where nothing names it', () => {
    const name = (clientId: string, redirectUri: string, claimedName?: string) => formatClientName({ clientId, redirectUri, claimedName });
    expect(name('https://claude.ai/client.json', 'http://127.0.0.1/', 'Other')).toBe('claude.ai');
    expect(name('client-1', 'https://assistant.example/callback', 'claude.ai')).toBe('assistant.example');
    expect(name('client-1', 'http://localhost:4000/', 'Inspector')).toBe('“Inspector”, a program on this computer');
    expect(name('client-1', 'http://[::1]:4000/')).toBe('a program on this computer');
    expect(name('client-1', 'cursor://anysphere/callback')).toBe('an application that opens cursor: links');
  });

  it('has the host of its document alone as one that is checked', () => {
    expect(findDocumentHost('https://claude.ai/oauth/client.json')).toBe('claude.ai');
    expect(findDocumentHost('client-1')).toBeNull();
  });
});

describe('a redirect URI', () => {
  it('is owned where its scheme names a domain, or it has one', () => {
    for (const uri of ['https://claude.ai/cb', 'http://127.0.0.1:1/cb', 'com.example.app:/cb']) expect(isOwnedRedirect(uri)).toBe(true);
    expect(isOwnedRedirect('cursor://anysphere/callback')).toBe(false);
  });

  it('is shown by the host that gets the code', () => {
    expect(getRedirectHost('http://127.0.0.1:4000/')).toBe('this computer');
    expect(getRedirectHost('cursor://anysphere/callback')).toBe('cursor:');
  });
});
describe('scopes', () => {
  it('grants at most what was asked for, and at most the tier of the wallet', () => {
    expect(toGrantedScope('forecast:premium', 'premium')).toBe('forecast:basic forecast:premium');
    expect(toGrantedScope('forecast:premium', 'basic')).toBe('forecast:basic');
    expect(toGrantedScope('forecast:basic', 'premium')).toBe('forecast:basic');
    expect(toGrantedScope('offline_access', 'premium')).toBe('');
    expect(toScopeTier('forecast:basic forecast:premium')).toBe('premium');
    expect(toScopeTier('forecast:premiums')).toBeNull();
  });

  it('ignores scopes of other services, and asks for Basic where none is of this one', () => {
    expect(toKnownScope('openid forecast:premium profile offline_access forecast:premium')).toBe('forecast:premium offline_access');
    expect(toKnownScope('openid')).toBe('forecast:basic');
    expect(toKnownScope(undefined)).toBe('forecast:basic');
  });

  it('finds the resource that a client means, below a base path too', () => {
    expect(findMcpResource('https://host.example/oracle/', 'https://host.example/oracle/mcp')).toBe('https://host.example/oracle/mcp');
    expect(findMcpResource('https://host.example', 'https://host.example/mcp/account/')).toBe('https://host.example/mcp/account');
    expect(findMcpResource('https://host.example', 'https://host.example/api')).toBeNull();
  });

  it('names the metadata of the resource in a challenge, and an error only for a token that was sent', () => {
    const challenge = { publicUrl: 'https://host.example/oracle', path: '/mcp/account', scope: 'forecast:basic' } as const;
    expect(formatChallenge(challenge)).toBe(
      'Bearer realm="oracle", resource_metadata="https://host.example/oracle/.well-known/oauth-protected-resource/mcp/account", scope="forecast:basic"',
    );
    expect(formatChallenge({ ...challenge, error: 'invalid_token' })).toContain(
      'realm="oracle", error="invalid_token", resource_metadata=',
    );
  });
});
