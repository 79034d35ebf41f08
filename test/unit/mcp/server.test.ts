import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { isOracleError } from '../../../src/errors.ts';
import { createOriginCheck } from '../../../src/mcp/server.ts';

const check = createOriginCheck({
  publicUrl: 'https://oracle.example.org/base/',
  allowedOrigins: ['moz-extension://*'],
  allowLoopback: false,
});

function verdict(names: { host: string | undefined; origin: string | undefined }): string {
  try {
    check(names);
    return 'fine';
  } catch (error) {
    return isOracleError(error, 'ORIGIN_REFUSED') ? error.field! : 'something else';
  }
}

describe('the origin check', () => {
  it.each([
    [{ host: 'oracle.example.org', origin: undefined }, 'fine'],
    [{ host: 'ORACLE.example.org:8443', origin: '' }, 'fine'],
    [{ host: 'oracle.example.org', origin: 'https://oracle.example.org' }, 'fine'],
    [{ host: 'oracle.example.org', origin: 'moz-extension://0a1b' }, 'fine'],
    [{ host: undefined, origin: undefined }, 'Host'],
    [{ host: '', origin: undefined }, 'Host'],
    [{ host: 'not a host', origin: undefined }, 'Host'],
    [{ host: '127.0.0.1:3000', origin: undefined }, 'Host'],
    [{ host: 'sub.oracle.example.org', origin: undefined }, 'Host'],
    [{ host: 'oracle.example.org', origin: 'null' }, 'Origin'],
    [{ host: 'oracle.example.org', origin: 'https://oracle.example.org.evil.example' }, 'Origin'],
    [{ host: 'oracle.example.org', origin: 'https://evil.example/?oracle.example.org' }, 'Origin'],
    [{ host: 'oracle.example.org', origin: 'chrome-extension://0a1b' }, 'Origin'],
  ])('of %o returns %s', (names, expected) => {
    expect(verdict(names)).toBe(expected);
  });

  it('accepts no foreign host, whatever is sent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.string()), (host) => {
        fc.pre(!/^oracle\.example\.org$/i.test(host));
        expect(verdict({ host, origin: undefined })).toBe('Host');
        expect(verdict({ host: 'oracle.example.org', origin: `https://${host}` })).toBe('Origin');
      }),
    );
  });
});

describe('the setting MCP_ALLOWED_ORIGINS', () => {
  const read = (text: string) => loadConfig({ MCP_ALLOWED_ORIGINS: text }).MCP_ALLOWED_ORIGINS;

  it('accepts host names and all extensions of a browser', () => {
    expect(loadConfig({}).MCP_ALLOWED_ORIGINS).toBeUndefined();
    expect(read('app.example.org')).toEqual(['app.example.org']);
    expect(read('app.example.org,localhost,[::1],moz-extension://*')).toEqual([
      'app.example.org',
      'localhost',
      '[::1]',
      'moz-extension://*',
    ]);
  });

  it.each([
    'https://app.example.org',
    'app.example.org:443',
    '*',
    'https://*',
    'App.example.org',
    'a.example,',
    ',a.example',
    'a b',
    '*.example.org',
  ])('rejects %s', (text) => {
    expect(() => read(text)).toThrow(/MCP_ALLOWED_ORIGINS.*host names/);
  });

  it('is parsed quickly for any input', () => {
    expect(() => read(`${'a-'.repeat(50_000)}!`)).toThrow(/host names/);
  });
});
