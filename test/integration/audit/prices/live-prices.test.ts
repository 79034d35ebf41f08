import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRecordPrices } from '../../../../src/cli/audit.ts';
import { type Day, toDay, toInstantMs } from '../../../../src/forecast/day.ts';
import type { Feed } from '../../../../src/market/feed.ts';
import { openSimulatedFeed } from '../../../../src/market/simulated.ts';
import { answersOf, type ProviderHost, startProviderHost } from '../../../support/market/provider-host.ts';
import { VENUE_FACTORS, venuesAnswers } from '../../../support/provider-data/venues.ts';

const TODAY = toDay(Date.parse('2026-03-05T12:00:00Z'));
const now = new Date(toInstantMs(TODAY, 12));

let market: Feed;
let host: ProviderHost;
beforeAll(async () => {
  market = openSimulatedFeed();
  host = await startProviderHost(answersOf(market, [venuesAnswers]), () => now.getTime());
});
afterAll(() => host.close());

const prices = () => openRecordPrices('live', { feeds: 'live', providerUrls: host.providerUrls, now });

async function closeOf(day: Day): Promise<number> {
  const { days, values } = await market.observations('btcClose', now.getTime());
  return values[day - days[0]];
}

describe('livePrices', () => {
  it('returns the median of three over several pages', async () => {
    const days = Array.from({ length: 400 }, (_, index) => TODAY - 400 + index);
    const audited = await prices();
    const closes = await audited.closes(days);
    expect(audited).toMatchObject({ source: 'median of Coinbase, Kraken, Bitstamp', toleranceBps: 100, endsOn: null });
    expect(closes.size).toBe(400);
    for (const day of [days[0], days[250], days[399]]) expect(closes.get(day)).toBeCloseTo(await closeOf(day), 1);
    expect(host.requests('coinbase')).toHaveLength(2);
  });

  it('excludes the running day', async () => {
    expect([...(await (await prices()).closes([TODAY - 1, TODAY])).keys()]).toEqual([TODAY - 1]);
    expect(await (await prices()).closes([TODAY])).toEqual(new Map());
  });

  it('uses two venues without the third', async () => {
    const day = TODAY - 1_000;
    const middle = ((await closeOf(day)) * (VENUE_FACTORS.coinbase + VENUE_FACTORS.bitstamp)) / 2;
    expect((await (await prices()).closes([day])).get(day)).toBeCloseTo(middle, 1);
  });

  it('throws FEED_UNAVAILABLE naming venues when only one responds', async () => {
    host.fault('coinbase', 'server-error');
    host.fault('kraken', 'changed-shape');
    await expect((await prices()).closes([TODAY - 1])).rejects.toMatchObject({
      code: 'FEED_UNAVAILABLE',
      message: expect.stringMatching(/Coinbase: HTTP 503; Kraken: /),
    });
    host.heal('kraken');
    expect((await (await prices()).closes([TODAY - 1])).size).toBe(1);
    host.heal('coinbase');
  });
});
