import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../src/forecast/day.ts';
import { isNewYorkNoon, isWeeklyStrike, selectWeeklyStrikes } from '../../../../src/market/feed.ts';
import { createProviders, parseProviderUrls } from '../../../../src/market/live/providers.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { parseBook, parseGammaEvents, polymarketStrikes } from '../../../../src/market/sources/polymarket.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { answersOf, type Fault, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { strikesAnswers } from '../../../support/provider-data/strikes.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createRowReader } from './test-providers.ts';

const RECEIVED = Date.parse('2026-03-11T10:00:00Z');

// biome-ignore lint/suspicious/noExplicitAny: samples are looked into as they are
const sample = (name: string): any => JSON.parse(readFileSync(sharedPath('data/api-samples', name), 'utf8'));

/** A ladder of one strike of this test's own making. */
function event(changes: Record<string, unknown> = {}) {
  const market = {
    id: '17',
    question: 'Bitcoin above 50,000 on March 13?',
    groupItemTitle: '50,000',
    description: 'Resolves by\u0000 the\n\n minute  candle.',
    conditionId: `0x${'ab'.repeat(32)}`,
    endDate: '2026-03-13T16:00:00Z',
    updatedAt: '2026-03-11T09:59:30.5Z',
    outcomes: '["Yes", "No"]',
    outcomePrices: '["0.62", "0.38"]',
    clobTokenIds: '["111", "222"]',
    bestBid: 0.61,
    bestAsk: 0.64,
    lastTradePrice: 0.6,
    orderPriceMinTickSize: 0.01,
    orderMinSize: 5,
    negRisk: false,
    closed: false,
    acceptingOrders: true,
    ...changes,
  };
  return { title: 'Bitcoin above ___ on March 13?', slug: 'bitcoin-above-on-march-13', markets: [market] };
}

const readEvents = (events: unknown, reader = createRowReader('Polymarket')) => parseGammaEvents(events, reader, RECEIVED).strikes;
const read = (changes?: Record<string, unknown>, reader = createRowReader('Polymarket')) => readEvents([event(changes)], reader);

describe('parseGammaEvents', () => {
  it('returns tokens, prices and time', () => {
    expect(read()).toEqual([
      {
        venue: 'polymarket',
        marketId: '17',
        question: 'Bitcoin above 50,000 on March 13?',
        resolution: 'Resolves by the minute candle.',
        strikeUsd: 50_000,
        expiresAtMs: Date.parse('2026-03-13T16:00:00Z'),
        bid: 0.61,
        ask: 0.64,
        lastPrice: 0.6,
        bids: [],
        asks: [],
        tickSize: 0.01,
        minOrderSize: 5,
        negRisk: false,
        conditionId: `0x${'ab'.repeat(32)}`,
        yesTokenId: '111',
        noTokenId: '222',
        url: 'https://polymarket.com/event/bitcoin-above-on-march-13',
        providerAtMs: RECEIVED - 29_500,
        receivedAtMs: RECEIVED,
      },
    ]);
  });

  it('maps tokens by the order of the outcomes', () => {
    const [strike] = read({ outcomes: '["No", "Yes"]', lastTradePrice: undefined });
    expect(strike).toMatchObject({ yesTokenId: '222', noTokenId: '111', lastPrice: 0.38 });
  });

  it.each([
    ['50,000', 'of no use', 50_000],
    ['$50k', 'of no use', 50_000],
    ['99,500.5', 'of no use', 99_500.5],
    [undefined, 'Will the price of Bitcoin be above $1,050,000 on March 13?', 1_050_000],
    ['', 'Will Bitcoin be above 96.5k on March 13?', 96_500],
  ])('parses the strike of "%s", or of the question', (groupItemTitle, question, strikeUsd) => {
    expect(read({ groupItemTitle, question })).toMatchObject([{ strikeUsd }]);
  });

  it('truncates venue texts and removes invisible characters', () => {
    const [{ question, resolution }] = read({ question: `a\u202E\u200Bb\u001B[31m ${'q'.repeat(900)}`, description: 'r'.repeat(900) });
    expect(question).toMatch(/^a b \[31m q+$/);
    expect([question.length, resolution.length]).toEqual([200, 500]);
  });

  it('returns null without an offer', () => {
    expect(read({ bestBid: undefined, bestAsk: 1 })).toMatchObject([{ bid: null, ask: null }]);
    expect(read({ bestBid: 0, bestAsk: null })).toMatchObject([{ bid: null, ask: null }]);
  });

  it('excludes closed markets and events that are no ladders', () => {
    expect(read({ closed: true, outcomes: 7 })).toEqual([]);
    expect(read({ acceptingOrders: false, clobTokenIds: undefined })).toEqual([]);
    for (const title of ['What price will Bitcoin hit on March 13?', 'Bitcoin Up or Down', 'Ethereum above ___ on March 13?']) {
      expect(readEvents([{ title, markets: 'anything' }])).toEqual([]);
    }
  });

  it.each([
    ['outcomes', ['Yes', 'No']],
    ['outcomes', '["Up", "Down"]'],
    ['outcomePrices', '["0.62"]'],
    ['outcomePrices.0', '["", "0.38"]'],
    ['outcomePrices.1', '["0.62", "38"]'],
    ['clobTokenIds', undefined],
    ['clobTokenIds', 'broken ['],
    ['clobTokenIds.0', '["0xff", "222"]'],
    ['groupItemTitle', 'fifty thousand'],
    ['endDate', 'March 13'],
    ['conditionId', 'ab'],
    ['bestBid', '0.61'],
    ['id', 17],
  ])('leaves out a market with a changed %s (%j)', (field, value) => {
    const reader = createRowReader('Polymarket');
    expect(read({ question: 'no number', [field.split('.')[0]]: value }, reader)).toEqual([]);
    expect(reader.leftOut).toEqual([{ field, message: expect.stringContaining(field) }]);
  });

  it('throws FEED_INVALID for changed events', () => {
    expect(() => readEvents([{ name: 'Bitcoin above ___' }])).toThrow(expect.objectContaining({ field: '0.title' }));
    expect(() => readEvents({ error: 'gone' })).toThrow(expect.objectContaining({ code: 'FEED_INVALID' }));
  });
});

describe('parseBook', () => {
  const [strike] = read();
  const level = (price: string, size = '10') => ({ price, size });
  const book = {
    timestamp: String(RECEIVED - 900),
    bids: ['0.40', '0.41', '0.55', '0.56', '0.57', '0.58'].map((price) => level(price)),
    asks: [level('0.70'), level('0.63', '25.5'), level('0.62', '0')],
    min_order_size: '15',
    tick_size: '0.001',
    neg_risk: true,
    last_trade_price: '0.59',
  };

  it('returns at most five levels of each side, best first', () => {
    const priced = parseBook(book, strike, 'Polymarket order book');
    expect(priced).toMatchObject({ bid: 0.58, ask: 0.63, lastPrice: 0.59, tickSize: 0.001, minOrderSize: 15, negRisk: true });
    expect(priced.bids.map(({ price }) => price)).toEqual([0.58, 0.57, 0.56, 0.55, 0.41]);
    expect(priced.asks).toEqual([
      { price: 0.63, size: 25.5 },
      { price: 0.7, size: 10 },
    ]);
    expect(priced).toMatchObject({ marketId: '17', strikeUsd: 50_000, providerAtMs: RECEIVED - 900, receivedAtMs: RECEIVED });
  });

  it('returns null prices for an empty book, whatever the listing has', () => {
    const priced = parseBook({ timestamp: '5', bids: [], asks: [], last_trade_price: '' }, strike, 'Polymarket order book');
    expect(priced).toMatchObject({ bid: null, ask: null, bids: [], asks: [], lastPrice: 0.6, tickSize: 0.01 });
  });

  it.each([
    ['bids', undefined],
    ['asks.0.price', [level('')]],
    ['asks.0.price', [level('1.2')]],
    ['bids.0.size', [{ price: '0.5', size: 10 }]],
    ['timestamp', 'yesterday'],
  ])('throws FEED_INVALID naming a changed %s', (field, value) => {
    expect(() => parseBook({ ...book, [field.split('.')[0]]: value }, strike, 'Polymarket order book')).toThrow(
      expect.objectContaining({ code: 'FEED_INVALID', field }),
    );
  });
});

describeWithShared('real answers of Polymarket', () => {
  it('parses a recorded ladder', () => {
    const body = sample('polymarket_gamma_event_btc_above_hourly.json');
    const strikes = readEvents(body);
    expect(strikes).toHaveLength(body[0].markets.length);
    for (const [index, strike] of strikes.entries()) {
      const listedMarket = body[0].markets[index];
      expect(strike).toMatchObject({
        marketId: listedMarket.id,
        strikeUsd: Number(listedMarket.groupItemTitle.replace(',', '')),
        expiresAtMs: Date.parse(listedMarket.endDate),
        bid: null,
        ask: listedMarket.bestAsk,
        lastPrice: Number(JSON.parse(listedMarket.outcomePrices)[0]),
        yesTokenId: JSON.parse(listedMarket.clobTokenIds)[0],
        tickSize: listedMarket.orderPriceMinTickSize,
      });
      expect(isWeeklyStrike(strike)).toBe(false);
    }
  });

  it('parses a recorded older ladder with the strike in the question', () => {
    const body = sample('polymarket_gamma_event_btc_above_daily_2025.json');
    // The capture is abridged.
    for (const market of body.markets) market.clobTokenIds = '["1", "2"]';
    const [strike] = readEvents([body]);
    expect(strike.strikeUsd).toBe(Number(/\$([\d,]+)/.exec(body.markets[0].question)![1].replace(',', '')));
    expect(isNewYorkNoon(strike.expiresAtMs)).toBe(true);
  });

  it('parses a recorded book with the best level last', () => {
    const body = sample('polymarket_clob_book.json');
    const priced = parseBook(body, read()[0], 'Polymarket order book');
    expect(priced.bid).toBe(Number(body.bids.at(-1).price));
    expect(priced.ask).toBe(Number(body.asks.at(-1).price));
    expect(priced.bids).toHaveLength(body.bids.length);
    expect(priced.providerAtMs).toBe(Number(body.timestamp));
  });
});

describe('polymarketStrikes', () => {
  const market = openSimulatedFeed({ seed: 2 });
  let host: ProviderHost | undefined;
  afterEach(() => host?.close());

  async function ask(atMs: number, faults: { gamma?: Fault; clob?: Fault } = {}) {
    host = await startProviderHost(answersOf(market, [strikesAnswers]), () => atMs);
    if (faults.gamma) host.fault('polymarket-gamma', faults.gamma);
    if (faults.clob) host.fault('polymarket-clob', faults.clob);
    const timing = { backoffMinMs: 1, backoffMaxMs: 2, minIntervalMs: 0 };
    const urls = parseProviderUrls(host.providerUrls);
    const providers = createProviders({ urls, log: createLog({ level: 'silent', secrets: [] }), now: () => atMs, timing });
    const { priceUsd: spotUsd } = await market.spot(atMs);
    return { spotUsd, strikes: await polymarketStrikes.fetch(providers, { spotUsd, atMs }) };
  }

  it.each(['2026-03-04T08:00:00Z', '2026-03-06T20:00:00Z', '2026-07-02T12:30:00Z', '2026-11-01T03:00:00Z'])(
    'finds the daily ladders among all else, and the books of the weekly one nearest to the money, at %s',
    async (at) => {
      const atMs = Date.parse(at);
      const { spotUsd, strikes } = await ask(atMs);
      const expiries = new Set(strikes.map(({ expiresAtMs }) => expiresAtMs));
      expect(expiries.size).toBeGreaterThanOrEqual(8);
      for (const expiry of expiries) expect(isNewYorkNoon(expiry) && expiry > atMs).toBe(true);
      expect(new Set(strikes.map(({ marketId }) => marketId)).size).toBe(strikes.length);

      const weekly = selectWeeklyStrikes(strikes, atMs);
      expect(new Date(weekly[0].expiresAtMs).getUTCDay()).toBe(5);
      expect(weekly[0].expiresAtMs - atMs).toBeGreaterThan(DAY_MS);
      expect(weekly[0].expiresAtMs - atMs).toBeLessThan(9 * DAY_MS);
      const distance = ({ strikeUsd }: { strikeUsd: number }) => Math.abs(strikeUsd - spotUsd);
      const nearest = weekly.toSorted((a, b) => distance(a) - distance(b)).slice(0, 11);
      const withBooks = strikes.filter(({ bids, asks }) => bids.length + asks.length > 0);
      expect(new Set(withBooks)).toEqual(new Set(nearest));
      expect(host!.requests('polymarket-clob')).toHaveLength(11);
      expect(host!.requests('polymarket-gamma').map(({ query }) => query.get('offset'))).toEqual(['0', '50', '100', expect.anything()]);
      for (const { bid, ask, bids, asks } of withBooks) {
        expect(bid).toBe(bids[0]?.price ?? null);
        expect(ask).toBe(asks[0]?.price ?? null);
        if (bid !== null && ask !== null) expect(bid).toBeLessThan(ask);
      }
    },
  );

  const AT = Date.parse('2026-03-04T08:00:00Z');

  it.each(['server-error', 'changed-shape'] as const)('keeps the listed prices when the books have a %s', async (clob) => {
    const { strikes } = await ask(AT, { clob });
    const weekly = selectWeeklyStrikes(strikes, AT);
    expect(weekly.length).toBeGreaterThan(10);
    expect(weekly.every(({ bids, asks }) => bids.length + asks.length === 0)).toBe(true);
    expect(weekly.some(({ bid, ask }) => bid !== null && ask !== null)).toBe(true);
  });

  it.each([
    ['gamma', 'empty', 'FEED_UNAVAILABLE', /Polymarket: no strikes/],
    ['gamma', 'stale', 'FEED_UNAVAILABLE', /Polymarket: no strikes/],
    ['gamma', 'changed-shape', 'FEED_INVALID', /Polymarket: 0\.title/],
    ['gamma', 'down', 'FEED_UNAVAILABLE', /Polymarket/],
  ] as const)('throws the error of %s when it is %s', async (provider, fault, code, message) => {
    await expect(ask(AT, { [provider]: fault })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
