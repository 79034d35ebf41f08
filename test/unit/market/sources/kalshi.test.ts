import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createProviders, parseProviderUrls } from '../../../../src/market/live/providers.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { kalshiStrikes, parseKalshiEvents } from '../../../../src/market/sources/kalshi.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { type Answers, answersOf, type Fault, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { strikesAnswers } from '../../../support/provider-data/strikes.ts';
import { describeWithShared, sharedPath } from '../../../support/record/shared.ts';
import { createRowReader } from './test-providers.ts';

const RECEIVED = Date.parse('2026-03-11T10:00:00Z');

/** A page of one strike of this test's own making. */
function page(changes: Record<string, unknown> = {}, cursor: unknown = '') {
  const market = {
    ticker: 'KXBTCD-26MAR1117-T49999.99',
    title: 'Bitcoin price on Mar 11, 2026?',
    yes_sub_title: '$50,000 or above',
    rules_primary: 'If the average is above 49999.99,\n then Yes.',
    status: 'active',
    strike_type: 'greater',
    floor_strike: 49_999.99,
    close_time: '2026-03-11T21:00:00Z',
    yes_bid_dollars: '0.4100',
    yes_ask_dollars: '0.4300',
    last_price_dollars: '0.4200',
    ...changes,
  };
  return { cursor, events: [{ event_ticker: 'KXBTCD-26MAR1117', markets: [market] }] };
}

const read = (body: unknown, reader = createRowReader('Kalshi')) =>
  parseKalshiEvents({ body, receivedAtMs: RECEIVED, providerAtMs: RECEIVED - 700 }, reader);

describe('parseKalshiEvents', () => {
  it('returns prices, time and the next cursor', () => {
    const { strikes, cursor } = read(page({}, 'more'));
    expect(cursor).toBe('more');
    expect(strikes).toEqual([
      {
        venue: 'kalshi',
        marketId: 'KXBTCD-26MAR1117-T49999.99',
        question: 'Bitcoin price on Mar 11, 2026? $50,000 or above',
        resolution: 'If the average is above 49999.99, then Yes.',
        strikeUsd: 49_999.99,
        expiresAtMs: Date.parse('2026-03-11T21:00:00Z'),
        bid: 0.41,
        ask: 0.43,
        lastPrice: 0.42,
        bids: [],
        asks: [],
        tickSize: null,
        minOrderSize: null,
        negRisk: null,
        conditionId: null,
        yesTokenId: null,
        noTokenId: null,
        url: 'https://kalshi.com/markets/kxbtcd/bitcoin-price-abovebelow/kxbtcd-26mar1117',
        providerAtMs: RECEIVED - 700,
        receivedAtMs: RECEIVED,
      },
    ]);
  });

  it('returns null without an offer or trade', () => {
    const { strikes } = read(page({ yes_bid_dollars: '0.0000', yes_ask_dollars: '1.0000', last_price_dollars: '0.0000' }));
    expect(strikes).toMatchObject([{ bid: null, ask: null, lastPrice: null }]);
  });

  it('excludes closed markets and other market types', () => {
    expect(read(page({ status: 'finalized', floor_strike: undefined })).strikes).toEqual([]);
    expect(read(page({ strike_type: 'between', floor_strike: undefined })).strikes).toEqual([]);
  });

  it.each([
    ['floor_strike', '49999.99'],
    ['floor_strike', undefined],
    ['yes_bid_dollars', 41],
    ['yes_ask_dollars', ''],
    ['last_price_dollars', '42.00'],
    ['close_time', 1_773_262_800],
    ['strike_type', undefined],
    ['ticker', ''],
  ])('leaves out a market with a changed %s (%j)', (field, value) => {
    const reader = createRowReader('Kalshi');
    expect(read(page({ [field]: value }), reader).strikes).toEqual([]);
    expect(reader.leftOut).toEqual([{ field, message: expect.stringContaining(`Kalshi: ${field} `) }]);
  });

  it('throws FEED_INVALID without markets', () => {
    expect(() => read({ events: [{ event_ticker: 'KXBTCD-26MAR1117' }] })).toThrow(expect.objectContaining({ field: 'events.0.markets' }));
  });
});

describeWithShared('a real answer of Kalshi', () => {
  it('parses the recorded response', () => {
    const body = JSON.parse(readFileSync(sharedPath('data/api-samples', 'kalshi_events_KXBTCD.json'), 'utf8'));
    const { strikes, cursor } = read(body);
    const listedMarkets = body.events[0].markets;
    expect(cursor).toBe(body.cursor);
    expect(strikes).toHaveLength(listedMarkets.length);
    for (const [index, strike] of strikes.entries()) {
      expect(strike).toMatchObject({
        marketId: listedMarkets[index].ticker,
        strikeUsd: listedMarkets[index].floor_strike,
        expiresAtMs: Date.parse(listedMarkets[index].close_time),
        bid: Number(listedMarkets[index].yes_bid_dollars),
        ask: null,
        lastPrice: null,
      });
      expect(strike.question).toContain(listedMarkets[index].yes_sub_title);
    }
  });
});

describe('kalshiStrikes', () => {
  const market = openSimulatedFeed({ seed: 2 });
  const AT = Date.parse('2026-03-04T08:20:00Z');
  let host: ProviderHost | undefined;
  afterEach(() => host?.close());

  async function ask(answers: Answers = answersOf(market, [strikesAnswers]), fault?: Fault) {
    host = await startProviderHost(answers, () => AT);
    if (fault) host.fault('kalshi', fault);
    const timing = { backoffMinMs: 1, backoffMaxMs: 2, minIntervalMs: 0 };
    const urls = parseProviderUrls(host.providerUrls);
    const providers = createProviders({ urls, log: createLog({ level: 'silent', secrets: [] }), now: () => AT, timing });
    const { priceUsd: spotUsd } = await market.spot(AT);
    return { spotUsd, strikes: await kalshiStrikes.fetch(providers, { spotUsd, atMs: AT }) };
  }

  it('returns the strikes near the money of the next expiries', async () => {
    const { spotUsd, strikes } = await ask();
    const ladders = Map.groupBy(strikes, ({ expiresAtMs }) => expiresAtMs);
    expect([...ladders.keys()]).toEqual(
      ['2026-03-04T09:00:00Z', '2026-03-04T22:00:00Z', '2026-03-06T22:00:00Z'].map((at) => Date.parse(at)),
    );
    for (const ladder of ladders.values()) {
      expect(ladder).toHaveLength(11);
      const below = ladder.filter(({ strikeUsd }) => strikeUsd < spotUsd).length;
      expect([5, 6]).toContain(below);
    }
  });

  it('reads all pages, each strike once', async () => {
    const pages: Record<string, unknown> = {
      '': page({}, 'second'),
      second: page({ ticker: 'B', floor_strike: 51_000 }, 'third'),
      third: page({}, ''),
    };
    const { strikes } = await ask(({ query }) => ({ body: pages[query.get('cursor') ?? ''] }));
    expect(strikes.map(({ marketId }) => marketId)).toEqual(['KXBTCD-26MAR1117-T49999.99', 'B']);
    expect(host!.requests('kalshi')).toHaveLength(3);
  });

  it('stops after a maximum of pages', async () => {
    await ask(() => ({ body: page({}, 'again') }));
    expect(host!.requests('kalshi')).toHaveLength(5);
  });

  it('throws FEED_INVALID when every market is invalid', async () => {
    await expect(ask(() => ({ body: page({ floor_strike: null }) }))).rejects.toMatchObject({
      code: 'FEED_INVALID',
      field: 'floor_strike',
    });
  });

  it('excludes expired strikes', async () => {
    await expect(ask(() => ({ body: page({ close_time: '2026-03-04T08:00:00Z' }) }))).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
  });

  it.each([
    ['empty', 'FEED_UNAVAILABLE', /Kalshi: no strikes/],
    ['stale', 'FEED_UNAVAILABLE', /Kalshi: no strikes/],
    ['changed-shape', 'FEED_INVALID', /Kalshi: events /],
    ['down', 'FEED_UNAVAILABLE', /Kalshi/],
  ] as const)("throws the provider's error when it is %s", async (fault, code, message) => {
    await expect(ask(undefined, fault)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
