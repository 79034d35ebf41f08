import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { requireSameHistory } from '../../../../src/app/history.ts';
import { createChain } from '../../../../src/chain/client.ts';
import { type JournalRow, openJournal } from '../../../../src/chain/journal.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { testDatabase } from '../../../support/database/database.ts';
import { type TestService, testService } from '../../../support/service/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await testService(0);
});
afterAll(() => service?.stop());

const STRANGER = privateKeyToAddress(`0x${'7'.repeat(64)}`);

/** A journal that holds one transaction of the service's attester, changed; none without a change. */
async function journalWith(change?: Partial<JournalRow>) {
  const { db, drop } = await testDatabase();
  onTestFinished(drop);
  const journal = await openJournal(db);
  const { chainId } = service.http.chain;
  const address = service.http.wallets.attester.address;
  const row = await service.database.db.collection<JournalRow>('transactions').findOne({ chainId, address, state: 'CONFIRMED' });
  if (change !== undefined) expect(await journal.insert({ ...row!, ...change })).toBe(true);
  return journal;
}

/** What a start compares, with the journal of some database. */
async function started(journal: Awaited<ReturnType<typeof openJournal>>, rpcUrl = service.infrastructure.rpcUrl) {
  const { record, market } = service.http;
  const { chainId, addresses } = service.http.chain;
  const attester = service.http.wallets.attester.address;
  const chain = await createChain({ rpcUrl, chainId, confirmations: 1, pollingIntervalMs: 2, addresses });
  return requireSameHistory({ record, market, chain, journal, attester, isLocalChain: false, dataDir: 'data' });
}

it('accepts the database of the record', async () => {
  await expect(started(await openJournal(service.database.db))).resolves.toBeUndefined();
});

it('throws CONFIG_INVALID for a database without the record that the attester has on chain', async () => {
  const refused = started(await journalWith());
  await expect(refused).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI' });
  await expect(refused).rejects.toMatchObject({ suggestedAction: expect.stringContaining('transfer it away') });
});

it('accepts a new attester that owns the transferred identity, on the database of the record', async () => {
  await expect(started(await journalWith({ address: STRANGER }))).resolves.toBeUndefined();
});

it('accepts a journal whose only transaction is unconfirmed', async () => {
  await expect(started(await journalWith({ state: 'SENT', receipt: null }))).resolves.toBeUndefined();
});

it('accepts a record that another process began during the check', async () => {
  const journal = await journalWith();
  const { chainId } = service.http.chain;
  const address = service.http.wallets.attester.address;
  const row = await service.database.db.collection<JournalRow>('transactions').findOne({ chainId, address });
  const proxy = await rpcProxy(service.infrastructure.rpcUrl, {
    onRequest: async ({ method }) => {
      if (method === 'eth_call') expect(await journal.insert({ ...row!, nonce: 1_000, state: 'SENT', receipt: null })).toBe(true);
      return undefined;
    },
  });
  onTestFinished(() => proxy.close());
  await expect(started(journal, proxy.url)).resolves.toBeUndefined();
  expect(proxy.counts.get('eth_call')).toBe(1);
});

it('throws CONFIG_INVALID for transactions of another chain, and for unconfirmed ones of another wallet', async () => {
  const elsewhere = { chainId: service.http.chain.chainId + 1 };
  const unseen = { address: STRANGER, state: 'SENT', receipt: null } as const;
  for (const change of [elsewhere, unseen]) {
    await expect(started(await journalWith(change))).rejects.toMatchObject({ field: 'MONGODB_URI' });
  }
});
