import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { rebuildFigures } from '../../../src/pipeline/forecaster.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { CrowdFiguresReader, FiguresStore } from '../../../src/record/crowd.ts';
import { computeHorizonFigures, RecordFigures, summarizeAttestations } from '../../../src/record/figures.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../src/record/forecasts.ts';
import { WAGER_INDEXES, WagerBook } from '../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { buildTestForecast } from '../../unit/record/forecast-fixture.ts';

const models = {
  get: async () => {
    throw new OracleError('NOT_FOUND', 'There is no model');
  },
};

let database: TestDatabase;
let record: ForecastRecord;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  await ensureIndexes(database.db, [...RECORD_INDEXES, ...WAGER_INDEXES]);
  record = new ForecastRecord({ db: database.db, saltSecret: 'a master secret of a test', horizons: HORIZONS });
});

const newFigures = () => new RecordFigures({ store: new FiguresStore(database.db), record, models });

async function add(date: string, state: 'WIN' | 'LOSS' | 'PENDING', horizonDays = 7): Promise<void> {
  await record.forecasts.insertOne(buildTestForecast({ date, horizonDays, state }));
}

describe('the figures of the record', () => {
  it('are those of all forecasts, and are stored', async () => {
    await add('2026-01-01', 'WIN');
    await add('2026-01-02', 'LOSS');
    await record.revision.advance();
    const figures = await newFigures().getHorizon(7);
    expect(figures).toEqual(
      await computeHorizonFigures({ models, distributionScores: record.distributionScores }, await record.listByHorizon(7), 7),
    );
    const reads = vi.spyOn(record, 'listByHorizon');
    expect(await newFigures().getHorizon(7)).toEqual(figures);
    expect(reads).not.toHaveBeenCalled();
  });

  it('are computed again once per revision, whichever process reads first', async () => {
    await add('2026-01-01', 'WIN');
    const [one, other] = [newFigures(), newFigures()];
    await one.refresh();
    await add('2026-01-02', 'LOSS');
    expect((await other.getHorizon(7)).row.total).toBe(1);
    await record.revision.advance();
    const reads = vi.spyOn(record, 'listByHorizon');
    await one.refresh();
    await other.refresh();
    expect(reads.mock.calls.map(([horizonDays]) => horizonDays)).toEqual([...HORIZONS]);
    expect((await other.getHorizon(7)).row.total).toBe(2);
  });

  it('of an earlier revision never replace those of a later one', async () => {
    await add('2026-01-01', 'WIN');
    const slow = newFigures();
    const read = record.listByHorizon.bind(record);
    vi.spyOn(record, 'listByHorizon').mockImplementationOnce(async (horizonDays) => {
      const docs = await read(horizonDays);
      await add('2026-01-02', 'LOSS');
      await record.revision.advance();
      await newFigures().getHorizon(7);
      return docs;
    });
    expect((await slow.getHorizon(7)).row.total).toBe(1);
    expect((await slow.getHorizon(7)).row.total).toBe(2);
    expect((await newFigures().getHorizon(7)).row.total).toBe(2);
  });

  it('are compared with a recomputation, which names and repairs what a crash between write and revision left behind', async () => {
    await add('2026-01-01', 'WIN');
    const figures = newFigures();
    await figures.refresh();
    expect(await figures.verify()).toEqual([]);
    await add('2026-01-02', 'WIN');
    expect(await figures.verify()).toEqual(['horizon:7', 'series:7', 'attestations']);
    expect((await newFigures().getHorizon(7)).row.total).toBe(2);
    expect(await figures.verify()).toEqual([]);
  });

  it('are computed again by the operator, whatever is stored', async () => {
    await add('2026-01-01', 'WIN');
    await newFigures().refresh();
    const store = new FiguresStore(database.db);
    const stored = database.db.collection('record_figures');
    await stored.updateOne({ figures: { $exists: true }, 'figures.row.total': 1 }, { $set: { 'figures.row.total': 9 } });
    const wagers = new WagerBook(database.db);
    const crowd = new CrowdFiguresReader({ store, record, wagers, sameBook: [] });
    const rebuild = () => rebuildFigures({ record, wagers, figures: newFigures(), crowd }, new Date('2026-01-10T00:00:00Z'));
    expect(await rebuild()).toBe('computed again; these had differed: horizon:7');
    expect((await newFigures().getHorizon(7)).row.total).toBe(1);
    expect(await rebuild()).toBe('computed again; none of the record had differed');
  });

  it('are computed again where an older release stored them', async () => {
    await add('2026-01-01', 'WIN');
    await newFigures().refresh();
    const stored = database.db.collection<{ _id: string; key: string }>('record_figures');
    const { key } = (await stored.findOne({ _id: 'horizon:7' }))!;
    const asBefore = { key: key.slice(key.indexOf(':') + 1), 'figures.row.total': 9 };
    await stored.updateOne({ _id: 'horizon:7' }, { $set: asBefore });
    expect((await newFigures().getHorizon(7)).row.total).toBe(1);
  });

  it('count attestations by horizon, and the cost of a shared transaction once', async () => {
    await add('2026-01-01', 'WIN', 1);
    await add('2026-01-01', 'WIN', 7);
    await record.revision.advance();
    const figures = await newFigures().getAttestations();
    const [day, week, both] = [[1], [7], [1, 7]].map((horizons) => summarizeAttestations(figures, horizons));
    expect([day.predictions, week.predictions, both.predictions]).toEqual([1, 1, 2]);
    expect([day.resolutions, week.resolutions, both.resolutions]).toEqual([1, 1, 2]);
    expect(both.totalGasWei).toBeLessThanOrEqual(day.totalGasWei + week.totalGasWei);
    expect(summarizeAttestations(figures, [2])).toMatchObject({ predictions: 0, firstAttestation: null, totalGasWei: 0n });
  });
});
