import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { getSignalTimeMs } from '../../../../src/market/feed.ts';
import type { LiveMarket } from '../../../../src/market/live/live-market.ts';
import { PROVIDER_IDS } from '../../../../src/market/live/provider.ts';
import { LIVE_INDEXES } from '../../../../src/market/live/store.ts';
import { createMarket } from '../../../../src/market/market.ts';
import { SERIES_IDS } from '../../../../src/market/series.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { hostedMarket, openHostedMarket, startLiveHost } from '../../../support/market/live-host.ts';
import type { ProviderHost } from '../../../support/market/provider-host.ts';
import { toReleaseDay } from '../../../support/provider-data/macro.ts';
import { describeFeedContract } from '../../../unit/market/feed-contract.ts';

const TODAY = parseDay('2026-03-11');
let host: ProviderHost;
let database: TestDatabase;
let live: LiveMarket;
const clock = { ms: toInstantMs(TODAY, 15) };

const now = () => clock.ms;
const log = createLog({ level: 'silent', secrets: [] });
const open = (db = database.db) => openHostedMarket({ host, db, log, now });

beforeAll(async () => {
  host = await startLiveHost(now);
  database = await testDatabase();
  await ensureIndexes(database.db, LIVE_INDEXES);
  live = open();
  expect(await live.fetchHistory(() => {})).toEqual([]);
  await live.collectPrices();
  await live.collect();
});
afterAll(async () => {
  await host.close();
  await database.drop();
});

describe('live data', () => {
  it('equals the data of the providers, series by series', async () => {
    for (const series of SERIES_IDS) {
      const [expected, had] = [await hostedMarket.observations(series, clock.ms), await live.feed.observations(series, clock.ms)];
      const truth = new Map([...expected.days].map((day, index) => [series === 'pmi' ? toReleaseDay(day) : day, expected.values[index]]));
      const recent = [...had.days].slice(-200);
      expect(recent.length, series).toBeGreaterThan(series === 'perpBasis' ? -1 : 5);
      for (const [index, day] of recent.entries()) {
        const value = had.values[had.days.length - recent.length + index];
        expect(Math.abs(value / truth.get(day)! - 1), `${series} ${day}`).toBeLessThan(0.01);
      }
    }
  });

  it('has the price and the agreed closes of the venues', async () => {
    const { priceUsd } = await hostedMarket.spot(clock.ms);
    expect(Math.abs((await live.feed.spot(clock.ms)).priceUsd / priceUsd - 1)).toBeLessThan(0.001);
    const market = createMarket(live.feed);
    expect((await market.dailyClose(TODAY - 1, clock.ms)).venues).toHaveLength(4);
  });

  it('has fund flows that add up, and strikes near the money of both markets', async () => {
    const funds = Object.values(await live.feed.fundFlows(clock.ms));
    const { days, values } = await live.feed.observations('etfFlow', clock.ms, 'latest');
    const last = days.at(-1)!;
    const sum = funds.reduce((total, flow) => total + (flow.days.at(-1) === last ? flow.values.at(-1)! : 0), 0);
    expect(sum).toBeCloseTo(values.at(-1)!, 1);
    const strikes = await live.feed.strikes(clock.ms);
    expect(new Set(strikes.map(({ venue }) => venue))).toEqual(new Set(['polymarket', 'kalshi']));
  });

  it('returns the same inputs and digest in another process', async () => {
    const digest = async (market: LiveMarket) => (await createMarket(market.feed).inputs(TODAY - 3, getSignalTimeMs(TODAY - 3))).digest;
    expect(await digest(open())).toBe(await digest(live));
  });

  it('sends no request for stored history', async () => {
    const asked = () => PROVIDER_IDS.reduce((sum, id) => sum + host.requests(id).length, 0);
    const before = asked();
    await live.fetchHistory(() => {});
    await live.collect();
    expect(asked()).toBe(before);
  });
});

describeFeedContract('live data', async () => open().feed, TODAY - 2);
