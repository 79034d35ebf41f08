import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { HEALTH, STARTING } from '../../../../../src/http/schemas/health.ts';
import { createStartingApp } from '../../../../../src/http/server.ts';
import { getWindowOpensMs } from '../../../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../../../src/pipeline/pipeline.ts';
import { createLog } from '../../../../../src/platform/log.ts';
import { createStartupProgress } from '../../../../../src/platform/progress.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { contextAt } from '../../../../support/clock/trusted-time.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve, serveApp } from '../../../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

const FORECAST_DAY = today() - 2;
const MISSED_DAY = today() - 1;
let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, FORECAST_DAY);
  const late = { ...contextAt(getWindowOpensMs(MISSED_DAY) + 60_000), replayed: true };
  expect(await runStep(service.pipeline, 'signal', MISSED_DAY, late)).toMatchObject({ done: expect.stringContaining('missed') });
  await service.infrastructure.localChain!.followWallClock();
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const fetchAs = async (tier: 'public' | 'basic' | 'premium', path: string) =>
  fetch(`${served.url}${path}`, { headers: await asTier(service, tier) });
const replyOf = (path: string) => allRoutes(service.http).find((route) => route.path === path)!.reply!;

describe('the legacy signal', () => {
  it('names its successor in body and headers', async () => {
    const response = await fetchAs('public', '/api/svc/signal');
    const { successor, deprecated, horizon } = (await response.json()) as Body;
    expect([deprecated, horizon]).toEqual([true, '7d']);
    expect(new URL(successor).pathname).toBe('/api/svc/open/signal');
    expect(response.headers.get('link')).toBe(`<${successor}>; rel="successor-version"`);
    const [, since] = /^@(\d+)$/.exec(response.headers.get('deprecation')!)!;
    expect(new Date(Number(since) * 1_000).toISOString()).toMatch(/^20\d\d-\d\d-\d\dT/);
  });

  it.each(['public', 'basic', 'premium'] as const)('equals the successor for %s callers, in every spelling', async (tier) => {
    const legacy = (await (await fetchAs(tier, '/api/svc/signal')).json()) as Body;
    const primary = (await (await fetchAs(tier, '/api/svc/open/signal?horizon=7d')).json()) as Body;
    for (const name of ['signal', 'confidence', 'btcPrice', 'regime', 'modelVersion', 'model_version', 'timestamp', 'source', 'replayed']) {
      expect(legacy[name], name).toEqual(primary[name]);
    }
    expect([legacy.btc_price, legacy.price, legacy.model_version]).toEqual([primary.btcPrice, primary.btcPrice, primary.modelVersion]);
    expect(undocumented(replyOf('/api/svc/signal'), legacy)).toEqual([]);
    expect(undocumented(replyOf('/api/svc/open/signal'), primary)).toEqual([]);
  });

  it('is gated for the public, not for Basic', async () => {
    const { values } = service.pipeline.record.known.findLatest(7)!;
    expect(await (await fetchAs('public', '/api/svc/signal')).json()).toMatchObject({ signal: 'GATED', confidence: null });
    expect(await (await fetchAs('basic', '/api/svc/signal')).json()).toMatchObject({
      signal: values!.signal,
      confidence: values!.confidenceBps / 10_000,
    });
  });
});

it('returns the latest forecast after a missed day', async () => {
  const signal = (await (await fetchAs('public', '/api/svc/open/signal')).json()) as Body;
  expect(signal).toMatchObject({ predictionId: service.pipeline.record.known.findLatest(7)!._id, status: 'PENDING' });
  const { predictions } = (await (await fetchAs('public', '/api/svc/scorecard?limit=5')).json()) as Body;
  expect(predictions[0]).toMatchObject({ missed: true, signal: null, regime: null, btcPrice: null });
  expect(signal.predictionId).toBe(predictions[1].predictionId);
});

describe('the metadata', () => {
  it.each([
    ['a day with forecasts', FORECAST_DAY],
    ['a missed day', MISSED_DAY],
  ])('of %s matches its schema', async (_, day) => {
    const { metadata } = (await service.pipeline.record.findDay(day))!;
    const body = await (await fetchAs('public', `/ipfs/${metadata.cid}`)).json();
    expect(undocumented(replyOf('/ipfs/{cid}'), body)).toEqual([]);
    expect('missed' in (body as object)).toBe(day === MISSED_DAY);
  });
});

it('liveness is reported during startup', async () => {
  const starting = await serveApp(
    createStartingApp({ log: createLog({ level: 'silent', secrets: [] }), publicUrl: 'http://127.0.0.1', setup: createStartupProgress() }),
  );
  const body = await (await fetch(`${starting.url}/health`)).json();
  await starting.close();
  expect(body).toEqual({ status: 'starting', setup: { what: 'starting', done: null, total: null } });
  for (const schema of [STARTING, HEALTH]) expect(undocumented(schema, body)).toEqual([]);
});

describe('invalid input', () => {
  const uid = `0x${'a'.repeat(64)}`;
  it.each([
    ['/api/svc/open/signal?horizon=7d&horizon=7d', 'horizon'],
    ['/api/svc/open/signal?horizon=%EF%BC%97d', 'horizon'],
    ['/api/svc/open/signal?horizon=7D', 'horizon'],
    ['/api/svc/open/signal?horizon=7d%00', 'horizon'],
    [`/api/svc/open/signal?horizon=${'7'.repeat(3_000)}`, 'horizon'],
    ['/api/svc/scorecard?horizon=7&horizon=3', 'horizon'],
    ['/api/svc/scorecard?horizon=07', 'horizon'],
    ['/api/svc/scorecard?horizon=%D9%A7', 'horizon'],
    ['/api/svc/scorecard?horizon=7%20', 'horizon'],
    ['/api/svc/onchain-oracle/history?limit=%D9%A3', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=%EF%BC%93', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=3%0A', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=%2B3', 'limit'],
    ['/api/svc/onchain-oracle/history?limit=0x10', 'limit'],
    [`/api/svc/onchain-oracle/history?limit=${'9'.repeat(400)}`, 'limit'],
    [`/api/svc/onchain-oracle/verify/${uid}%0A`, 'uid'],
    [`/api/svc/onchain-oracle/verify/${uid.replace('0x', '0X')}`, 'uid'],
    [`/api/svc/onchain-oracle/verify/${uid.slice(0, -1)}%EF%BD%81`, 'uid'],
    [`/api/svc/onchain-oracle/verify/${'a'.repeat(3_000)}`, 'uid'],
    [`/ipfs/b${'a'.repeat(121)}`, 'cid'],
    [`/ipfs/b${'a'.repeat(3_000)}`, 'cid'],
    [`/ipfs/B${'A'.repeat(58)}`, 'cid'],
    [`/ipfs/b${'a'.repeat(58)}%00`, 'cid'],
    ['/ipfs/..%2F..%2Fetc%2Fpasswd', 'cid'],
    ['/api/svc/agent/feedback/2026-13-01', 'date'],
    ['/api/svc/agent/feedback/2026-2-3', 'date'],
    ['/api/svc/agent/feedback/2026-02-03%0A', 'date'],
    ['/api/svc/agent/feedback/2026-02-03T00:00:00Z', 'date'],
    ['/api/svc/agent/feedback/%EF%BC%92026-02-03', 'date'],
  ])('%s returns an error that names %s', async (path, field) => {
    const response = await fetchAs('public', path);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    const body = (await response.json()) as Body;
    expect(body).toMatchObject({ code: 'INPUT_INVALID', field });
    expect(body.detail.length).toBeLessThan(300);
  });
});
