import { expect, it } from 'vitest';
import { findCrossSiteError } from '../../../src/http/guard.ts';

const request = (origin: string | undefined, host: string | undefined) =>
  ({ get: (name: string) => (name === 'Origin' ? origin : undefined), host }) as Parameters<typeof findCrossSiteError>[0];

it.each([
  ['null', undefined],
  ['null', 'oracle.example'],
  ['https://other.example', undefined],
])('rejects the origin %s for the host %s', (origin, host) => {
  expect(findCrossSiteError(request(origin, host))).toMatchObject({ code: 'UNAUTHENTICATED', field: 'Origin' });
});

it.each([
  ['https://oracle.example', 'oracle.example'],
  [undefined, undefined],
])('accepts the origin %s for the host %s', (origin, host) => {
  expect(findCrossSiteError(request(origin, host))).toBeNull();
});
