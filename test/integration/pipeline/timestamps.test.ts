import { sha256, stringToBytes } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Day, formatDay, toDay, toInstantMs } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createCalendarClient } from '../../../src/pipeline/timestamps/calendar-client.ts';
import { stampDays } from '../../../src/pipeline/timestamps/stamp-days.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../src/record/forecast-record.ts';
import { toServedTimestamp } from '../../../src/record/timestamps/day-timestamp.ts';
import { TIMESTAMP_INDEXES, TimestampStore } from '../../../src/record/timestamps/timestamp-store.ts';
import { listStampedBlocks } from '../../../src/verify/checks/independent-time.ts';
import { parseBlockHeader } from '../../../src/verify/timestamps/bitcoin-block.ts';
import { parseOtsFile } from '../../../src/verify/timestamps/ots-file.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { type Calendar, startCalendar } from '../../support/timestamps/calendar.ts';

const DAY = toDay(Date.parse('2026-08-20'));
const at = (day: Day, hours = 21, minutes = 39) => new Date(toInstantMs(day, hours, minutes));
const ADDRESS = `0x${'11'.repeat(20)}` as const;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let calendars: Calendar[];
const warn = vi.fn();

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, [...RECORD_INDEXES, ...TIMESTAMP_INDEXES]);
});
beforeEach(async () => {
  calendars = [await startCalendar(), await startCalendar()];
});
afterEach(async () => {
  for (const calendar of calendars) await calendar.close();
  for (const name of ['forecasts', 'timestamps']) await database.db.collection(name).deleteMany({});
  warn.mockClear();
});
afterAll(() => database.drop());

const timestamps = () => new TimestampStore(database.db);

function sweep(now: Date) {
  return stampDays({
    record: new ForecastRecord({ db: database.db, saltSecret: 's'.repeat(32), horizons: HORIZONS }),
    timestamps: timestamps(),
    calendars: calendars.map(({ url }) => url),
    client: createCalendarClient({ timeoutMs: 500 }),
    chain: { chainId: 84_532, eas: ADDRESS, attester: ADDRESS },
    log: { warn } as never,
    now: () => now,
  });
}

/** A day as the attest step leaves it. @param attempt distinguishes its uids from those of another attestation */
async function attest(day: Day, horizons: readonly number[] = HORIZONS, attempt = 1): Promise<void> {
  for (const horizonDays of horizons) {
    const doc: Partial<ForecastDoc> = {
      ...{
        _id: `${formatDay(day)}:${horizonDays}d`,
        day,
        horizonDays,
        sequence: day,
        commitment: sha256(stringToBytes(`c${day}${horizonDays}`)),
      },
      ...{ resolvesAt: new Date(toInstantMs(day + 1 + horizonDays)), values: { signal: 'BUY', direction: 'UP' } as never },
      attestation: { uid: sha256(stringToBytes(`u${day}${horizonDays}${attempt}`)), at: at(day) } as never,
    };
    await database.db.collection<ForecastDoc>('forecasts').replaceOne({ _id: doc._id! }, doc as ForecastDoc, { upsert: true });
  }
}

const read = async (day = DAY) => (await timestamps().find(day))!;
const statuses = async (day = DAY) => (await read(day)).calendars.map(({ status }) => status);
const readBlocks = async (day = DAY) => listStampedBlocks(parseOtsFile(toServedTimestamp(await read(day)).proof!));

describe('the sweep of timestamps', () => {
  it('submits the digest of a document that lists every commitment of the day, and nothing that is hidden', async () => {
    await attest(DAY);
    await sweep(at(DAY));
    const { document, digest } = await read();
    expect(digest).toBe(sha256(stringToBytes(document)));
    for (const { state } of calendars) expect(state.submitted).toEqual([digest.slice(2)]);
    const { commitments, ...rest } = JSON.parse(document);
    expect(rest).toEqual({ attester: ADDRESS, chainId: 84_532, date: '2026-08-20', eas: ADDRESS });
    expect(commitments.map(({ horizon }: { horizon: string }) => horizon)).toEqual(HORIZONS.map((days) => `${days}d`));
    expect(Object.keys(commitments[0])).toEqual(['commitment', 'horizon', 'sequence', 'uid']);
    expect(await statuses()).toEqual(['submitted', 'submitted']);
  });

  it('waits until all forecasts of the day are attested, and leaves days whose outcomes are all known', async () => {
    await attest(DAY, [1, 2, 3]);
    await attest(DAY - 8);
    await attest(DAY - 7);
    await sweep(at(DAY));
    const days = (await timestamps().list({ before: null, limit: 10 })).map(({ _id }) => _id);
    expect(days).toEqual([formatDay(DAY - 7)]);
  });

  it('merges the blocks of all calendars into one proof of the document', async () => {
    await attest(DAY);
    await sweep(at(DAY));
    for (const { confirm } of calendars) confirm(at(DAY, 22));
    await sweep(at(DAY, 22, 8));
    expect(await statuses()).toEqual(['submitted', 'submitted']);
    await sweep(at(DAY, 22, 9));
    expect(await statuses()).toEqual(['confirmed', 'confirmed']);
    expect((await read()).nextAt).toBeNull();
    const roots = calendars.flatMap(({ headers }) => [...headers.values()].map((header) => parseBlockHeader(header).merkleRoot));
    expect((await readBlocks()).map(({ merkleRoot }) => merkleRoot).sort()).toEqual(roots.sort());
  });

  it('asks a pending calendar at growing distances, and gives it up two weeks after the last outcome', async () => {
    await attest(DAY);
    calendars.pop()!.close();
    await sweep(at(DAY));
    const [calendar] = calendars as [Calendar];
    const asked: number[] = [];
    for (let hour = 0; hour < 24 * 25; hour++) {
      const before = calendar.state.asked;
      await sweep(new Date(at(DAY).getTime() + hour * HOUR_MS));
      if (calendar.state.asked > before) asked.push(hour);
    }
    expect(asked.slice(0, 6)).toEqual([1, 2, 3, 5, 9, 15]);
    expect(asked.length).toBeLessThan(24 * 4);
    expect(await statuses()).toEqual(['abandoned']);
    expect(toServedTimestamp(await read()).proof).not.toBeNull();
  });

  it('stamps a day again that was attested again', async () => {
    await attest(DAY);
    await sweep(at(DAY));
    const { digest } = await read();
    await attest(DAY, HORIZONS, 2);
    await sweep(at(DAY, 21, 45));
    expect((await read()).digest).not.toBe(digest);
    expect(calendars[0]!.state.submitted).toEqual([digest.slice(2), (await read()).digest.slice(2)]);
  });

  it('keeps one result of two sweeps at once', async () => {
    await attest(DAY);
    await Promise.all([sweep(at(DAY)), sweep(at(DAY))]);
    expect(await timestamps().list({ before: null, limit: 10 })).toHaveLength(1);
    for (const { confirm } of calendars) confirm(at(DAY, 22));
    await Promise.all([sweep(at(DAY, 23)), sweep(at(DAY, 23))]);
    expect(await statuses()).toEqual(['confirmed', 'confirmed']);
    expect(await readBlocks()).toHaveLength(2);
  });

  it('submits again what a process did not store before it died', async () => {
    await attest(DAY);
    const { replace } = TimestampStore.prototype;
    const lost = vi.spyOn(TimestampStore.prototype, 'replace').mockRejectedValueOnce(new Error('killed'));
    await expect(sweep(at(DAY))).rejects.toThrow('killed');
    expect(await statuses()).toEqual(['waiting', 'waiting']);
    lost.mockRestore();
    expect(TimestampStore.prototype.replace).toBe(replace);
    await sweep(at(DAY, 21, 40));
    expect(await statuses()).toEqual(['submitted', 'submitted']);
  });
});

describe('a calendar that', () => {
  it.each([
    ['fails', 'failing', /answers 500/],
    ['does not answer', 'silent', /no answer within 500 ms/],
    ['answers too much', 'oversized', /longer than 10000 bytes/],
    ['names another server', 'elsewhere', /names no calendar to ask/],
    ['answers a truncated proof', 'cut', /truncated/],
    ['answers more than a proof', 'trailing', /bytes follow the end/],
  ] as const)('%s is asked again later, and delays no other', async (_, behaviour, reason) => {
    await attest(DAY);
    calendars[0]!.state.behaviour = behaviour;
    await sweep(at(DAY));
    expect(await statuses()).toEqual(['waiting', 'submitted']);
    expect(warn.mock.calls).toEqual([[expect.objectContaining({ reason: expect.stringMatching(reason) }), 'a calendar gave no timestamp']]);
    calendars[0]!.state.behaviour = 'honest';
    await sweep(at(DAY, 21, 40));
    expect(await statuses()).toEqual(['submitted', 'submitted']);
  });

  it('never answers is given up when the outcomes are known', async () => {
    await attest(DAY);
    calendars[0]!.state.behaviour = 'failing';
    await sweep(at(DAY));
    await sweep(at(DAY + 8, 0, 1));
    expect(await statuses()).toEqual(['abandoned', 'submitted']);
    expect(warn).toHaveBeenLastCalledWith(expect.objectContaining({ status: 'waiting' }), 'a calendar is given up');
  });

  it('names a block without a Merkle root stays pending', async () => {
    await attest(DAY);
    await sweep(at(DAY));
    for (const { confirm } of calendars) confirm(at(DAY, 22));
    calendars[0]!.state.behaviour = 'rootless';
    await sweep(at(DAY, 23));
    expect(await statuses()).toEqual(['submitted', 'confirmed']);
    expect(await readBlocks()).toHaveLength(1);
  });
});
