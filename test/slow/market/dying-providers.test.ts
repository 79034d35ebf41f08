import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Day, HOUR_MS, MINUTE_MS, parseDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import type { LiveMarket } from '../../../src/market/live/live-market.ts';
import { PROVIDER_IDS } from '../../../src/market/live/provider.ts';
import { LIVE_INDEXES } from '../../../src/market/live/store.ts';
import { createMarket } from '../../../src/market/market.ts';
import { SERIES_IDS } from '../../../src/market/series.ts';
import { getProviderIds } from '../../../src/market/sources/registry.ts';
import { createLog } from '../../../src/platform/log.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { openHostedMarket, startLiveHost } from '../../support/market/live-host.ts';
import type { ProviderHost } from '../../support/market/provider-host.ts';

const TODAY = parseDay('2026-03-11');
let host: ProviderHost;
const clock = { ms: toInstantMs(TODAY, 15) };
const lines: { level: number; msg: string; provider?: string; feed?: string }[] = [];

const now = () => clock.ms;
const log = createLog({ level: 'info', secrets: [], write: (line) => lines.push(JSON.parse(line)) });
const open = (db: TestDatabase['db']) => openHostedMarket({ host, db, log, now });

beforeAll(async () => {
  host = await startLiveHost(now);
});
afterAll(() => host.close());

describe('providers that die one after the other', () => {
  let own: TestDatabase;
  beforeEach(async () => {
    own = await testDatabase();
    await ensureIndexes(own.db, LIVE_INDEXES);
    lines.length = 0;
  });
  afterEach(async () => {
    for (const id of PROVIDER_IDS) host.heal(id);
    clock.ms = toInstantMs(TODAY, 15);
    await own.drop();
  });

  /** One hour of the collector. */
  async function hour(market: LiveMarket): Promise<void> {
    for (let minute = 0; minute < 60; minute += 5) {
      await market.collectPrices();
      await market.collect();
      clock.ms += 5 * MINUTE_MS;
    }
  }

  it('lose nothing, are logged once each, and recover', async () => {
    const market = open(own.db);
    await market.fetchHistory(() => {});
    await hour(market);
    const lengths = async () => Promise.all(SERIES_IDS.map(async (id) => (await market.feed.observations(id, clock.ms)).days.length));
    const before = await lengths();
    for (const id of PROVIDER_IDS) {
      host.fault(id, 'down');
      await hour(market);
    }
    const after = await lengths();
    for (const [index, id] of SERIES_IDS.entries()) expect(after[index], id).toBeGreaterThanOrEqual(before[index]);
    const logged = lines.filter(({ msg }) => msg === 'provider failing').map(({ provider }) => provider);
    expect(new Set(logged).size).toBe(logged.length);
    expect(lines.length).toBeLessThan(4 * PROVIDER_IDS.length);
    await expect(createMarket(market.feed).spot(clock.ms)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });

    for (const id of PROVIDER_IDS) host.heal(id);
    clock.ms = toInstantMs(toDay(clock.ms) + 1, 15);
    await hour(market);
    expect((await createMarket(market.feed).spot(clock.ms)).priceUsd).toBeGreaterThan(0);
    await market.collect();
    const closes = await market.feed.observations('btcClose', clock.ms);
    expect(closes.days.at(-1)).toBe(toDay(clock.ms) - 1);
    const circuits = new Map((await market.feed.providerHealth()).map(({ provider, circuit }) => [provider, circuit]));
    for (const series of SERIES_IDS) expect(circuits.get(getProviderIds(series)[0]), series).toBe('closed');
  });

  it('leave a first start without history, which goes on when they are back', async () => {
    for (const id of PROVIDER_IDS) host.fault(id, 'server-error');
    const market = open(own.db);
    const missing = await market.fetchHistory(() => {});
    expect(missing.filter(({ required }) => required).length).toBe(2);
    await expect(createMarket(market.feed).inputs(TODAY, clock.ms)).rejects.toMatchObject({ code: 'PRICE_UNAVAILABLE' });
    for (const id of PROVIDER_IDS) host.heal(id);
    clock.ms += HOUR_MS;
    expect(await open(own.db).fetchHistory(() => {})).toEqual([]);
    const day: Day = TODAY - 1;
    expect((await createMarket(market.feed).inputs(day, getSignalTimeMs(day))).frame.close.length).toBeGreaterThan(5_000);
  });
});
