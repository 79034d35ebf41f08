import { zeroHash } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ConfirmedAttestation } from '../../../src/chain/eas/eas.ts';
import { parseDay } from '../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { buildMetadata, type CommittedValues } from '../../../src/record/forecast-doc.ts';
import { ForecastRecord, type NewDay, RECORD_INDEXES, requireSameSalts } from '../../../src/record/forecasts.ts';
import { REACHED, UNREACHED } from '../../support/clock/trusted-time.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const HORIZONS = [1, 2, 3, 7];
const first = parseDay('2026-01-05');

let database: TestDatabase;
let record: ForecastRecord;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, RECORD_INDEXES);
  record = newRecord();
});

const SALT_SECRET = 'a master secret of a test';
const newRecord = () => new ForecastRecord({ db: database.db, saltSecret: SALT_SECRET, horizons: HORIZONS });

function newDay(day: number, priceCents = 9_000_000): NewDay {
  return {
    day,
    signalAt: new Date(day * 86_400_000 + 77_700_000),
    replayed: false,
    late: false,
    missedBecause: null,
    price: { cents: priceCents, observedAt: new Date(), source: 'test' },
    context: null,
    modelVersion: 'm',
    regime: 'CHOP',
    regimeFactors: null,
    categories: null,
    variance: { v94: 0.0004, v99: 0.0004 },
    moves: null,
    inputsDigest: zeroHash,
    metadata: buildMetadata({ day }),
    forecasts: Object.fromEntries(HORIZONS.map((horizon) => [horizon, valuesAt(priceCents)])),
  };
}

function valuesAt(btcPriceCents: number): CommittedValues {
  return {
    signal: 'BUY',
    direction: 'UP',
    confidence: 0.56,
    confidenceBps: 5600,
    pUp: 0.56,
    pUpBps: 5600,
    btcPriceCents,
    climatology: 0.54,
    threshold: 0.03,
    priceQuantiles: {},
    distribution: { scale: 0.05, shift: 0 },
  };
}

const attestedAt = (at: string): ConfirmedAttestation => ({
  uid: `0x${'a'.repeat(64)}`,
  txHash: `0x${'b'.repeat(64)}`,
  blockNumber: 1,
  at: new Date(at),
  gasUsed: 1,
  effectiveGasPriceWei: '1',
  attestationsInTransaction: 4,
});

describe('the forecast record', () => {
  it('gives each horizon a sequence without a gap', async () => {
    for (const day of [first, first + 1, first + 2]) await record.saveDay(newDay(day), UNREACHED);
    await record.known.load();
    for (const horizon of HORIZONS) {
      expect(record.known.listByHorizon(horizon).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    }
  });

  it('rejects a day that would leave a gap, and one before the first', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await expect(record.saveDay(newDay(first + 2), UNREACHED)).rejects.toMatchObject({ code: 'STEP_WAITING' });
    await expect(record.saveDay(newDay(first - 1), UNREACHED)).rejects.toMatchObject({ code: 'STEP_WAITING' });
  });

  it('keeps one version of a day when two workers write different ones concurrently', async () => {
    const prices = [9_000_000, 9_000_100, 9_000_200, 9_000_300];
    const stored = await Promise.all(prices.map((price) => newRecord().saveDay(newDay(first, price), UNREACHED)));
    const winners = new Set(stored.map(({ price }) => price!.cents));
    expect(winners.size).toBe(1);
    const docs = await record.listByDay(first);
    expect(docs).toHaveLength(HORIZONS.length);
    expect(new Set(docs.map(({ values }) => values!.btcPriceCents))).toEqual(winners);
  });

  it('inserts the forecasts that a crash left out', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    const before = await record.listByDay(first);
    await record.forecasts.deleteMany({ horizonDays: { $gt: 2 } });
    await record.completeDay(first);
    const publishedOnce = before.map(({ outbox, ...doc }) => ({
      ...doc,
      outbox: [expect.objectContaining({ change: outbox![0]!.change })],
    }));
    expect(await record.listByDay(first)).toEqual(publishedOnce);
  });

  it('decides between pending and void by block time', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    const [inTime, late] = await record.listByDay(first);
    await record.markAttested([inTime, late], [attestedAt('2026-01-05T23:59:59Z'), attestedAt('2026-01-06T00:00:00Z')]);
    expect((await record.listByIds([inTime._id]))[0].state).toBe('PENDING');
    expect((await record.listByIds([late._id]))[0].state).toBe('VOID');
  });

  it('accepts a repeated transition and rejects a different one', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    const [doc] = await record.listByDay(first);
    await record.markAttested([doc], [attestedAt('2026-01-05T21:38:00Z')]);
    await record.markAttested([doc], [attestedAt('2026-01-05T21:38:00Z')]);
    await expect(record.markAttested([doc], [attestedAt('2026-01-06T21:38:00Z')])).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  it('keeps the first close at window open and the first decision', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await record.recordOpeningClose(first, 100, REACHED);
    await record.recordOpeningClose(first, 200, REACHED);
    const [doc] = await record.listByDay(first);
    expect(doc.btcAtSignalCents).toBe(100);
    await record.markAttested([doc], [attestedAt('2026-01-05T21:38:00Z')]);
    const decision = {
      btcAtSignalCents: 100,
      btcAtResolutionCents: 110,
      returnBps: 1000,
      actualDirection: 'UP',
      outcome: 'WIN',
      venues: [],
      deviationBps: 0,
      decidedAt: new Date(),
      batch: 'a',
    } as const;
    await record.recordResolutions(new Map([[doc._id, { ...decision, venues: [] }]]), REACHED);
    await record.recordResolutions(new Map([[doc._id, { ...decision, venues: [], outcome: 'LOSS', batch: 'b' }]]), REACHED);
    expect((await record.listByIds([doc._id]))[0].resolution).toMatchObject({ outcome: 'WIN', batch: 'a' });
  });

  it('resolves nothing before the window ends', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await record.recordOpeningClose(first, 100, REACHED);
    for (const doc of await record.listByDay(first)) await record.markAttested([doc], [attestedAt('2026-01-05T21:38:00Z')]);
    const due = async (now: string) => (await record.listDueForResolution(new Date(now))).map(({ horizonDays }) => horizonDays);
    expect(await due('2026-01-06T23:59:59Z')).toEqual([]);
    expect(await due('2026-01-07T00:00:00Z')).toEqual([1]);
    expect(await due('2026-01-13T00:00:00Z')).toEqual([1, 2, 3, 7]);
  });
});

describe('the master secret of the salts', () => {
  const another = () => requireSameSalts(record, 'another master secret of a test');

  it('is accepted when it opens the record, also after a day without a forecast', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await record.saveDay({ ...newDay(first + 1), missedBecause: 'no price', price: null, forecasts: {} }, REACHED);
    await expect(requireSameSalts(record, SALT_SECRET)).resolves.toBeUndefined();
    await expect(another()).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'SALT_SECRET' });
  });

  it('must open every unrevealed forecast, not only the newest', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await record.saveDay(newDay(first + 1), UNREACHED);
    const [open] = await record.listByDay(first);
    await record.forecasts.updateOne({ _id: open._id }, { $set: { commitment: `0x${'1'.repeat(64)}` } });
    const refused = requireSameSalts(record, SALT_SECRET);
    await expect(refused).rejects.toMatchObject({ field: 'SALT_SECRET', message: expect.stringContaining(open._id) });
    await record.forecasts.updateOne({ _id: open._id }, { $set: { state: 'WIN' } });
    await expect(requireSameSalts(record, SALT_SECRET)).resolves.toBeUndefined();
  });

  it('names its file in the error when it is not a setting', async () => {
    await record.saveDay(newDay(first), UNREACHED);
    await expect(requireSameSalts(record, 'another master secret of a test', 'data/keys.json')).rejects.toMatchObject({
      code: 'DATA_DIR_DAMAGED',
      message: expect.stringContaining('data/keys.json'),
      suggestedAction: expect.stringContaining('npm run reset'),
    });
  });

  it('may be any before the first forecast', async () => {
    await expect(another()).resolves.toBeUndefined();
  });
});
