import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FORECAST_TERMS } from '../../../src/commerce/offerings.ts';
import { DIRECTION_EVIDENCE } from '../../../src/forecast/signal.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { PAYING_CLIENTS } from '../../support/agent-clients/paying.ts';
import { demoBuyer } from '../../support/commerce/buyer.ts';
import { asHeader, readHeader } from '../../support/commerce/payments.ts';
import { fetchOpenApi, operationsOf } from '../../support/http/openapi.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { MCP_CLIENTS } from '../../support/mcp/mcp.ts';
import { PLANTED, PLANTED_SIDES } from '../../support/record/planted-forecast.ts';
import type { TestService } from '../../support/service/service.ts';
import { untoldService } from '../../support/service/unpublished-service.ts';

/** Limit of the Bazaar extension of x402. */
const MAX_DESCRIPTION = 500;
const HOLD_SHARE =
  /Newest revealed days: HOLD 2d \d+ of \d+, 3d \d+ of \d+, 7d \d+ of \d+; signal unchanged on [\d to]+ %(?:; SELL never issued)?\.$/;

let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await untoldService();
  served = await serve(service);
});
afterAll(async () => {
  vi.useRealTimers();
  await served?.close();
  await service?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

const json = async (path: string): Promise<Body> => (await fetch(served.url + path)).json();
const text = async (path: string) => (await fetch(served.url + path)).text();

/** The description of version 2 in the header, and that of version 1 in the body. */
async function termsOf(path: string, init?: RequestInit): Promise<string[]> {
  const response = await fetch(served.url + path, init);
  expect(response.status).toBe(402);
  const body: Body = await response.json();
  return [readHeader(response.headers.get('PAYMENT-REQUIRED')).resource.description, body.accepts[0].description];
}

async function termsOver(name: string): Promise<string[]> {
  const client = await PAYING_CLIENTS[name]!(served.url);
  const { resource } = await client.terms();
  await client.close();
  return [resource.description];
}

const FORECASTS = [
  'svc_signal_with_proof',
  'svc_analysis_report',
  'svc_alpha_brief',
  'svc_bitcoin_signal',
  'x402_signal',
  'x402_premium_signal',
];

/** Texts that are sent with the terms of a payment: they have the share of HOLD besides. */
const TERMS: Record<string, () => Promise<string[]>> = {
  'the offerings of a forecast': async () => {
    const { offerings } = await json('/api/svc/commerce/offerings');
    const sold = offerings.filter(({ name }: Body) => FORECASTS.includes(name));
    expect(sold).toHaveLength(FORECASTS.length);
    return sold.map(({ description }: Body) => description);
  },
  'the x402 document': async () => {
    const { resources } = await json('/.well-known/x402.json');
    return resources.flatMap(({ description, v1 }: Body) => [description, ...v1.accepts.map((one: Body) => one.description)]);
  },
  'the 402 of /oracle': () => termsOf('/oracle?horizon=2d'),
  'the 402 of /oracle/premium': () => termsOf('/oracle/premium'),
  'the 402 of the skill': () => termsOf('/api/svc/skills/predict_btc_direction', { method: 'POST' }),
  'the 402 of a rejected payment': () => termsOf('/oracle', { headers: { 'PAYMENT-SIGNATURE': asHeader({ x402Version: 2 }) } }),
  ...Object.fromEntries(Object.keys(PAYING_CLIENTS).map((name) => [`the terms over ${name}`, () => termsOver(name)])),
};

/** Texts without a figure of the record, in which a price stands. */
const DESCRIPTIONS: Record<string, () => Promise<string[]>> = {
  'the agent card': async () => {
    const { description, skills } = await json('/.well-known/agent-card.json');
    return [description, ...skills.filter(({ id }: Body) => id === 'predict_btc_direction').map((one: Body) => one.description)];
  },
  'the registration file': async () => [(await json('/.well-known/agent-registration.json')).description],
  'the tool over MCP': async () => {
    const client = await MCP_CLIENTS['2026-07-28'](served.url, {});
    const { tools } = await client.listTools();
    await client.close();
    return tools.filter(({ name }: Body) => name === 'predict_btc_direction').map((tool: Body) => tool.description);
  },
  'the list of skills': async () => {
    const { skills } = await json('/api/svc/skills');
    return skills.filter(({ price }: Body) => price.singleAnswer !== null).map(({ description }: Body) => description);
  },
  'paid operations of the OpenAPI document': async () => {
    const sold = operationsOf(await fetchOpenApi(served.url)).filter((operation) => 'x-payment-info' in operation);
    expect(sold.length).toBeGreaterThanOrEqual(3);
    return sold.map(({ description }: Body) => description);
  },
  'llms.txt': async () => [await text('/llms.txt')],
  'SKILL.md': async () => [await text('/SKILL.md')],
};

describe('what is known of the direction', () => {
  it.each(Object.entries({ ...TERMS, ...DESCRIPTIONS }))('is said in %s', async (_, read) => {
    const texts = await read();
    expect(texts.length).toBeGreaterThan(0);
    for (const one of texts) expect(one).toContain(DIRECTION_EVIDENCE);
  });

  it.each(Object.entries(TERMS))('stands in %s with the share of HOLD, and that a HOLD is charged, in 500 characters', async (_, read) => {
    for (const one of await read()) {
      expect(one).toContain(FORECAST_TERMS);
      expect(one).toMatch(HOLD_SHARE);
      expect(one.length).toBeLessThanOrEqual(MAX_DESCRIPTION);
    }
  });

  it('is not said of what has no forecast', async () => {
    const { offerings } = await json('/api/svc/commerce/offerings');
    for (const { name, description } of offerings.filter((one: Body) => !FORECASTS.includes(one.name)))
      expect(description, name).not.toContain(DIRECTION_EVIDENCE);
  });

  it.each(['2d', '3d', '7d'])('stands in the public signal of %s, with the counts of the revealed days', async (horizon) => {
    const signal = await json(`/api/svc/open/signal?horizon=${horizon}`);
    expect(signal).toMatchObject({ signal: 'GATED', directionEvidence: 'none', directionNote: DIRECTION_EVIDENCE });
    const { revealedCalls } = signal;
    expect(Object.keys(revealedCalls)).toEqual(['days30', 'days90', 'days365', 'all']);
    for (const { days, buy, sell, hold, up, down } of Object.values<Body>(revealedCalls))
      expect([buy + sell + hold, up + down]).toEqual([days, days]);
    const { offerings, revealedCalls: all } = await json('/api/svc/commerce/offerings?channel=x402');
    expect(all).toContainEqual({ horizon, ...revealedCalls });
    expect(offerings[0].description).toContain(`${horizon} ${revealedCalls.days90.hold} of ${revealedCalls.days90.days}`);
  });

  it('is in the public part of the skill over MCP, with the counts of the revealed days', async () => {
    const client = await MCP_CLIENTS['2026-07-28'](served.url, {});
    const { structuredContent, content } = await client.callTool({ name: 'predict_btc_direction', arguments: {} });
    await client.close();
    expect(structuredContent).toMatchObject({ signal: 'GATED', directionEvidence: 'none' });
    const { days, hold } = (await json('/api/svc/open/signal')).revealedCalls.days90;
    expect((content as Body)[0].text).toContain(`Newest ${days} revealed days: HOLD ${hold}`);
  });

  it.each(['/oracle', '/oracle/premium'])(
    'stands in the body of the 402 of %s, which has the same counts as the offerings',
    async (path) => {
      const [body, { revealedCalls }] = await Promise.all([json(path), json('/api/svc/commerce/offerings')]);
      expect(body.revealedCalls).toEqual(revealedCalls);
    },
  );
});

describe('the share of HOLD', () => {
  /** Terms are computed once a minute. */
  const nextMinute = () => vi.setSystemTime(Date.now() + 60_000);
  const readAll = async () => {
    nextMinute();
    const { revealedCalls } = await json('/api/svc/commerce/offerings');
    const signals = await Promise.all(
      ['2d', '3d', '7d'].map(async (horizon) => (await json(`/api/svc/open/signal?horizon=${horizon}`)).revealedCalls),
    );
    return { revealedCalls, signals, texts: await Promise.all(Object.values(TERMS).map((read) => read())) };
  };
  const change = async (filter: object, values: object) => {
    const { record } = service.pipeline;
    const { modifiedCount } = await record.forecasts.updateMany(filter, { $set: values });
    await record.known.load();
    return modifiedCount;
  };

  it('counts what is revealed on chain', async () => {
    const { revealedCalls } = await json('/api/svc/commerce/offerings');
    const docs: ForecastDoc[] = await service.pipeline.record.forecasts.find({ horizonDays: 2, reveal: { $ne: null } }).toArray();
    expect(docs.length).toBeGreaterThan(5);
    const count = (is: (values: NonNullable<ForecastDoc['values']>) => boolean) => docs.filter(({ values }) => is(values!)).length;
    expect(revealedCalls.find(({ horizon }: Body) => horizon === '2d').all).toEqual({
      days: docs.length,
      buy: count(({ signal }) => signal === 'BUY'),
      sell: count(({ signal }) => signal === 'SELL'),
      hold: count(({ signal }) => signal === 'HOLD'),
      up: count(({ direction }) => direction === 'UP'),
      down: count(({ direction }) => direction === 'DOWN'),
      sameAsDayBefore: expect.any(Number),
    });
  });

  it('does not move with forecasts that are open, decided, late or void', async () => {
    const before = await readAll();
    const others = { reveal: null, values: { $ne: null } };
    for (const side of PLANTED_SIDES) {
      const { signal, direction } = PLANTED[side].values;
      await change(others, { 'values.signal': signal, 'values.direction': direction });
      expect(await readAll(), side).toEqual(before);
    }
  });

  it('moves with a revealed one', async () => {
    const before = await readAll();
    expect(await change({ horizonDays: 2, reveal: { $ne: null } }, { 'values.signal': 'SELL' })).toBeGreaterThan(0);
    const after = await readAll();
    expect(after.revealedCalls.find(({ horizon }: Body) => horizon === '2d')).toMatchObject({ all: { buy: 0, hold: 0 } });
    for (const one of after.texts.flat()) expect(one).not.toContain('SELL never issued');
    expect(after.texts).not.toEqual(before.texts);
  });

  it('may move between the terms and their payment', async () => {
    const buyer = demoBuyer(service);
    await change({ horizonDays: 7, reveal: { $ne: null } }, { 'values.signal': 'HOLD' });
    nextMinute();
    const earlier = readHeader((await fetch(`${served.url}/oracle/premium`)).headers.get('PAYMENT-REQUIRED'));
    const payment = await buyer.pay(earlier);
    await change({ horizonDays: 7, reveal: { $ne: null } }, { 'values.signal': 'SELL' });
    nextMinute();
    const later = readHeader((await fetch(`${served.url}/oracle/premium`)).headers.get('PAYMENT-REQUIRED'));
    expect(later.resource.description).not.toBe(earlier.resource.description);
    expect(later.accepts).toEqual(earlier.accepts);
    const paid = await fetch(`${served.url}/oracle/premium`, { headers: { 'PAYMENT-SIGNATURE': asHeader(payment) } });
    expect([paid.status, await paid.clone().text()]).toEqual([200, expect.stringContaining('"receipt"')]);
  });
});
