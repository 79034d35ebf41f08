import { expect, it } from 'vitest';
import { completeSdkError } from '../../../../../src/transports/mcp/errors/sdk-errors.ts';

it('tells what the SDK says of itself with a code of ours, and keeps its code and data', () => {
  const error = { code: -32_022, message: 'Unsupported protocol version: 9', data: { supported: ['2026-07-28'], requested: '9' } };
  const told = completeSdkError(error);
  expect(told.code).toBe(error.code);
  expect(told.data).toMatchObject({ ...error.data, code: 'INPUT_INVALID', field: 'protocolVersion' });
  expect(completeSdkError(told)).toEqual(told);
});

it.each([
  [{ code: -32_603, message: 'Internal error' }, -32_603, 'INTERNAL'],
  [{ code: -32_603, message: '[{"code":"invalid_type","path":["params","x"]}]' }, -32_602, 'INPUT_INVALID'],
  [{ code: -32_602, message: 'y'.repeat(5_000) }, -32_602, 'INPUT_INVALID'],
])('tells %j in words that fit a line', (error, code, ours) => {
  const told = completeSdkError(error);
  expect(told).toMatchObject({ code, data: { code: ours, suggestedAction: expect.any(String) } });
  expect(told.message).not.toContain('path');
  expect(told.message.length).toBeLessThan(400);
});

it.each([
  [{ code: -32_602, message: 'There is no such resource. Read another.', data: { uri: 'oracle://x' } }],
  [{ code: -32_602, message: 'No. Do that.', data: { code: 'INPUT_INVALID', suggestedAction: 'Do that.' } }],
  [{ code: -32_042, message: 'A page is needed', data: { elicitations: [] } }],
])('leaves alone what says what to do already, or what it does not know: %j', (error) => {
  expect(completeSdkError(error)).toEqual(error);
});
