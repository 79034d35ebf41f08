import { InMemoryTransport, type JSONRPCErrorResponse, type JSONRPCMessage } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OracleError } from '../../../../../src/platform/errors.ts';
import { MCP_METHODS } from '../../../../../src/transports/mcp/errors/sdk-errors.ts';
import { buildMcpServer } from '../../../../../src/transports/mcp/server.ts';

/** A server of nothing, and what it answers to one request. */
async function openServer() {
  const nothing = () => Promise.reject(new OracleError('NOT_FOUND', 'There is nothing'));
  const backend = { run: nothing, publicSignal: nothing, methodology: '# Methodology' };
  const server = buildMcpServer(backend, { version: '1.0.0', publicUrl: 'http://127.0.0.1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const ask = (method: string, params?: Record<string, unknown>) =>
    new Promise<JSONRPCMessage>((answered) => {
      near.onmessage = answered;
      void near.send({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) });
    });
  return { ask, close: () => server.close() };
}

it('tells every error with a code of ours and what to do, whatever the parameters, and none as a fault of the server', async () => {
  const { ask, close } = await openServer();
  const names = ['name', 'uri', 'arguments', 'cursor', 'ref', 'argument', 'protocolVersion', 'capabilities', 'clientInfo', 'type', 'value'];
  const bag = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 2 }));
  const params = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), bag, fc.jsonValue({ maxDepth: 2 })));
  const method = fc.oneof(fc.constantFrom(...MCP_METHODS.all, ...MCP_METHODS.older), fc.string());
  await fc.assert(
    fc.asyncProperty(method, fc.option(params, { nil: undefined }), async (name, sent) => {
      const answer = await ask(name, sent);
      if (!('error' in answer)) return;
      const { code, message, data } = (answer as JSONRPCErrorResponse).error as { code: number; message: string; data: object };
      expect(code, message).not.toBe(-32_603);
      if (!('uri' in data))
        expect(data).toMatchObject({ code: expect.stringMatching(/^(INPUT_INVALID|NOT_FOUND)$/), suggestedAction: expect.any(String) });
      expect(message.length).toBeLessThan(1_000);
      expect(message).not.toContain('"path"');
    }),
    { numRuns: 400 },
  );
  await close();
});

it.each([
  ['tools/call', undefined, 'name', 'predict_btc_direction'],
  ['tools/call', { name: 5 }, 'name', 'predict_btc_direction'],
  ['tools/call', { name: 'get_track_record', arguments: [] }, 'arguments', 'Correct "arguments"'],
  ['resources/read', {}, 'uri', 'resources/list'],
  ['prompts/get', {}, 'name', 'prompts/list'],
  ['prompts/get', { name: 'daily_briefing', arguments: { horizon: 7 } }, 'arguments.horizon', 'Correct "arguments.horizon"'],
  ['completion/complete', { argument: { name: 'a', value: '' } }, 'ref', 'prompts/list'],
  ['completion/complete', { ref: { type: 'moon' }, argument: { name: 'a', value: '' } }, 'ref.type', 'Correct "ref.type"'],
  ['initialize', {}, 'protocolVersion', 'Correct "protocolVersion"'],
  [
    'initialize',
    { protocolVersion: '1', capabilities: { roots: 5 }, clientInfo: { name: 'a', version: '1' } },
    'params',
    'protocol describes',
  ],
] as [string, Record<string, unknown> | undefined, string, string][])('%s with %j names %s', async (method, params, field, advice) => {
  const { ask, close } = await openServer();
  expect(await ask(method, params)).toMatchObject({
    id: 1,
    error: { code: -32_602, message: expect.stringContaining(advice), data: { code: 'INPUT_INVALID', field, retryable: false } },
  });
  await close();
});
