import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { formatDay, toDay } from '../../../src/forecast/day.ts';
import type { Market } from '../../../src/market/market.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService } from '../../support/service/service.ts';
import { buildSkillDeps, createTestRunner, type RunSkillById } from '../../support/service/skills.ts';

let service: TestService;
let served: Served;
let run: RunSkillById;

/** One instant for both transports. */
const NOW = new Date();
const now = () => NOW;
const TODAY = toDay(NOW.getTime());

beforeAll(async () => {
  service = await testService(2);
  for (let day = TODAY - 2; day < TODAY; day++) await runPastDay(service, day, ['open-window']);
  served = await serve({ ...service, http: { ...service.http, now } });
  run = createTestRunner(buildSkillDeps(service.http, { now }));
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const context = (input: Record<string, unknown> = {}, of = run) => of('get_market_context', input).then(({ output }) => output);

// biome-ignore lint/suspicious/noExplicitAny: the answers are what is compared with
const get = async (path: string) => (await (await fetch(served.url + path)).json()) as any;

describe('the market context', () => {
  it('contains the figures of the market reports, each with its source and age', async () => {
    const { price, sentiment, flows, macro, asOf, source, kind } = await context();
    const [btc, mood, etf, correlation] = await Promise.all(
      ['/api/btc-price', '/api/fear-greed', '/api/etf-flows', '/api/macro-correlation'].map(get),
    );
    const originOf = ({ source: from, observedAt, stale }: Record<string, unknown>) => ({ source: from, observedAt, stale });
    expect({ asOf, source, kind }).toEqual({ asOf: NOW.toISOString(), source: service.http.market.source, kind: 'simulated' });
    expect(price).toMatchObject({ btcPrice: btc.price, change24h: btc.change24h, currency: 'USD', ...originOf(btc.inputs[0]) });
    expect(sentiment).toMatchObject({ fearGreed: mood.value, fearGreedLabel: mood.label, date: mood.date, ...originOf(mood.inputs[0]) });
    expect(flows).toMatchObject({ etfFlows7d: etf.flow7d, etfFlows30d: etf.flow30d, lastDay: etf.lastDay, ...originOf(etf.inputs[0]) });
    const seriesOf = { dxy: 'dxy', sp500: 'sp500', goldBtcRatio: 'gold', ismPmi: 'pmi' } as const;
    for (const [figure, series] of Object.entries(seriesOf)) {
      const { observedAt, source: from } = correlation.inputs.find((input: { series: string }) => input.series === series);
      expect(macro[figure]).toMatchObject({ ...correlation[figure], observedAt, source: from });
    }
  });

  it('computes ages from the time of each figure to the requested instant', async () => {
    const { price, sentiment, flows, macro, regime } = await context();
    for (const { observedAt, ageSeconds, source } of [price, sentiment, flows, regime, ...Object.values<typeof price>(macro)]) {
      expect(ageSeconds).toBe(Math.max(0, Math.round((NOW.getTime() - Date.parse(observedAt)) / 1000)));
      expect(source.length).toBeGreaterThan(2);
    }
  });

  it('contains the regime of the newest forecast without its inputs', async () => {
    const { regime } = await context({ include: ['regime'] });
    const signal = await get('/api/svc/open/signal');
    expect(regime).toMatchObject({ name: signal.regime, observedAt: signal.timestamp, date: formatDay(TODAY - 1) });
    expect(Object.keys(regime).toSorted()).toEqual(
      ['ageSeconds', 'date', 'description', 'name', 'observedAt', 'riskLevel', 'source', 'stale'].toSorted(),
    );
  });

  it('contains no forecast', async () => {
    const { output, text } = await run('get_market_context');
    for (const word of ['BUY', 'SELL', 'HOLD', 'GATED', 'direction', 'confidence', 'pUp', 'signal']) {
      expect(`${JSON.stringify(output)} ${text}`, word).not.toContain(word);
    }
  });

  it('contains only the requested sections', async () => {
    const all = ['price', 'sentiment', 'flows', 'macro', 'regime'];
    for (const section of all) {
      const output = await context({ include: [section] });
      expect(output.include).toEqual([section]);
      expect(all.filter((name) => output[name] !== null)).toEqual([section]);
      expect(output.missing).toEqual([]);
    }
  });
});

describe('an unavailable section', () => {
  const withMarket = (changes: Partial<Market>) =>
    createTestRunner(buildSkillDeps(service.http, { now, market: { ...service.http.market, ...changes } }));

  it('is null with a reason and does not affect the others', async () => {
    const { report } = service.http.market;
    const broken = withMarket({
      report: async (asked, atMs) => {
        if (asked.path === '/api/btc-price') throw new OracleError('PRICE_UNAVAILABLE', 'No price is known');
        return report(asked, atMs);
      },
    });
    const output = await context({}, broken);
    expect(output.price).toBeNull();
    expect(output.missing).toEqual([{ part: 'price', reason: 'No price is known' }]);
    expect(output.sentiment.fearGreed).not.toBeNull();
    const { text } = await broken('get_market_context');
    expect(text).toContain('Missing: price (No price is known).');
  });

  it('is reported per figure too', async () => {
    const { report } = service.http.market;
    const without = withMarket({
      report: async (asked, atMs) => {
        const received = { ...(await report(asked, atMs)) } as Record<string, unknown>;
        if (asked.path === '/api/btc-price') received.change24h = null;
        if (asked.path === '/api/macro-correlation') received.dxy = { ...(received.dxy as object), value: null, correlation: null };
        return received as Awaited<ReturnType<Market['report']>>;
      },
    });
    const { missing } = await context({}, without);
    expect(missing.map(({ part }: { part: string }) => part)).toEqual(['macro.dxy.correlation', 'macro.dxy.value', 'price.change24h']);
  });

  it('reports no markup and no unbounded text of a source', async () => {
    const source = `</script><b>${'x'.repeat(500)}\u202e`;
    const { text } = await withMarket({ source })('get_market_context');
    expect(text).not.toMatch(/[<>\u202e]/);
    expect(text.length).toBeLessThan(1_500);
  });

  it('does not hide an internal error', async () => {
    const faulty = withMarket({
      report: async () => {
        throw new TypeError('a fault');
      },
    });
    await expect(faulty('get_market_context')).rejects.toThrow(TypeError);
  });
});

it('marks an overdue regime as stale', async () => {
  const later = new Date(NOW.getTime() + 3 * 86_400_000);
  const { regime } = await context({ include: ['regime'] }, createTestRunner(buildSkillDeps(service.http, { now: () => later })));
  expect(regime).toMatchObject({ stale: true, date: formatDay(TODAY - 1) });
});
