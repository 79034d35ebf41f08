import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { MINUTE_MS, parseDay, toInstantMs } from '../../../src/forecast/day.ts';
import type { LiveMarket } from '../../../src/market/live/live-market.ts';
import { PROVIDER_IDS, PROVIDERS, type ProviderHealth, type ProviderId } from '../../../src/market/live/provider.ts';
import { LIVE_INDEXES } from '../../../src/market/live/store.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { startLiveHost } from '../../support/market/live-host.ts';
import { type Fault, type ProviderHost, SKEW_MS } from '../../support/market/provider-host.ts';
import {
  askedBefore,
  expectChangesOnly,
  expectComplaints,
  expectPrice,
  expectSeries,
  expectStrikes,
  expectTruth,
  faultGroups,
  type LogLine,
  newestOf,
  openCollector,
  pass,
  toNextAfternoon,
} from './faulty-feeds.ts';

const HOUR_MS = 60 * MINUTE_MS;

let host: ProviderHost;
let database: TestDatabase;

interface Collector {
  live: LiveMarket;
  lines: LogLine[];
}

let patient: Collector;
let hasty: Collector;
const PATIENT_MS = 10_000;
/** Long enough for a healthy provider on a busy machine; a slow one never answers. */
const HASTY_MS = 1_200;

/** Faults that a provider's health reports, by its message. */
const TOLD: Partial<Record<Fault, RegExp>> = {
  slow: /timed out/,
  'too-many-requests': /answered 429/,
  banned: /answered 429/,
  'unavailable-for-legal-reasons': /answered 451/,
  'server-error': /answered 503/,
  truncated: /is not JSON|is not complete|is missing|is no amount|add up/,
  'changed-shape': /expected|has no column|cannot be read|is not complete/i,
  down: /cannot be reached/,
};

/** Half a page still has whole rows. */
const READABLE_HALVES: readonly ProviderId[] = ['bitbo', 'farside'];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: toInstantMs(parseDay('2026-01-06'), 15, 30) });
  host = await startLiveHost(() => Date.now());
  database = await testDatabase();
  await ensureIndexes(database.db, LIVE_INDEXES);
  expect(await openCollector(database.db, host, [], PATIENT_MS).fetchHistory(() => {})).toEqual([]);
  // What was written within the last minute is read again and again.
  await database.db.collection('observations').updateMany({}, { $set: { updatedAt: new Date(0) } });
  const open = (attemptTimeoutMs: number): Collector => {
    const lines: LogLine[] = [];
    return { lines, live: openCollector(database.db, host, lines, attemptTimeoutMs) };
  };
  [patient, hasty] = [open(PATIENT_MS), open(HASTY_MS)];
  // Strikes near the money need a price first.
  await patient.live.collectPrices();
});
afterAll(async () => {
  vi.useRealTimers();
  await host.close();
  await database.drop();
});

afterEach(() => {
  for (const id of PROVIDER_IDS) host.heal(id);
});

async function collect(live: LiveMarket): Promise<void> {
  await Promise.all([live.collectPrices(), live.collect()]);
}

const asked = (id: ProviderId) => host.requests(id).length;

function healthOf(health: ProviderHealth[], id: ProviderId): ProviderHealth {
  return health.find(({ provider }) => provider === id)!;
}

function expectReported({ lastError, clockSkewMs, provider: id }: ProviderHealth, fault: Fault): void {
  const cell = `${id} ${fault}`;
  if (fault === 'clock-skew') expect({ lastError, clockSkewMs }, cell).toEqual({ lastError: null, clockSkewMs: SKEW_MS });
  if (TOLD[fault] === undefined || (fault === 'truncated' && READABLE_HALVES.includes(id))) return;
  expect(lastError ?? 'nothing', cell).toContain(PROVIDERS[id].title);
  expect(lastError ?? 'nothing', cell).toMatch(TOLD[fault]);
}

/** A day on which some providers have a fault and those asked before them are down, and the hours after it. */
async function faultyDay({ live, lines }: Collector, ids: readonly ProviderId[], fault: Fault): Promise<void> {
  const cell = `${fault} at ${ids.join(', ')}`;
  const others = askedBefore(ids);
  const dead = fault === 'clock-skew' ? others : [...others, ...ids];
  const before = await newestOf(live);
  const asks = new Map(ids.map((id) => [id, asked(id)]));
  for (const id of others) host.fault(id, 'down');
  for (const id of ids) host.fault(id, fault);

  toNextAfternoon();
  await collect(live);
  for (const id of ids) expect(asked(id), `${cell}: ${id} is asked`).toBeGreaterThan(asks.get(id)!);
  await expectSeries(live, dead, before, cell);
  await expectTruth(live, cell);
  await expectPrice(live, cell);
  await expectStrikes(live, dead, cell);
  await expectComplaints(live, dead, fault);
  const sick = await live.feed.providerHealth();
  for (const id of ids) expectReported(healthOf(sick, id), fault);

  const asksSoFar = new Map(ids.map((id) => [id, asked(id)]));
  pass(8 * MINUTE_MS);
  await collect(live);
  if (fault === 'banned') for (const id of ids) expect(asked(id), `${id} is left alone`).toBe(asksSoFar.get(id));
  await expectPrice(live, cell);

  for (const id of ids) host.heal(id);
  pass(6 * HOUR_MS);
  await collect(live);
  await expectSeries(live, others, before, `after ${cell}`);
  await expectStrikes(live, [], `after ${cell}`);
  const well = await live.feed.providerHealth();
  for (const id of ids) expect(healthOf(well, id), `after ${cell}`).toMatchObject({ circuit: 'closed', lastError: null });
  for (const id of others) host.heal(id);
  expectChangesOnly(lines, cell);
}

const FAULTS: Fault[] = [
  'slow',
  'too-many-requests',
  'banned',
  'unavailable-for-legal-reasons',
  'server-error',
  'truncated',
  'changed-shape',
  'empty',
  'stale',
  'clock-skew',
  'down',
];

it.each(FAULTS)('no provider that is %s removes a series or corrupts a value', async (fault) => {
  const collector = fault === 'slow' ? hasty : patient;
  toNextAfternoon();
  await collect(collector.live);
  for (const ids of faultGroups()) await faultyDay(collector, ids, fault);
});
