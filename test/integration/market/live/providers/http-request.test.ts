import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Provider } from '../../../../../src/market/live/provider.ts';
import { createProviders, parseProviderUrls } from '../../../../../src/market/live/providers.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type Answers, type Fault, SKEW_MS, STALE_BY_MS, startProviderHost } from '../../../../support/market/provider-host.ts';
import { answerInSequence, answerOk, answerWithStatus, createGuardedProviders, FAST_TIMING } from './guarded-providers.ts';

const REQUEST = { path: '/0/public/OHLC', query: { pair: 'XBT/USD', since: 5 } };

/** FRED on a server that answers with a stream, piece by piece. */
async function streaming(pieces: () => Iterable<Buffer>): Promise<Provider> {
  const server = createServer((_, response) => void Readable.from(pieces()).pipe(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const urls = parseProviderUrls(`fred=http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return createProviders({ urls, log: createLog({ level: 'silent', secrets: [] }), timing: FAST_TIMING }).fred;
}

describe('a request', () => {
  it('is sent to the path with its query and returns JSON with both clocks', async () => {
    const { host, kraken } = await createGuardedProviders(({ path, query, method }) => ({
      body: { path, pair: query.get('pair'), method },
    }));
    const answer = await kraken.request(REQUEST);
    expect(answer.body).toEqual({ path: '/0/public/OHLC', pair: 'XBT/USD', method: 'GET' });
    expect(Math.abs(answer.receivedAtMs - (answer.providerAtMs ?? 0))).toBeLessThan(5_000);
    expect(host.requests('kraken')).toHaveLength(1);
    expect(kraken.baseUrl).toBe(`${host.url}/kraken`);
  });

  it('posts a JSON body and returns text', async () => {
    const { host, fred } = await createGuardedProviders(({ body }) => ({ body: `observation_date,${(body as { id: string }).id}\n` }));
    const answer = await fred.request({ path: '/csv', method: 'POST', body: { id: 'DFF' }, format: 'text' });
    expect(answer.body).toBe('observation_date,DFF\n');
    expect(host.requests('fred')[0]).toMatchObject({ method: 'POST', body: { id: 'DFF' } });
  });

  it('decodes text that is split within characters', async () => {
    // Three bytes each: pieces of a power of two bytes cut through most of those at their ends.
    const body = '€'.repeat(300_000);
    const { fred } = await createGuardedProviders(() => ({ body }));
    expect((await fred.request({ path: '/page', format: 'text' })).body === body).toBe(true);
  });

  it('returns no provider time without a Date header', async () => {
    const { kraken } = await createGuardedProviders(() => ({ headers: { date: '' }, body: {} }));
    expect((await kraken.request(REQUEST)).providerAtMs).toBeNull();
    expect(kraken.health().clockSkewMs).toBeNull();
  });
});

describe('the clock of a provider', () => {
  it('is compared with ours', async () => {
    const { host, kraken } = await createGuardedProviders(answerOk);
    host.fault('kraken', 'clock-skew');
    await kraken.request(REQUEST);
    expect(Math.abs((kraken.health().clockSkewMs ?? 0) - SKEW_MS)).toBeLessThan(5_000);
    host.heal('kraken');
    await kraken.request(REQUEST);
    expect(Math.abs(kraken.health().clockSkewMs ?? SKEW_MS)).toBeLessThan(5_000);
  });

  it('accounts for the Age header and is read from error responses', async () => {
    const date = new Date(Date.now() - 600_000).toUTCString();
    const { kraken } = await createGuardedProviders(answerWithStatus(404, { date, age: '600' }));
    await expect(kraken.request(REQUEST)).rejects.toThrow();
    expect(Math.abs(kraken.health().clockSkewMs ?? SKEW_MS)).toBeLessThan(5_000);
  });
});

describe('attempts', () => {
  it.each([500, 502, 503, 408, 429])('continue after status %d', async (status) => {
    const { host, kraken } = await createGuardedProviders(answerInSequence(answerWithStatus(status), answerWithStatus(status), answerOk));
    expect((await kraken.request(REQUEST)).body).toEqual({ price: 1 });
    expect(host.requests('kraken')).toHaveLength(3);
    expect(kraken.health()).toMatchObject({ calls: 1, failures: 0, lastError: null });
  });

  it.each([400, 401, 403, 404, 451])('end with status %d', async (status) => {
    const { host, kraken } = await createGuardedProviders(answerWithStatus(status, { 'retry-after': '1' }));
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: `Kraken: /0/public/OHLC answered ${status}`,
    });
    expect(host.requests('kraken')).toHaveLength(1);
  });

  it('are at most three', async () => {
    const { host, kraken } = await createGuardedProviders(answerWithStatus(500));
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({ message: 'Kraken: /0/public/OHLC answered 500' });
    expect(host.requests('kraken')).toHaveLength(3);
  });

  it.each<[Fault, number, object]>([
    ['down', 3, { code: 'FEED_UNAVAILABLE', message: expect.stringMatching(/^Kraken: \/0\/public\/OHLC cannot be reached \(\w+\)$/) }],
    ['server-error', 3, { code: 'FEED_UNAVAILABLE', message: 'Kraken: /0/public/OHLC answered 503' }],
    ['unavailable-for-legal-reasons', 1, { code: 'FEED_UNAVAILABLE', message: 'Kraken: /0/public/OHLC answered 451' }],
    ['truncated', 1, { code: 'FEED_INVALID', message: 'Kraken: /0/public/OHLC is not JSON', field: 'answer' }],
  ])('under the fault %s are %d, and the next call succeeds', async (fault, attempts, error) => {
    const { host, kraken } = await createGuardedProviders(answerOk);
    host.fault('kraken', fault);
    await expect(kraken.request(REQUEST)).rejects.toMatchObject(error);
    expect(host.requests('kraken')).toHaveLength(attempts);
    host.heal('kraken');
    expect((await kraken.request(REQUEST)).body).toEqual({ price: 1 });
  });

  it('time out one by one without a response', async () => {
    const { host, kraken } = await createGuardedProviders(answerOk, { attemptTimeoutMs: 40 });
    host.fault('kraken', 'slow');
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'Kraken: /0/public/OHLC timed out',
    });
    expect(host.requests('kraken')).toHaveLength(3);
  });

  it('continue when a response is interrupted', async () => {
    const cut: Answers = () => ({ headers: { 'content-length': '1000', connection: 'close' }, body: { price: 1 } });
    const { host, kraken } = await createGuardedProviders(answerInSequence(cut, answerOk, cut));
    expect((await kraken.request(REQUEST)).body).toEqual({ price: 1 });
    expect(host.requests('kraken')).toHaveLength(2);
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: expect.stringMatching(/^Kraken: \/0\/public\/OHLC broke off \(\w+\)$/),
    });
  });

  it('fail without a listening server', async () => {
    const { url, close } = await startProviderHost(answerOk);
    await close();
    const log = createLog({ level: 'silent', secrets: [] });
    const { kraken } = createProviders({ urls: parseProviderUrls(`kraken=${url}`), log, timing: FAST_TIMING });
    await expect(kraken.request(REQUEST)).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: 'Kraken: /0/public/OHLC cannot be reached (ECONNREFUSED)',
    });
  });

  it('end with an oversized response without reading it to its end', async () => {
    const fred = await streaming(function* () {
      for (;;) yield Buffer.alloc(1_000_000, 'x');
    });
    await expect(fred.request({ path: '/page', format: 'text' })).rejects.toMatchObject({
      code: 'FEED_INVALID',
      message: 'FRED, Federal Reserve Bank of St. Louis: /page is longer than 20000000 bytes',
    });
  });
});

describe('the scripted provider host', () => {
  it('returns data of 30 days ago when stale', async () => {
    const { host, kraken } = await createGuardedProviders(({ nowMs }) => ({ body: { nowMs } }));
    const before = Date.now();
    host.fault('kraken', 'stale');
    const { nowMs } = (await kraken.request(REQUEST)).body as { nowMs: number };
    expect(nowMs + STALE_BY_MS).toBeGreaterThanOrEqual(before);
    expect(nowMs + STALE_BY_MS).toBeLessThanOrEqual(Date.now());
  });

  it.each<[Fault, unknown]>([
    ['changed-shape', { rows_v2: [{ row: [1, 2] }], last_v2: 5 }],
    ['empty', { rows: [], last: 5 }],
  ])('rewrites a response under the fault %s', async (fault, body) => {
    const { host, kraken } = await createGuardedProviders(() => ({ body: { rows: [[1, 2]], last: 5 } }));
    host.fault('kraken', fault);
    expect((await kraken.request(REQUEST)).body).toEqual(body);
  });

  it('keeps faults to one provider', async () => {
    const { host, kraken, fred } = await createGuardedProviders(answerOk);
    host.fault('fred', 'unavailable-for-legal-reasons');
    await expect(fred.request({ path: '/x' })).rejects.toThrow('answered 451');
    await expect(kraken.request(REQUEST)).resolves.toMatchObject({ body: { price: 1 } });
  });
});
