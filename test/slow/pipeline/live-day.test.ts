import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Chain } from '../../../src/chain/client.ts';
import { type Day, formatDay, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { PROVIDER_IDS, type ProviderId } from '../../../src/market/live/provider.ts';
import { createMarket } from '../../../src/market/market.ts';
import { runStep } from '../../../src/pipeline/pipeline.ts';
import { checkReadiness, readServiceStatus } from '../../../src/pipeline/status.ts';
import type { StepName } from '../../../src/pipeline/step-runs.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { hostedMarket, startLiveHost } from '../../support/market/live-host.ts';
import type { ProviderHost } from '../../support/market/provider-host.ts';
import { VENUE_FACTORS } from '../../support/provider-data/venues.ts';
import { attestedOnChain, type TestService, testService } from '../../support/service/service.ts';

const DAY = parseDay('2026-03-11');

let host: ProviderHost;
let service: TestService;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: toInstantMs(DAY, 21, 20) });
  host = await startLiveHost(() => Date.now());
  // The chain starts a day ago, and no day is replayed.
  service = await testService(1, { FEEDS: 'live', PROVIDER_URLS: host.providerUrls });
  expect(await service.live!.fetchHistory(() => {})).toEqual([]);
  await collect();
});
afterAll(async () => {
  vi.useRealTimers();
  await service?.stop();
  await host?.close();
});

async function collect(): Promise<void> {
  await service.live!.collectPrices();
  await service.live!.collect();
}

/** Moves every clock of the service, including the chain's. */
async function moveTo(day: Day, hours: number, minutes: number): Promise<void> {
  vi.setSystemTime(toInstantMs(day, hours, minutes));
  await service.infrastructure.localChain!.setNextBlockTime(Date.now());
}

/** Without retries, so that a dead provider costs no time. */
function kill(ids: readonly ProviderId[]): void {
  for (const id of ids) host.fault(id, 'unavailable-for-legal-reasons');
}

function heal(ids: readonly ProviderId[]): void {
  for (const id of ids) host.heal(id);
}

const run = (step: StepName, day: Day) => runStep(service.pipeline, step, day, contextAt(Date.now()));

/** Quorum of three venues without Kraken, in cents: Coinbase is the median. */
async function closeWithoutKraken(day: Day): Promise<number> {
  const { days, values } = await hostedMarket.observations('btcClose', toInstantMs(day + 1));
  return Math.round(values[day - days[0]] * VENUE_FACTORS.coinbase * 100);
}

/** Forecasts and attests a day with every provider available. */
async function commit(day: Day): Promise<void> {
  await moveTo(day, 21, 37);
  await collect();
  expect(await run('signal', day)).toEqual({ done: expect.stringContaining('forecast at') });
  await moveTo(day, 21, 38);
  expect(await run('attest', day)).toEqual({ done: `committed ${formatDay(day)}` });
}

it('the signal step waits for a price, reports it, and commits once the feeds are back', async () => {
  kill(PROVIDER_IDS);
  await moveTo(DAY, 21, 36);
  await collect();
  const reason = expect.stringMatching(/last price .* is 16 minutes old/);
  expect(await run('signal', DAY)).toEqual({ waiting: reason });
  expect(await service.pipeline.record.findDay(DAY)).toBeNull();
  expect(await service.http.status()).toMatchObject({
    ready: false,
    steps: [{ step: 'signal', date: '2026-03-11', state: 'waiting', reason }],
    market: {
      providers: expect.arrayContaining([expect.objectContaining({ title: 'Kraken', lastError: expect.stringContaining('451') })]),
    },
  });

  heal(PROVIDER_IDS);
  await commit(DAY);
  expect(await attestedOnChain(service, 'prediction')).toBe(HORIZONS.length);
  await moveTo(DAY, 21, 42);
  expect(await run('wager', DAY)).toEqual({ done: expect.stringMatching(/^(PLACED|SKIPPED: )/) });
  const forecast = (await service.pipeline.record.findDay(DAY))!;
  const { priceUsd } = await hostedMarket.spot(toInstantMs(DAY, 21, 37));
  expect(Math.abs(forecast.price!.cents / 100 / priceUsd - 1)).toBeLessThan(0.001);
});

it('no outcome is decided from two venues; one of three venues stands whatever the fourth reports later', async () => {
  const { pipeline, live } = service;
  const day = DAY + 1;
  await commit(day);
  for (const [step, over] of [
    ['open-window', day],
    ['resolve', day + HORIZONS[0]],
  ] as const) {
    kill(['kraken', 'bitstamp']);
    await moveTo(over + 1, 0, 10);
    await collect();
    expect(await run(step, over + 1), step).toEqual({ waiting: expect.stringContaining('2 of the required 3 venues') });

    heal(['bitstamp']);
    await moveTo(over + 1, 0, 20);
    await collect();
    expect(await run(step, over + 1), step).toEqual({ done: expect.stringMatching(/^\d+ (closes|forecasts)/) });
    const used = await pipeline.market.dailyClose(over, Date.now());
    expect(Math.round(used.priceUsd * 100), step).toBe(await closeWithoutKraken(over));
    expect(used.venues, step).toEqual(['coinbase', 'bitstamp', 'binance']);

    heal(['kraken']);
    await moveTo(over + 1, 2, 0);
    await collect();
    expect((await live!.feed.dailyCloses(over, Date.now())).every(({ priceUsd }) => priceUsd !== null)).toBe(true);
    const restarted = createMarket(live!.feed, { pinClose: (close) => live!.stores.closes.pin(close) });
    expect(await restarted.dailyClose(over, Date.now()), step).toEqual(used);
  }
  const { resolution } = pipeline.record.known.listByHorizon(HORIZONS[0]).find((doc) => doc.day === day)!;
  expect(resolution).toMatchObject({
    btcAtSignalCents: await closeWithoutKraken(day),
    btcAtResolutionCents: await closeWithoutKraken(day + HORIZONS[0]),
    venues: ['coinbase', 'bitstamp', 'binance'],
  });
});

it('the status page queries the chain in parallel when each call takes its full timeout', async () => {
  const all = Promise.withResolvers<void>();
  let questions = 3;
  const asked = async () => {
    questions -= 1;
    if (questions === 0) all.resolve();
    await all.promise;
  };
  const getBlock = () => asked().then(() => ({ number: 7n, timestamp: BigInt(Math.floor(Date.now() / 1000)) }));
  const chain = { client: { getBlock } } as unknown as Chain;
  const context = { ...service.pipeline, chain, now: () => new Date() };
  const status = await readServiceStatus(context, {
    ...{ version: '1', feedReason: null, schedule: () => null, payments: async () => [] },
    walletFunds: () => asked().then(() => []),
    readiness: () => checkReadiness(context, () => null, null),
  });
  expect(status).toMatchObject({ chain: { blockNumber: 7, error: null }, wallets: [] });
  expect(status.checks.find(({ name }) => name === 'chain')).toMatchObject({ ok: true });
});
