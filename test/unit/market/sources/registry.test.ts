import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROVIDER_IDS, type Provider, type ProviderId, type ProviderRequest, VENUE_IDS } from '../../../../src/market/live/provider.ts';
import { createProviders, parseProviderUrls } from '../../../../src/market/live/providers.ts';
import { SERIES_IDS } from '../../../../src/market/series.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import {
  createEtfSources,
  getProviderIds,
  providersMarkdown,
  SERIES_PLANS,
  STRIKE_SOURCES,
  VENUE_SOURCES,
} from '../../../../src/market/sources/registry.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { answersOf } from '../../../support/market/provider-host.ts';
import { derivativesAnswers } from '../../../support/provider-data/derivatives.ts';
import { macroAnswers } from '../../../support/provider-data/macro.ts';
import { onchainAnswers } from '../../../support/provider-data/onchain.ts';
import { sentimentAnswers } from '../../../support/provider-data/sentiment.ts';
import { strikesAnswers } from '../../../support/provider-data/strikes.ts';
import { venuesAnswers } from '../../../support/provider-data/venues.ts';
import { NOW_MS, TODAY } from './test-providers.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are changed as they are
type Body = any;
type Mutate = (rows: Body[], at: number) => void;

const market = openSimulatedFeed({ seed: 2 });
const answers = answersOf(market, [derivativesAnswers, macroAnswers, onchainAnswers, sentimentAnswers, strikesAnswers, venuesAnswers]);
/** Up to today, with releases of the PMI. */
const RANGE = { from: TODAY - 60, to: TODAY };

/** Where an answer has its rows, and the member of a row without which the row is of no use. `null`: the answer is one row. */
interface Shape {
  rows: ((body: Body) => Body[]) | null;
  field?: string | number;
  /** Values of the field that are a missing value, not an invalid one. */
  absent?: unknown[];
  /** Rows are known by their position, so that a repeated one makes every other wrong. */
  isPositional?: true;
}

/** By the beginning of the path. A new source needs its line here. */
const SHAPES: Record<string, Shape> = {
  '/fng/': { rows: ({ data }) => data, field: 'value' },
  '/api/series/': { rows: ({ data }) => data, absent: [null], isPositional: true },
  '/v1/realized-price': { rows: (body) => body, field: 'realizedPrice' },
  '/v1/sth-realized-price': { rows: (body) => body, field: 'sthRealizedPrice' },
  '/api/v5/public/funding-rate-history': { rows: ({ data }) => data, field: 'realizedRate' },
  '/api/v5/rubik/': { rows: ({ data }) => data, field: 3 },
  '/v5/market/funding/history': { rows: ({ result }) => result.list, field: 'fundingRate' },
  '/v5/market/open-interest': { rows: ({ result }) => result.list, field: 'openInterest' },
  '/v5/market/kline': { rows: ({ result }) => result.list, field: 1 },
  '/v5/market/tickers': { rows: null },
  '/fapi/v1/fundingRate': { rows: (body) => body, field: 'fundingRate' },
  '/futures/data/openInterestHist': { rows: (body) => body, field: 'sumOpenInterestValue' },
  '/api/v2/public/get_volatility_index_data': { rows: ({ result }) => result.data, field: 4 },
  '/api/v2/public/ticker': { rows: null },
  '/v8/finance/chart/': { rows: ({ chart }) => chart.result[0].indicators.quote[0].close, absent: [null], isPositional: true },
  '/graph/fredgraph.csv': { rows: (lines) => lines, field: 1, absent: [''] },
  '/v22/series/': { rows: ({ series }) => series.docs[0].value, absent: [null], isPositional: true },
  '/openapi/v2/etf/': { rows: ({ data }) => data.list, field: 'totalNetInflow', absent: [null] },
  '/treasuries/etf-flows/': { rows: (cells) => cells, field: 1 },
  '/bitcoin-etf-flow-all-data/': { rows: (cells) => cells, field: 1 },
  '/api/v3/klines': { rows: (body) => body, field: 4 },
  '/products/BTC-USD/candles': { rows: (body) => body, field: 4 },
  '/0/public/OHLC': { rows: ({ result }) => result.XXBTZUSD, field: 4 },
  '/api/v2/ohlc/': { rows: ({ data }) => data.ohlc, field: 'close' },
};

function setField(rows: Body[], at: number, field: Shape['field'], value: unknown): void {
  if (field === undefined) rows[at] = value;
  else rows[at][field] = value;
}

const ROW_MUTATIONS: Record<string, (rows: Body[], at: number, field: string | number) => void> = {
  'a missing field': (rows, at, field) => {
    if (Array.isArray(rows[at])) rows[at].splice(Number(field));
    else delete rows[at][field];
  },
  'a row that is null': (rows, at) => setField(rows, at, undefined, null),
  'a row that is text': (rows, at) => setField(rows, at, undefined, 'gone'),
  'an empty row': (rows, at) => setField(rows, at, undefined, Array.isArray(rows[at]) ? [] : {}),
};

const findShape = (path: string) => Object.entries(SHAPES).find(([start]) => path.startsWith(start))?.[1];

/** Pages and files as rows of cells, and back. */
const TEXTS: Record<string, { split(text: string): string[][]; join(rows: (string[] | null)[], text: string): string }> = {
  fred: {
    split: (text) =>
      text
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',')),
    join: (rows, text) => `${[text.split('\n')[0], ...rows.map((row) => (row ?? ['null']).join(','))].join('\n')}\n`,
  },
  bitbo: createTable('<tr><td>'),
  farside: createTable('<tr><td><div align="right"><span class="tabletext">'),
};

function createTable(start: string) {
  const isDated = (line: string) => line.startsWith(start) && /^\d|^[A-Z][a-z]{2} \d/.test(line.slice(start.length));
  const CELL = /<td>(.*?)<\/td>/g;
  return {
    split: (text: string) =>
      text
        .split('\n')
        .flatMap((line) => withoutBody(line).filter(isDated))
        .map((line) => [...line.matchAll(CELL)].map(([, cell]) => cell)),
    join(rows: (string[] | null)[], text: string) {
      const lines = text.split('\n').flatMap(withoutBody);
      const first = lines.findIndex(isDated);
      const rest = lines.filter((line) => !isDated(line));
      return [
        ...rest.slice(0, first),
        ...rows.map((row) => `<tr>${(row ?? []).map((cell) => `<td>${cell}</td>`).join('')}</tr>`),
        ...rest.slice(first),
      ].join('\n');
    },
  };
}

/** Bitbo opens its body on the line of the first row. */
function withoutBody(line: string): string[] {
  return line.startsWith('<tbody><tr>') ? ['<tbody>', line.slice('<tbody>'.length)] : [line];
}

/** Of one row of the first answer to a path; with -1, of every row of every answer. */
interface Mutation {
  path: string;
  mutate: Mutate;
  at?: -1;
}

const known = new Map<string, Promise<unknown>>();

/** What the simulated market answers, computed once a request. */
function readAnswer(provider: ProviderId, { path, method = 'GET', query: values = {}, body = null }: ProviderRequest): Promise<unknown> {
  const query = new URLSearchParams(Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]));
  const key = `${provider}${path}?${query}`;
  const answer =
    known.get(key) ?? Promise.resolve(answers({ provider, method, path, query, body, nowMs: NOW_MS })).then((found) => found?.body);
  known.set(key, answer);
  return answer;
}

/** Guarded providers whose answers are those of the simulated market, changed. */
function createMutatedProviders(mutation?: (request: ProviderRequest, body: Body, id: ProviderId) => Body) {
  const providers = createProviders({
    urls: parseProviderUrls(''),
    log: createLog({ level: 'silent', secrets: [] }),
    now: () => NOW_MS,
    timing: { attempts: 1, minIntervalMs: 0 },
  });
  for (const id of PROVIDER_IDS) {
    const provider = providers[id];
    providers[id].request = (request) =>
      provider.call(request.path, async () => {
        const copy = structuredClone(await readAnswer(id, request));
        return { body: mutation ? mutation(request, copy, id) : copy, receivedAtMs: NOW_MS, providerAtMs: NOW_MS };
      });
  }
  return providers;
}

function applyMutation({ path, mutate, at }: Mutation) {
  let requests = 0;
  return createMutatedProviders((request, body, id) => {
    const shape = findShape(request.path);
    if (!shape?.rows || request.path !== path || (at !== -1 && requests++ > 0)) return body;
    const text = TEXTS[id];
    const rows = text ? text.split(body) : shape.rows(body);
    if (at === -1) for (let index = rows.length - 1; index >= 0; index--) mutate(rows, index);
    else mutate(rows, rows.length - 7);
    return text ? text.join(rows as string[][], body) : body;
  });
}

type Result = { day: number }[];
interface Case {
  name: string;
  provider: ProviderId;
  fetch(provider: Provider): Promise<Result>;
}

const SOURCES: Case[] = [
  ...Object.entries(SERIES_PLANS).flatMap(([series, { sources }]) =>
    sources.map((source) => {
      const range = { from: Math.max(RANGE.from, 'days' in source.history ? TODAY - source.history.days : 0), to: RANGE.to };
      return {
        name: `${series} of ${source.provider}`,
        provider: source.provider,
        fetch: (provider: Provider) => source.fetch(provider, range),
      };
    }),
  ),
  ...createEtfSources(undefined).map((source) => ({
    name: `etfFlow of ${source.provider}`,
    provider: source.provider,
    fetch: (provider: Provider) => source.fetch(provider, { from: TODAY - 28, to: TODAY }),
  })),
  ...VENUE_SOURCES.map((source) => ({
    name: `candles of ${source.provider}`,
    provider: source.provider,
    fetch: (provider: Provider) => source.fetchCandles(provider, RANGE),
  })),
];

const byDay = (values: Result) => new Map(values.map((value) => [value.day, JSON.stringify(value)]));

describe.each(SOURCES)('$name', ({ provider, fetch }) => {
  const paths: string[] = [];
  const record = createMutatedProviders((request, body) => {
    paths.push(request.path);
    return body;
  });
  const whole = fetch(record[provider]);

  /** The days of which the result differs, and the health of the provider. */
  async function run(mutation: Mutation) {
    const providers = applyMutation(mutation);
    const [before, after] = [byDay(await whole), byDay(await fetch(providers[provider]))];
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter((day) => before.get(day) !== after.get(day));
    return { changed, ...providers[provider].health() };
  }

  it('has a shape for each of its answers', async () => {
    expect((await whole).length).toBeGreaterThan(0);
    for (const path of paths) expect(findShape(path), path).toBeDefined();
    expect(record[provider].health()).toMatchObject({ rowsLeftOut: 0, lastLeftOut: null });
  });

  it('loses a row to each mutation of it, counts it, and keeps the others as they are', async () => {
    await whole;
    for (const path of new Set(paths)) {
      const { rows, field, absent = [] } = findShape(path)!;
      if (rows === null) continue;
      for (const [name, value] of Object.entries({ null: null, empty: '', object: {}, text: 'n/a', list: [] })) {
        const isText = provider in TEXTS;
        if (isText && typeof value !== 'string') continue;
        const isAbsent = absent.includes(value) || (isText && value === '');
        const one = await run({ path, mutate: (all, at) => setField(all, at, field, value) });
        expect(one.changed.length, `${path} ${name}`).toBeLessThanOrEqual(1);
        // An empty cell of a fund leaves a total that is not the sum.
        if (!isAbsent)
          expect(one, `${path} ${name}`).toMatchObject({ rowsLeftOut: 1, failures: 0, lastLeftOut: expect.stringContaining(one.title) });
        else if (!isText || provider === 'fred') expect(one.rowsLeftOut, `${path} ${name}`).toBe(0);
      }
      if (field === undefined || provider in TEXTS) continue;
      for (const [name, mutate] of Object.entries(ROW_MUTATIONS)) {
        const one = await run({ path, mutate: (all, at) => mutate(all, at, field) });
        expect(one.changed.length, `${path} ${name}`).toBeLessThanOrEqual(1);
        expect(one, `${path} ${name}`).toMatchObject({ rowsLeftOut: 1, failures: 0 });
      }
    }
  });

  it('takes a repeated row once', async () => {
    await whole;
    for (const path of new Set(paths)) {
      const { rows, isPositional } = findShape(path)!;
      if (rows === null) continue;
      const mutation: Mutation = { path, mutate: (all, at) => void all.splice(at, 0, structuredClone(all[at])) };
      if (isPositional) await expect(run(mutation), path).rejects.toMatchObject({ code: 'FEED_INVALID' });
      else expect(await run(mutation), path).toMatchObject({ changed: [], rowsLeftOut: 0, failures: 0 });
    }
  });

  it('is a failure when no row is valid, or the answer has another type', async () => {
    await whole;
    for (const path of new Set(paths)) {
      const { rows, field } = findShape(path)!;
      const failure = { code: expect.stringMatching(/^FEED_(INVALID|UNAVAILABLE)$/) };
      if (rows !== null)
        await expect(run({ path, mutate: (all, at) => setField(all, at, field, 'n/a'), at: -1 }), path).rejects.toMatchObject({
          code: 'FEED_INVALID',
        });
      for (const body of [null, 'moved', 17, [null], {}, '']) {
        const providers = createMutatedProviders((request, own) => (request.path === path ? body : own));
        await expect(fetch(providers[provider]), `${path} ${JSON.stringify(body)}`).rejects.toMatchObject(failure);
        expect(providers[provider].health()).toMatchObject({ failures: 1, rowsLeftOut: 0 });
      }
    }
  });
});

describe.each(VENUE_SOURCES)('the ticker of $provider', (venue) => {
  it('never returns a price from a changed answer', async () => {
    const whole = await venue.fetchTicker(createMutatedProviders()[venue.provider]);
    for (const value of [null, '', {}, [], 'n/a', 0, -5]) {
      const providers = createMutatedProviders((_, body) => {
        const ticker = body.result?.XXBTZUSD ?? body;
        for (const name of ['price', 'c', 'last', 'lastPrice']) if (name in ticker) ticker[name] = value;
        return body;
      });
      await expect(venue.fetchTicker(providers[venue.provider])).rejects.toMatchObject({ code: 'FEED_INVALID' });
    }
    expect(whole.priceUsd).toBeGreaterThan(0);
  });
});

describe('strikes', () => {
  const [polymarket, kalshi] = STRIKE_SOURCES;
  const listIds = async (source: (typeof STRIKE_SOURCES)[number], providers = createMutatedProviders()) => {
    const spotUsd = (await market.spot(NOW_MS)).priceUsd;
    return (await source.fetch(providers, { spotUsd, atMs: NOW_MS })).map(({ marketId }) => marketId).sort();
  };
  const findLadder = (events: Body[]) => events.find(({ title }) => title?.startsWith('Bitcoin above') && !title.includes('ET'));

  it.each<[string, unknown]>([
    ...['id', 'question', 'conditionId', 'endDate', 'outcomes', 'outcomePrices', 'clobTokenIds'].flatMap((field): [string, unknown][] => [
      [field, null],
      [field, undefined],
      [field, 7],
    ]),
    ['clobTokenIds', ''],
    ['clobTokenIds', '[]'],
    ['groupItemTitle', null],
    ['groupItemTitle', 7],
    ['bestBid', 'x'],
  ])('lose one market of Polymarket to its %s %j', async (field, value) => {
    let lost = '';
    const providers = createMutatedProviders(({ path, query }, body) => {
      const ladder = path === '/events' && query?.offset === 0 ? findLadder(body) : undefined;
      if (ladder) {
        lost = ladder.markets[3].id;
        ladder.markets[3][field] = value;
      }
      return body;
    });
    const left = await listIds(polymarket, providers);
    expect(left).toEqual((await listIds(polymarket)).filter((id) => id !== lost));
    expect(providers['polymarket-gamma'].health()).toMatchObject({ rowsLeftOut: 1, failures: 0 });
  });

  it.each([null, undefined, 7, {}])('lose one event of Polymarket to the title %j', async (title) => {
    let lost: string[] = [];
    const providers = createMutatedProviders(({ path, query }, body) => {
      const ladder = path === '/events' && query?.offset === 0 ? findLadder(body) : undefined;
      if (ladder) {
        lost = ladder.markets.map(({ id }: Body) => id);
        ladder.title = title;
      }
      return body;
    });
    expect(await listIds(polymarket, providers)).toEqual((await listIds(polymarket)).filter((id) => !lost.includes(id)));
    expect(providers['polymarket-gamma'].health()).toMatchObject({ rowsLeftOut: 1, lastLeftOut: expect.stringContaining('.title') });
  });

  it.each([null, [], 'gone', {}, { error: 'No orderbook exists for the requested token id' }])(
    'lose one book of Polymarket to the answer %j',
    async (answer) => {
      let books = 0;
      const providers = createMutatedProviders(({ path }, body) => (path === '/book' && ++books === 2 ? answer : body));
      expect(await listIds(polymarket, providers)).toEqual(await listIds(polymarket));
      expect(books).toBe(11);
      expect(providers['polymarket-clob'].health()).toMatchObject({ calls: 11, failures: 1 });
    },
  );

  it.each<[string, unknown]>([
    ...['floor_strike', 'close_time', 'yes_bid_dollars', 'ticker', 'status', 'title'].flatMap((field): [string, unknown][] => [
      [field, null],
      [field, undefined],
      [field, {}],
    ]),
    ['floor_strike', ''],
    ['ticker', ''],
  ])('lose one market of Kalshi to its %s %j', async (field, value) => {
    let lost = '';
    const whole = await listIds(kalshi);
    const providers = createMutatedProviders((_, body) => {
      const markets = body.events.flatMap((event: Body) => event.markets);
      const listed = markets.find(({ ticker }: Body) => ticker === whole[5]);
      if (listed) {
        lost = listed.ticker;
        listed[field] = value;
      }
      return body;
    });
    const left = await listIds(kalshi, providers);
    expect(left).not.toContain(lost);
    expect(whole.filter((id) => id !== lost).every((id) => left.includes(id))).toBe(true);
    expect(providers.kalshi.health()).toMatchObject({ rowsLeftOut: 1, failures: 0 });
  });

  it('take a repeated market once', async () => {
    const repeat = createMutatedProviders((_, body) => {
      for (const event of body.events ?? (Array.isArray(body) ? body : []))
        event.markets = [...event.markets, ...structuredClone(event.markets)];
      return body;
    });
    expect(await listIds(polymarket, repeat)).toEqual(await listIds(polymarket));
    expect(await listIds(kalshi, repeat)).toEqual(await listIds(kalshi));
  });
});
/** The formatter pads the cells of tables. */
const plain = (text: string) => text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');

describe('the registry of live sources', () => {
  it('is documented in DATA.md', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../../../docs/DATA.md'), 'utf8');
    expect(plain(text), 'run npm run docs:tables').toContain(plain(providersMarkdown()));
  });

  it('has a source for each venue, in order', () => {
    expect(VENUE_SOURCES.map(({ provider }) => provider)).toEqual([...VENUE_IDS]);
  });

  it('has a provider for every series, each once, and no unused provider', () => {
    for (const series of SERIES_IDS) {
      const ids = getProviderIds(series);
      expect(ids.length, series).toBeGreaterThan(0);
      expect(new Set(ids).size, series).toBe(ids.length);
    }
    const asked = new Set([...SERIES_IDS.flatMap(getProviderIds), ...STRIKE_SOURCES.flatMap(({ providers }) => providers)]);
    expect([...asked].sort()).toEqual([...PROVIDER_IDS].sort());
  });
});
