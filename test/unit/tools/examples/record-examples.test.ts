import { describe, expect, it } from 'vitest';
import { buildPath, listOperations } from '../../../../src/tools/examples/record-examples.ts';
import { redactValue, truncateLines } from '../../../../src/tools/examples/redact.ts';

describe('recorded examples', () => {
  it('contain no secrets', () => {
    const answer = { token: 'eyJhbGciOi', secret: 'whsec_abc', nested: [{ signature: '0xabcd', url: 'https://9.9.9.9/3f-a1' }] };
    expect(redactValue(answer)).toEqual({
      token: 'redacted.access.token',
      secret: 'redacted-secret-shown-once',
      nested: [{ signature: `0x${'0'.repeat(130)}`, url: 'https://hooks.example.com/oracle' }],
    });
  });

  it('keep the first entry of a list, and some lists whole', () => {
    expect(redactValue({ days: [[1, 2, 3], [4], [5]] })).toEqual({ days: [[1]] });
    expect(redactValue({ Commitment: [1, 2, 3], keys: ['a', 'b', 'c'] })).toEqual({ Commitment: [1, 2, 3], keys: ['a', 'b', 'c'] });
  });

  it('keep everything else', () => {
    expect(redactValue({ a: null, b: 0, c: false, d: '', e: { f: 1.5 } })).toEqual({ a: null, b: 0, c: false, d: '', e: { f: 1.5 } });
    expect(redactValue(null)).toBeNull();
  });

  it('truncate text by lines', () => {
    expect(truncateLines('a\nb\nc', 2)).toBe('a\nb\n...');
    expect(truncateLines('a\nb', 2)).toBe('a\nb');
  });
});

describe('operations', () => {
  const document = {
    paths: {
      '/a/{id}': {
        get: { operationId: 'getA', 'x-access': 'basic', responses: { 200: { content: { 'application/json': {} } }, 404: {} } },
      },
      '/admin': { get: { operationId: 'getAdmin', 'x-access': 'admin', responses: { 200: {} } } },
    },
  } as const;

  it('are listed from the document', () => {
    expect(listOperations(document)).toEqual([
      { method: 'get', path: '/a/{id}', operationId: 'getA', 'x-access': 'basic', mediaTypes: ['application/json'] },
      { method: 'get', path: '/admin', operationId: 'getAdmin', 'x-access': 'admin', mediaTypes: [] },
    ]);
  });

  it('have paths with all parameters, or throw', () => {
    const operation = { path: '/a/{id}', operationId: 'getA' };
    expect(buildPath(operation, { params: { id: 'x/y' }, query: { limit: '2' } })).toBe('/a/x%2Fy?limit=2');
    expect(() => buildPath(operation, {})).toThrow('getA: no sample of "id"');
  });
});
