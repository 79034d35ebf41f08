import { describe, expect, it } from 'vitest';
import {
  ClientMetadataError,
  formatClientName,
  getClientHost,
  getRedirectHost,
  parseClientMetadata,
} from '../../../../src/auth/oauth/clients/client-metadata.ts';

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

describe('the name of a client', () => {
  it('is its host, or its own claim where nothing proves one', () => {
    const name = (clientId: string, redirectUri: string, claimedName?: string) =>
      formatClientName({ clientId, redirectUris: [redirectUri], claimedName });
    expect(name('https://claude.ai/client.json', 'http://127.0.0.1/', 'Other')).toBe('claude.ai');
    expect(name('client-1', 'https://assistant.example/callback', 'claude.ai')).toBe('assistant.example');
    expect(name('client-1', 'http://localhost:4000/', 'Inspector')).toBe('“Inspector” on this device');
    expect(name('client-1', 'cursor://anysphere/callback')).toBe('an application on this device');
  });
});

describe('the host of a client', () => {
  it('is that of its client id, or of its redirect URI', () => {
    expect(getClientHost('https://claude.ai/oauth/client.json', [])).toBe('claude.ai');
    expect(getClientHost('client-1', ['https://assistant.example/callback'])).toBe('assistant.example');
    expect(getRedirectHost('http://127.0.0.1:4000/')).toBe('this device');
    expect(getRedirectHost('cursor://anysphere/callback')).toBe('cursor:');
  });
});
