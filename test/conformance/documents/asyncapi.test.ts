import { expect, it } from 'vitest';
import { buildAsyncApiDocument } from '../../../src/events/asyncapi.ts';
import { HANDSHAKE_QUERY } from '../../../src/http/routes/websocket.ts';
import { asyncApiDiagnostics } from './asyncapi-diagnostics.ts';

const OPTIONS = { title: 'Oracle', description: 'Forecasts.', version: '1.0.0', chainId: 8453, handshake: HANDSHAKE_QUERY };
const json = (publicUrl: string) => JSON.stringify(buildAsyncApiDocument({ ...OPTIONS, publicUrl }));

it.each(['https://oracle.test/base', 'http://127.0.0.1:3000'])('has no diagnostics in the official parser, at %s', async (publicUrl) => {
  expect(await asyncApiDiagnostics(json(publicUrl))).toEqual([]);
});

it('has diagnostics there with an unknown action', async () => {
  const broken = json('http://127.0.0.1:3000').replace('"action":"send"', '"action":"shout"');
  expect(await asyncApiDiagnostics(broken)).not.toEqual([]);
});
