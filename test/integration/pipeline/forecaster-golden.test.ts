import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDay } from '../../../src/forecast/day.ts';
import { openCsvFeed } from '../../../src/market/csv.ts';
import { getSignalTimeMs } from '../../../src/market/feed.ts';
import { createMarket } from '../../../src/market/market.ts';
import { Forecaster } from '../../../src/pipeline/forecaster.ts';
import { ModelStore } from '../../../src/record/model-card.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { describeWithShared, sharedPath } from '../../support/record/shared.ts';

/** Rows of a reference file by column name. */
function rows(name: string): Record<string, string>[] {
  const [head, ...lines] = readFileSync(sharedPath('golden', name), 'utf8').trim().split('\n');
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}

const SIGNALS: Record<string, string> = { '1': 'BUY', '0': 'HOLD', '-1': 'SELL' };

describeWithShared('the forecasts of the pipeline on real history', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.drop());

  it('forecasts equal the reference model, day by day from raw files as known at 21:35', async () => {
    const market = createMarket(await openCsvFeed(sharedPath('data')));
    const forecaster = new Forecaster(new ModelStore(database.db), 'm0-d1');
    const reference = rows('oos_predictions.csv');
    // A month of consecutive days across a change of model, then one day per month.
    const days = reference.filter((_, index) => (index >= 700 && index < 740) || index % 30 === 0);
    for (const row of days) {
      const day = parseDay(row.date);
      const atMs = getSignalTimeMs(day);
      const { regime, forecasts } = await forecaster.forecast(await market.inputs(day, atMs), new Date(atMs));
      expect(regime, row.date).toBe(row.regime);
      for (const { horizonDays, pUp, signal, climatology } of forecasts.filter(({ horizonDays }) => horizonDays > 1)) {
        expect(pUp, `${row.date} ${horizonDays}d`).toBeCloseTo(Number(row[`p_${horizonDays}d`]), 7);
        expect(climatology).toBeCloseTo(Number(row[`clim_${horizonDays}d`]), 7);
        expect(signal).toBe(SIGNALS[row[`signal_${horizonDays}d`]]);
      }
    }
  });
});
