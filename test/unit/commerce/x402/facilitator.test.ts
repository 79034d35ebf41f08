import { afterEach, describe, expect, it } from 'vitest';
import {
  callFacilitator,
  createCdpAuthorization,
  type FacilitatorEndpoint,
  requireFacilitatorSupport,
} from '../../../../src/commerce/x402/facilitator.ts';
import { type CdpServer, createEd25519Key, createP256Key, startCdpServer } from '../../../support/commerce/cdp-server.ts';

const SUPPORTED = { kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }] };
const NOW = new Date('2026-11-27T12:00:00Z');

let server: CdpServer | undefined;
afterEach(() => server?.close());

const start = async (key: ReturnType<typeof createEd25519Key> | null) => {
  server = await startCdpServer(key, () => NOW);
  server.answers['/platform/v2/x402/supported'] = SUPPORTED;
  return server;
};
const signedBy = ({ id, secret }: { id: string; secret: string }, now = NOW) => createCdpAuthorization({ id, secret, now: () => now });

describe.each([
  ['Ed25519', createEd25519Key],
  ['P-256', createP256Key],
])('a request signed with a %s key', (_, createKey) => {
  it('is accepted with a token of its own method, host and path', async () => {
    const key = createKey();
    const { url, verdicts, nonces } = await start(key);
    const endpoint = { url: `${url}/`, authorize: signedBy(key) };
    await requireFacilitatorSupport(endpoint, 8453);
    await callFacilitator(endpoint, { path: '/settle', body: { x402Version: 2 }, timeoutMs: 5_000 });
    expect(verdicts).toEqual([null, null, null]);
    expect(new Set(nonces).size).toBe(3);
  });

  it.each<[string, (endpoint: FacilitatorEndpoint) => FacilitatorEndpoint['authorize'], RegExp]>([
    [
      'another host',
      ({ authorize }) =>
        (method, url) =>
          authorize!(method, url.replace('127.0.0.1', '127.0.0.2')),
      /signed for POST 127\.0\.0\.2/,
    ],
    [
      'another path',
      ({ authorize }) =>
        (method, url) =>
          authorize!(method, url.replace('verify', 'settle')),
      /signed for .*settle/,
    ],
    [
      'another method',
      ({ authorize }) =>
        (_method, url) =>
          authorize!('GET', url),
      /signed for GET/,
    ],
  ])('is refused for %s', async (_case, change, reason) => {
    const key = createKey();
    const { url, verdicts } = await start(key);
    const endpoint = { url, authorize: signedBy(key) };
    const wrong = { url, authorize: change(endpoint) };
    await expect(callFacilitator(wrong, { path: '/verify', body: {}, timeoutMs: 5_000 })).rejects.toThrow(
      'refuses the key of CDP_API_KEY_ID',
    );
    expect(verdicts).toEqual([expect.stringMatching(reason)]);
  });

  it('is refused once it has expired', async () => {
    const key = createKey();
    const { url, verdicts } = await start(key);
    const endpoint = { url, authorize: signedBy(key, new Date(NOW.getTime() - 130_000)) };
    await expect(callFacilitator(endpoint, { path: '/verify', body: {}, timeoutMs: 5_000 })).rejects.toThrow('status 401');
    expect(verdicts).toEqual([expect.stringContaining('exp')]);
  });
});

describe('a facilitator that needs a key', () => {
  it('is reported with the settings to set when none is set', async () => {
    const { url } = await start(createEd25519Key());
    await expect(requireFacilitatorSupport({ url }, 8453)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'CDP_API_KEY_ID',
      message: expect.stringContaining('asks for a key: set CDP_API_KEY_ID and CDP_API_KEY_SECRET (status 401)'),
    });
  });

  it('is reported when it refuses the key, although its /supported is public', async () => {
    const key = createEd25519Key();
    const { url } = await start(createEd25519Key());
    const authorize: FacilitatorEndpoint['authorize'] = async (method, to) =>
      method === 'GET' ? signedBy(server!.key!)(method, to) : signedBy(key)(method, to);
    await expect(requireFacilitatorSupport({ url, authorize }, 8453)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      field: 'CDP_API_KEY_ID',
      message: expect.stringContaining('refuses the key of CDP_API_KEY_ID'),
    });
  });

  it('is reported when it does not settle on the chain', async () => {
    const key = createEd25519Key();
    const { url } = await start(key);
    await expect(requireFacilitatorSupport({ url, authorize: signedBy(key) }, 10)).rejects.toMatchObject({ field: 'X402_FACILITATOR_URL' });
  });
});
