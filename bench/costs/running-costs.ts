import type { Db } from 'mongodb';
import { type Day, toInstantMs } from '../../src/forecast/day.ts';
import { runPastDay, type TestService, testService, today } from '../../test/support/service/service.ts';
import type { Benchmark, Comparison } from '../lib.ts';

const DAYS = 30;
/** Of the last of them forecasts of every horizon are resolved. */
const SETTLED_DAYS = 14;
const YEAR_DAYS = 365;

/** What a record costs to keep, on a chain and a database of its own; there is nothing to hold it against. */
export const RUNNING_COSTS: Benchmark = {
  name: 'running-costs',
  what: `gas, space and time of ${DAYS} days of the record, replayed on simulated data`,
  async run({ report }): Promise<Comparison[]> {
    const service = await testService(DAYS);
    try {
      const emptyBytes = await bytesIn(service.database.db);
      const end = today();
      const began = performance.now();
      for (let day = end - DAYS; day < end; day++) await runPastDay(service, day);
      const secondsADay = (performance.now() - began) / 1_000 / DAYS;
      const bytesADay = ((await bytesIn(service.database.db)) - emptyBytes) / DAYS;
      for (const line of await gasLines(service, end)) report(line);
      report(`  a year in the database: ${((bytesADay * YEAR_DAYS) / 1e6).toFixed(1)} MB of data; market history not counted`);
      report(`  a year to replay, at this pace: ${(secondsADay * YEAR_DAYS).toFixed(0)} s`);
      return [];
    } finally {
      await service.stop();
    }
  },
};

async function bytesIn(db: Db): Promise<number> {
  return (await db.stats()).dataSize;
}

/** What the journal of the wallets says, before the last days and of these. */
async function gasLines({ pipeline }: TestService, end: Day): Promise<string[]> {
  const { gasCosts } = pipeline.selfTests;
  const settled = new Date(toInstantMs(end - SETTLED_DAYS));
  const [before, since] = await Promise.all([gasCosts(new Date(0), settled), gasCosts(settled, new Date(toInstantMs(end + 1)))]);
  const daily = new Set(since.map(({ purpose }) => purpose));
  const grouped = (gas: number) => Math.round(gas).toLocaleString('en-US');
  return [
    ...before.filter(({ purpose }) => !daily.has(purpose)).map(({ purpose, gasUsed }) => `  gas of ${purpose}: ${grouped(gasUsed)} once`),
    ...since.map(({ purpose, transactions, gasUsed }) => `  gas of ${purpose}: ${grouped(gasUsed / transactions)} a day`),
  ];
}
