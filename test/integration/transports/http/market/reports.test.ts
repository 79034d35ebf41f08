import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../../../src/auth/caller.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { parseDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { marketRoutes } from '../../../../../src/http/routes/market.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp, type HttpServer, listen } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import type { Feed } from '../../../../../src/market/feed.ts';
import { createMarket } from '../../../../../src/market/market.ts';
import { openSimulatedFeed } from '../../../../../src/market/simulated.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { type TestService, testService, today } from '../../../../support/service/service.ts';
import { buildDailyCsv } from '../../../../unit/market/csv-folder.ts';

const log = createLog({ level: 'silent', secrets: [] });

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

/** Fields of each report, by how they are read: a number, or a text. */
const FIELDS: Record<string, { numbers: string[]; texts?: string[] }> = {
  '/api/btc-price': { numbers: ['price', 'change24h'], texts: ['priceSource'] },
  '/api/fear-greed': { numbers: ['value', 'yesterday.value', 'average7d', 'average30d'], texts: ['classification', 'label', 'date'] },
  '/api/etf-flows': { numbers: ['flow7d', 'flows7d', 'flow30d', 'flows30d', 'lastDay'], texts: ['lastDayDate'] },
  '/api/macro-correlation': {
    numbers: [
      'dxy.value',
      'dxy.correlation',
      'dxy.change5d',
      'sp500.correlation',
      'goldBtcRatio.correlation',
      'ismPmi.value',
      'ismPmi.correlation',
    ],
  },
  '/api/etf-analytics': {
    numbers: ['total.lastDay', 'total.flow90d', 'funds.0.flow30d', 'correlation.nextDay.pairs'],
    texts: ['funds.0.ticker'],
  },
  '/api/derivatives-summary': {
    numbers: [
      'fundingRate.rate8h',
      'openInterest.usd',
      'basis.perpetualPct',
      'impliedVolatility.dvolPct',
      'impliedVolatility.realized30dPct',
    ],
  },
  '/api/economic-indicators': { numbers: ['pmi.value', 'us10y.value', 'us2y.value', 'fedFunds.change', 'vix.previous', 'gold.value'] },
  '/api/interest-rates': { numbers: ['policyRate.value', 'fedFunds.value', 'us2y.value', 'us10y.change30d', 'slope10y2y'] },
  '/api/liquidation-heatmap': { numbers: ['price', 'openInterestUsd', 'longs.0.usd', 'shorts.24.cumulativeUsd'], texts: ['method'] },
  '/api/sth-pnl-ratio': { numbers: ['price', 'sthRealizedPrice', 'ratio', 'profitLossPct', 'market.mvrv'] },
};
const PATHS = Object.keys(FIELDS);

const at = (body: Body, path: string) => path.split('.').reduce((inner, name) => inner?.[name], body);

/** A folder with every file that the reports read, up to tomorrow. */
function fullFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'market-'));
  const wave = (level: number, swing: number) => (day: number) => (level + swing * Math.sin(day * 1.3)).toFixed(6);
  const daily: [string, string, (day: number) => number | string][] = [
    ['btc_daily.csv', 'close_median', wave(70_000, 2_000)],
    ['onchain_coinmetrics.csv', 'price_usd,realized_price_usd', () => ',40000'],
    ['sth_realized_price_daily.csv', 'sth_realized_price_usd', wave(60_000, 500)],
    ['fear_greed_daily.csv', 'fng', (day) => day % 101],
    ['funding_binance_daily.csv', 'funding_rate', wave(0.0001, 0.00005)],
    ['open_interest_daily.csv', 'open_interest_usd', wave(2e10, 1e9)],
    ['perp_basis_daily.csv', 'basis', wave(0, 0.0005)],
    ['dvol_daily.csv', 'dvol', wave(50, 5)],
    ['etf_flows_farside.csv', 'total_musd,AAA,BBB', (day) => `${day % 9},${(day % 9) - 3},3`],
    ...['sp500', 'dxy', 'gold', 'vix', 'us2y', 'us10y'].map((name, index): [string, string, (day: number) => string] => [
      `${name}_daily.csv`,
      'close',
      wave(10 + index, 1),
    ]),
    ['fed_funds_daily.csv', 'dff', () => 4.33],
    ['fed_policy_rate_upper_monthly.csv', 'rate', () => 4.5],
  ];
  for (const [file, column, value] of daily) writeFileSync(join(folder, file), buildDailyCsv(column, today() - 800, today() + 1, value));
  const months = Array.from({ length: 24 }, (_, index) => today() - 10 - 30 * (23 - index));
  const rows = months.map((day, index) => `${new Date(toInstantMs(day)).toISOString().slice(0, 10)},${48 + (index % 5)}`);
  writeFileSync(join(folder, 'ism_manufacturing_pmi_monthly.csv'), `release_date,pmi_first_print\n${rows.join('\n')}\n`);
  return folder;
}

describe.each(['simulated', 'csv'] as const)('the market on %s data', (kind) => {
  let folder: string;
  let service: TestService;
  let server: HttpServer;

  beforeAll(async () => {
    folder = fullFolder();
    service = await testService(1, { FEEDS: kind === 'csv' ? `csv:${folder}` : 'simulated' });
    server = await listen(createApp(allRoutes(service.http), service.appOptions), 0, '127.0.0.1');
  });
  afterAll(async () => {
    await server?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const fetchFrom = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

  it.each(PATHS)('is served at %s', async (path) => {
    const response = await fetchFrom(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    expect(response.headers.get('etag')).toMatch(/^W\/"/);
    const body: Body = await response.json();
    expect(body).toMatchObject({ success: true, kind, source: service.http.market.source, stale: false });
    expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
    expect(body.timestamp).toBe(body.inputs[0].observedAt);
    expect(Date.parse(body.asOf) - Date.parse(body.timestamp)).toBeGreaterThanOrEqual(0);
    expect(body.ageSeconds).toBe(Math.round((Date.parse(body.asOf) - Date.parse(body.timestamp)) / 1_000));
    for (const field of FIELDS[path].numbers) expect(at(body, field), field).toBeTypeOf('number');
    for (const field of FIELDS[path].texts ?? []) expect(at(body, field), field).toBeTypeOf('string');
  });

  it('is listed at the root', async () => {
    const { resources }: Body = await (await fetchFrom('/')).json();
    const listed = resources.map(({ url }: { url: string }) => new URL(url).pathname);
    expect(listed).toEqual(expect.arrayContaining(PATHS));
  });

  it('accepts HEAD and rejects POST', async () => {
    const head = await fetchFrom('/api/fear-greed', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('etag')).toBe((await fetchFrom('/api/fear-greed')).headers.get('etag'));
    expect((await fetchFrom('/api/fear-greed', { method: 'POST' })).status).toBe(405);
  });
});

describe('caching of market reports', () => {
  const NOON = toInstantMs(parseDay('2026-02-20'), 12, 30);
  let nowMs = NOON;
  let feed: Feed;
  let server: HttpServer;

  beforeAll(async () => {
    const simulated = openSimulatedFeed();
    feed = { ...simulated };
    const market = createMarket({ ...simulated, spot: (atMs) => feed.spot(atMs), observations: (...asked) => feed.observations(...asked) });
    server = await listen(
      createApp(marketRoutes({ market, now: () => new Date(nowMs) } as Services), { log, identify: async () => PUBLIC_CALLER }),
      0,
      '127.0.0.1',
    );
  });
  afterAll(() => server.close());
  const fetchFrom = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);
  const maxAge = async (path: string, atMs: number) => {
    nowMs = atMs;
    return (await fetchFrom(path)).headers.get('cache-control');
  };

  it('lasts until an input may change, between five seconds and an hour', async () => {
    const midnight = toInstantMs(parseDay('2026-02-21'));
    expect(await maxAge('/api/fear-greed', NOON)).toBe('public, max-age=3600');
    expect(await maxAge('/api/fear-greed', midnight - 600_000)).toBe('public, max-age=600');
    expect(await maxAge('/api/fear-greed', midnight - 1_000)).toBe('public, max-age=5');
    expect(await maxAge('/api/btc-price', NOON + 20_000)).toBe('public, max-age=40');
    // Funds publish at noon, closes at midnight: the earlier of the two counts.
    expect(await maxAge('/api/etf-analytics', toInstantMs(parseDay('2026-02-21'), 11, 50))).toBe('public, max-age=600');
  });

  it('returns 304 while the content is unchanged', async () => {
    nowMs = NOON;
    const first = await fetchFrom('/api/fear-greed');
    const etag = first.headers.get('etag')!;
    nowMs = NOON + 3 * 3_600_000;
    const again = await fetchFrom('/api/fear-greed', { headers: { 'If-None-Match': `"other", ${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('etag')).toBe(etag);
    expect(again.headers.get('cache-control')).toBe('public, max-age=3600');
    expect((await fetchFrom('/api/fear-greed', { method: 'HEAD', headers: { 'If-None-Match': etag } })).status).toBe(304);
    const later: Body = await (await fetchFrom('/api/fear-greed')).json();
    expect([later.asOf, later.timestamp]).toEqual([
      new Date(nowMs).toISOString(),
      new Date(toInstantMs(parseDay('2026-02-20'))).toISOString(),
    ]);
  });

  it('returns 200 once it changes', async () => {
    nowMs = NOON;
    const etag = (await fetchFrom('/api/fear-greed')).headers.get('etag')!;
    nowMs = NOON + 86_400_000;
    const next = await fetchFrom('/api/fear-greed', { headers: { 'If-None-Match': etag } });
    expect(next.status).toBe(200);
    expect(next.headers.get('etag')).not.toBe(etag);
  });

  it('is irrelevant without any price: reports that need one return 503', async () => {
    nowMs = NOON + 10 * 86_400_000;
    const whole = { ...feed };
    feed.spot = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'No venue answers'));
    feed.observations = async (series, atMs) => {
      const known = await whole.observations(series, atMs);
      const nothing = { days: new Int32Array(), values: new Float64Array(), availableAt: new Float64Array() };
      return series === 'btcClose' ? { ...known, ...nothing } : known;
    };
    const statuses = await Promise.all(PATHS.map(async (path) => [path, (await fetchFrom(path)).status]));
    const response = await fetchFrom('/api/btc-price');
    Object.assign(feed, whole);
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([
      ['/api/btc-price', 503],
      ['/api/liquidation-heatmap', 503],
    ]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ success: false, code: 'PRICE_UNAVAILABLE', retryable: true, detail: 'No venue answers' });
    expect((await fetchFrom('/api/btc-price')).status).toBe(200);
  });

  it('keeps the last price when the source is gone', async () => {
    nowMs = NOON + 20 * 86_400_000;
    const whole = { ...feed };
    feed.spot = () => Promise.reject(new OracleError('PRICE_UNAVAILABLE', 'No venue answers'));
    const body: Body = await (await fetchFrom('/api/btc-price')).json();
    Object.assign(feed, whole);
    expect(body).toMatchObject({ success: true, stale: true, ageSeconds: 45_000, priceSource: 'daily close of simulated' });
    expect(body.price).toBe((await whole.spot(nowMs - 45_000_000)).priceUsd);
  });
});
