import { expect, it } from 'vitest';
import { findMcpResource, formatChallenge, toGrantedScope, toKnownScope, toScopeTier } from '../../../../src/auth/oauth-clients.ts';

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
  expect(formatChallenge({ ...challenge, error: 'invalid_token' })).toContain('realm="oracle", error="invalid_token", resource_metadata=');
});
