import { afterAll, beforeAll, expect, it } from 'vitest';
import { createChain } from '../../../src/chain/client.ts';
import { openJournal } from '../../../src/chain/journal.ts';
import { requireSameHistory } from '../../../src/local/same-history.ts';
import { testDatabase } from '../../support/database.ts';
import { type TestService, testService } from '../../support/service.ts';

let service: TestService;
let empty: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  [service, empty] = await Promise.all([testService(0), testDatabase()]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), empty?.drop()]);
});

/** What a start compares, with the journal of another database. */
async function started(journal: Awaited<ReturnType<typeof openJournal>>) {
  const { record, market, chainId, addresses, attesterAddress: attester } = service.http;
  const { rpcUrl } = service.infrastructure;
  const chain = await createChain({ rpcUrl, chainId, confirmations: 1, pollingIntervalMs: 2, addresses });
  return requireSameHistory({ record, market, chain, journal, attester, local: false });
}

it('a start goes on with its own database', async () => {
  await expect(started(await openJournal(service.database.db))).resolves.toBeUndefined();
});

it('a start refuses a database that knows nothing of what its attester has begun on chain', async () => {
  await expect(started(await openJournal(empty.db))).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI' });
});
