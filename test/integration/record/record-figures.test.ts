import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { ensureIndexes } from '../../../src/platform/mongo.ts';
import { RecordFigures, summarizeAttestations } from '../../../src/record/figures.ts';
import { ForecastRecord, RECORD_INDEXES } from '../../../src/record/forecasts.ts';
import type { ModelStore } from '../../../src/record/model-card.ts';
import { WAGER_INDEXES } from '../../../src/wager/wagers.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { buildTestForecast } from '../../unit/record/forecast-fixture.ts';

const models = {
  get: async () => {
    throw new OracleError('NOT_FOUND', 'There is no model');
  },
} as unknown as ModelStore;

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

const newFigures = () => new RecordFigures(record.known, models);

async function add(date: string, state: 'WIN' | 'LOSS' | 'PENDING', horizonDays = 7): Promise<void> {
  await record.forecasts.insertOne(buildTestForecast({ date, horizonDays, state }));
  await record.known.load();
}

describe('the figures of the record', () => {
  it('are those of all forecasts, computed once per change', async () => {
    await add('2026-01-01', 'WIN');
    await add('2026-01-02', 'LOSS');
    const figures = newFigures();
    const found = figures.getHorizon(7);
    expect(figures.getHorizon(7)).toBe(found);
    expect(await found).toEqual(await newFigures().getHorizon(7));
    await add('2026-01-03', 'WIN');
    expect((await figures.getHorizon(7)).row.total).toBe(3);
  });

  it('are computed again after a computation that failed', async () => {
    await add('2026-01-01', 'WIN');
    const get = vi.fn(models.get).mockRejectedValueOnce(new Error('no database'));
    const figures = new RecordFigures(record.known, { get } as unknown as ModelStore);
    await expect(figures.getHorizon(7)).rejects.toThrow('no database');
    expect((await figures.getHorizon(7)).row.total).toBe(1);
  });

  it('count attestations by horizon, and the cost of a shared transaction once', async () => {
    await add('2026-01-01', 'WIN', 1);
    await add('2026-01-01', 'WIN', 7);
    const figures = await newFigures().getAttestations();
    const [day, week, both] = [[1], [7], [1, 7]].map((horizons) => summarizeAttestations(figures, horizons));
    expect([day.predictions, week.predictions, both.predictions]).toEqual([1, 1, 2]);
    expect([day.resolutions, week.resolutions, both.resolutions]).toEqual([1, 1, 2]);
    expect(both.totalGasWei).toBeLessThanOrEqual(day.totalGasWei + week.totalGasWei);
    expect(summarizeAttestations(figures, [2])).toMatchObject({ predictions: 0, firstAttestation: null, totalGasWei: 0n });
  });
});
