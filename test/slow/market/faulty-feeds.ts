import type { Db } from 'mongodb';
import { expect, vi } from 'vitest';
import { DAY_MS, type Day, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { type LiveMarket, openLiveMarket } from '../../../src/market/live/live-market.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderId } from '../../../src/market/live/provider.ts';
import { parseProviderUrls } from '../../../src/market/live/providers.ts';
import { getPublicationMs, isPriceSeries, isUsExchangeDay, SERIES, SERIES_IDS, type SeriesId } from '../../../src/market/series.ts';
import { getProviderIds, STRIKE_SOURCES } from '../../../src/market/sources/registry.ts';
import { createLog } from '../../../src/platform/log.ts';
import { hostedMarket } from '../../support/market/live-host.ts';
import { type Fault, type ProviderHost, STALE_BY_MS } from '../../support/market/provider-host.ts';

export interface LogLine {
  msg: string;
  provider?: ProviderId;
  feed?: string;
  reason?: string;
}

/** Publishes every value a week late. */
const LAGGARDS: readonly ProviderId[] = ['bitcoin-data'];

/** A collector with quick waits, on the clock of the test. */
export function openCollector(db: Db, host: ProviderHost, lines: LogLine[], attemptTimeoutMs: number): LiveMarket {
  return openLiveMarket({
    db,
    urls: parseProviderUrls(host.providerUrls),
    sosovalueKey: undefined,
    venueDays: 60,
    log: createLog({ level: 'info', secrets: [], write: (line) => lines.push(JSON.parse(line)) }),
    now: () => Date.now(),
    signal: new AbortController().signal,
    timing: { minIntervalMs: 0, attempts: 1, halfOpenAfterMs: 1, attemptTimeoutMs },
  });
}

/** Providers that can fail at once: no two of them have the same series. Fallbacks are in later groups. */
export function faultGroups(): ProviderId[][] {
  const chains = [...SERIES_IDS.map(getProviderIds), ...STRIKE_SOURCES.map(({ providers }) => [...providers])];
  const rankOf = (id: ProviderId) => Math.max(...chains.map((chain) => chain.indexOf(id)));
  // Those of the event calendar are asked by the archive.
  const collected = PROVIDER_IDS.filter((id) => rankOf(id) >= 0);
  return [...Map.groupBy(collected, rankOf)].sort(([a], [b]) => a - b).map(([, ids]) => ids);
}

/** Everybody who is asked before one of these, and so has to be down for these to be asked. All venues are asked always. */
export function askedBefore(ids: readonly ProviderId[]): ProviderId[] {
  const fallbacks = SERIES_IDS.filter((series) => !isPriceSeries(series)).map(getProviderIds);
  return [...new Set(fallbacks.flatMap((chain) => chain.slice(0, Math.max(0, ...ids.map((id) => chain.indexOf(id))))))];
}

/** Moves the clock to an afternoon whose day before was one of the exchange: every daily series has something new by then. */
export function toNextAfternoon(): void {
  let day: Day = toDay(Date.now()) + 1;
  while (!isUsExchangeDay(day - 1)) day++;
  vi.setSystemTime(toInstantMs(day, 15, 30));
}

export function pass(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

export interface Newest {
  day: Day;
  value: number;
}

/** Inputs of forecasts. The basis is instantaneous: published on its own day, never for a finished one. */
const vintageOf = (series: SeriesId) => (series === 'perpBasis' ? 'latest' : 'first');

export async function newestOf({ feed }: LiveMarket): Promise<Map<SeriesId, Newest>> {
  const entries = SERIES_IDS.map(async (series) => {
    const { days, values } = await feed.observations(series, Date.now(), vintageOf(series));
    return [series, { day: days.at(-1) ?? Number.NaN, value: values.at(-1) ?? Number.NaN }] as const;
  });
  return new Map(await Promise.all(entries));
}

/** Each series has the values of its working providers, or else still has what it had before. */
export async function expectSeries(live: LiveMarket, dead: readonly ProviderId[], before: Map<SeriesId, Newest>, cell: string) {
  const now = await newestOf(live);
  for (const series of SERIES_IDS) {
    const working = getProviderIds(series).filter((id) => !dead.includes(id));
    const label = `${cell}: ${series}, with ${working.join(', ') || 'none'} left`;
    if (working.every((id) => LAGGARDS.includes(id))) expect(now.get(series), label).toEqual(before.get(series));
    else expect(now.get(series)?.day, label).toBe(await hostedDay(series));
  }
}

/** A poll without a good answer reports the fault of each provider, unless the newest value may be that old. */
export async function expectComplaints({ stores }: LiveMarket, dead: readonly ProviderId[], fault: Fault): Promise<void> {
  for (const series of SERIES_IDS) {
    const asked = getProviderIds(series);
    if (asked.some((id) => !dead.includes(id)) || (fault === 'stale' && SERIES[series].staleDays * DAY_MS > STALE_BY_MS)) continue;
    const error = (await stores.polls.find(series))?.error ?? '';
    for (const id of asked) expect(error.includes(PROVIDERS[id].title) || error.includes(id), `${fault}: ${series}: ${error}`).toBe(true);
  }
}

/** The day of the newest value published so far. */
async function hostedDay(series: SeriesId): Promise<Day> {
  if (series === 'perpBasis') return toDay(Date.now());
  return (await hostedMarket.observations(series, Date.now())).days.at(-1)!;
}

const COMPARED_DAYS = 30;
const TOLERANCE = 0.02;

/** A value that was misread would not be the market's. */
export async function expectTruth({ feed }: LiveMarket, cell: string): Promise<void> {
  for (const series of SERIES_IDS) {
    const truth = await truthOf(series);
    const scale = [...truth.values()].reduce((sum, value) => sum + Math.abs(value), 0) / truth.size;
    for (const vintage of ['first', 'latest'] as const) {
      const { days, values, availableAt } = await feed.observations(series, Date.now(), vintage);
      if (vintage === vintageOf(series)) expect(days.at(-1), `${cell}: ${series}`).toBeDefined();
      for (let index = days.length - 1; index >= 0 && days[index] > toDay(Date.now()) - COMPARED_DAYS; index--) {
        const label = `${cell}: ${series} ${vintage} of ${days[index]} is ${values[index]}`;
        expect(values[index], label).toSatisfy(Number.isFinite);
        const real = truth.get(days[index]);
        const provisional = series !== 'perpBasis' && availableAt[index] < getPublicationMs(series, days[index]);
        if (real === undefined || provisional) continue;
        expect(Math.abs(values[index] - real), `${label}, truly ${real}`).toBeLessThanOrEqual(TOLERANCE * Math.max(Math.abs(real), scale));
      }
    }
  }
}

/** Recent days that are published. The basis of a day is observed the day before and published on it. */
async function truthOf(series: SeriesId): Promise<Map<Day, number>> {
  const { days, values } = await hostedMarket.observations(series, Date.now());
  const from = Math.max(0, days.length - COMPARED_DAYS - 1);
  return new Map([...values.subarray(from)].map((value, index) => [days[from + index] + (series === 'perpBasis' ? 1 : 0), value]));
}

/** A price of now, near the market's. */
export async function expectPrice({ feed }: LiveMarket, cell: string): Promise<void> {
  const [label, real] = [await feed.spot(Date.now()), await hostedMarket.spot(Date.now())];
  expect(label.observedAtMs, `${cell}: price`).toBe(Date.now());
  expect(Math.abs(label.priceUsd / real.priceUsd - 1), `${cell}: price`).toBeLessThan(0.01);
}

/** Those of a prediction market that works are of now; the poll of one that does not says whose fault it is. */
export async function expectStrikes({ feed, stores }: LiveMarket, dead: readonly ProviderId[], cell: string): Promise<void> {
  const strikes = await feed.strikes(Date.now());
  for (const { marketId, strikeUsd, bid, ask } of strikes) {
    expect(strikeUsd, `${cell}: ${marketId}`).toBeGreaterThan(0);
    expect(bid ?? 0, `${cell}: ${marketId}`).toBeLessThanOrEqual(ask ?? 1);
  }
  for (const { providers } of STRIKE_SOURCES) {
    const [id] = providers;
    const isNew = strikes.some(({ venue, receivedAtMs }) => id.startsWith(venue) && receivedAtMs === Date.now());
    if (!providers.some((provider) => dead.includes(provider))) expect(isNew, `${cell}: strikes of ${id}`).toBe(true);
    if (dead.includes(id)) expect((await stores.polls.find(`strikes/${id}`))?.error, cell).toContain(PROVIDERS[id].title);
  }
}

/** The log hears of a failure once, until it is over. */
export function expectChangesOnly(lines: readonly LogLine[], cell: string): void {
  const open = new Map<string, Set<string>>();
  for (const { msg, provider, feed } of lines) {
    const about = provider ?? feed ?? '';
    if (msg === 'provider recovered' || msg === 'feed is back') open.delete(about);
    else {
      const said = open.get(about) ?? new Set();
      expect(said.has(msg), `${cell}: ${about} again: ${msg}`).toBe(false);
      open.set(about, said.add(msg));
    }
  }
}
