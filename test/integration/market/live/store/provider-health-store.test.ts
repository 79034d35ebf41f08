import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ProviderHealth } from '../../../../../src/market/live/provider.ts';
import { ProviderHealthStore } from '../../../../../src/market/live/store.ts';
import { type TestDatabase, testDatabase } from '../../../../support/database/database.ts';

const fred: ProviderHealth = {
  provider: 'fred',
  title: 'FRED',
  circuit: 'closed',
  calls: 3,
  failures: 1,
  lastOkAtMs: 2_000,
  lastFailureAtMs: 1_000,
  lastError: null,
  clockSkewMs: -400,
  rowsLeftOut: 2,
  lastLeftOutAtMs: 1_500,
  lastLeftOut: 'FRED: 3.DGS10 is not a decimal number',
};
const kraken: ProviderHealth = { ...fred, provider: 'kraken', title: 'Kraken', circuit: 'open', lastError: 'Kraken: /x answered 500' };

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.db.dropDatabase());

it('shows saved health to every process', async () => {
  const store = new ProviderHealthStore(database.db);
  await store.save([fred, kraken]);
  expect(await new ProviderHealthStore(database.db).read()).toEqual([kraken, fred]);
});

it('is empty initially and accepts an empty save', async () => {
  const store = new ProviderHealthStore(database.db);
  await store.save([]);
  expect(await store.read()).toEqual([]);
});

it('keeps the last health of each provider', async () => {
  const store = new ProviderHealthStore(database.db);
  await store.save([fred, kraken]);
  await store.save([{ ...fred, calls: 4 }]);
  expect(await store.read()).toEqual([kraken, { ...fred, calls: 4 }]);
});

it('does not rewrite unchanged health', async () => {
  const store = new ProviderHealthStore(database.db);
  await store.save([fred, kraken]);
  await database.db.collection('provider_health').deleteMany({});
  await store.save([fred, { ...kraken, circuit: 'half-open' }]);
  expect(await store.read()).toEqual([{ ...kraken, circuit: 'half-open' }]);
});
