import { parseJSONRPCMessage } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findMessageFault } from '../../../../../src/transports/mcp/validation/json-rpc-message.ts';

const GOOD = { jsonrpc: '2.0', id: 1, method: 'ping' };

it.each([
  [GOOD],
  [{ jsonrpc: '2.0', method: 'ping' }],
  [{ ...GOOD, params: { a: [1] } }],
  [{ jsonrpc: '2.0', id: 'a', result: {} }],
  [[GOOD, { ...GOOD, id: 2 }]],
])('finds nothing wrong with %j', (value) => {
  expect(findMessageFault(value)).toBeUndefined();
});

it.each([
  [null, 'body'],
  ['ping', 'body'],
  [{}, 'body'],
  [{ ...GOOD, jsonrpc: '1.0' }, 'jsonrpc'],
  [{ ...GOOD, id: null }, 'id'],
  [{ ...GOOD, id: 1.5 }, 'id'],
  [{ jsonrpc: '2.0', id: 1 }, 'method'],
  [{ ...GOOD, params: null }, 'params'],
  [{ ...GOOD, params: { _meta: 5 } }, 'params._meta'],
  [{ ...GOOD, params: { _meta: { progressToken: {} } } }, 'params._meta'],
  [{ ...GOOD, ['x'.repeat(5_000)]: 1 }, 'x'.repeat(100)],
  [[], 'batch'],
  [[GOOD, 5], 'batch.1'],
  [[GOOD, { ...GOOD, id: [] }], 'batch.1.id'],
])('names what is wrong with %j', (value, field) => {
  expect(findMessageFault(value)).toMatchObject({ code: 'INPUT_INVALID', field, suggestedAction: expect.stringMatching(/\.$/) });
});

it('finds fault with what the SDK does not take, and with nothing else', () => {
  const member = <T>(good: fc.Arbitrary<T>) => fc.option(fc.oneof(good, fc.jsonValue()), { nil: undefined });
  const message = fc.record({
    jsonrpc: member(fc.constant('2.0')),
    id: member(fc.nat()),
    method: member(fc.string()),
    params: member(fc.dictionary(fc.string(), fc.jsonValue())),
  });
  const isTaken = (value: unknown) => {
    try {
      return parseJSONRPCMessage(value) !== undefined;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.oneof(message, fc.jsonValue()), (sent) => {
      const value: unknown = JSON.parse(JSON.stringify(sent));
      if (!Array.isArray(value)) expect(findMessageFault(value) === undefined).toBe(isTaken(value));
    }),
  );
});
