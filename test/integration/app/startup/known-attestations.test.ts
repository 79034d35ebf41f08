import type { Db, Document } from 'mongodb';
import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { composeChain } from '../../../../src/app/chain.ts';
import { adoptAttestations, type ForeignAttestations, requireKnownAttestations, requireSameHistory } from '../../../../src/app/history.ts';
import { createChain } from '../../../../src/chain/client.ts';
import { type JournalRow, openJournal } from '../../../../src/chain/journal.ts';
import { loadConfig } from '../../../../src/config.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { HORIZONS } from '../../../../src/forecast/model.ts';
import { getStepDueMs } from '../../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../../src/pipeline/pipeline.ts';
import { runAttestStep } from '../../../../src/pipeline/steps/signal.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { createShutdown } from '../../../../src/platform/shutdown.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { attestedOnChain, runCommand, runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';

const DAYS = 4;
let service: TestService;
let first: number;
let old: Copy;
let whole: Copy;

/** Two days in a record, a copy of its database, and two more. */
beforeAll(async () => {
  service = await testService(DAYS);
  first = today() - DAYS;
  const { db } = service.database;
  for (const day of [first, first + 1]) await runPastDay(service, day);
  old = await copyOf(db);
  for (const day of [first + 2, first + 3]) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  whole = await copyOf(db);
});
afterAll(() => service?.stop());
afterEach(() => putBack(service.database.db, whole));

type Copy = Map<string, Document[]>;

async function copyOf(db: Db): Promise<Copy> {
  const copy: Copy = new Map();
  for (const collection of await db.collections()) copy.set(collection.collectionName, await collection.find().toArray());
  return copy;
}

/** As a restored dump: what has come since is gone, collections too. */
async function putBack(db: Db, copy: Copy): Promise<void> {
  for (const collection of await db.collections()) {
    await collection.deleteMany({});
    const documents = copy.get(collection.collectionName) ?? [];
    if (documents.length > 0) await collection.insertMany(documents);
  }
}

const rows = () => service.database.db.collection<JournalRow>('transactions');
const counts = async () => [await attestedOnChain(service, 'prediction'), await attestedOnChain(service, 'resolution')];

/** What a start compares. */
async function started({ local = true, rpcUrl = service.infrastructure.rpcUrl } = {}) {
  const { record, market } = service.http;
  const { chainId, addresses } = service.http.chain;
  const attester = service.http.wallets.attester.address;
  const chain = await createChain({ rpcUrl, chainId, confirmations: 1, pollingIntervalMs: 2, addresses });
  const journal = await openJournal(service.database.db);
  const { saltSecret } = service.infrastructure;
  const adopt = (found: ForeignAttestations) => adoptAttestations({ chain, journal, attester, record, saltSecret }, found);
  return requireSameHistory({ record, market, chain, journal, attester, isLocalChain: local, adopt, dataDir: 'data' });
}

it('reads one nonce and no events when the journal matches the chain', async () => {
  const proxy = await rpcProxy(service.infrastructure.rpcUrl);
  const { chainId, addresses } = service.http.chain;
  const attester = service.http.wallets.attester.address;
  const chain = await createChain({ rpcUrl: proxy.url, chainId, confirmations: 1, pollingIntervalMs: 2, addresses });
  await requireKnownAttestations({ chain, journal: await openJournal(service.database.db), attester, isLocalChain: false });
  expect(Object.fromEntries(proxy.counts)).toEqual({ eth_chainId: 1, eth_getTransactionCount: 1 });
  await proxy.close();
});

it('throws CONFIG_INVALID for a database older than the chain, with what it lacks and what to do', async () => {
  await putBack(service.database.db, old);
  const resolved = await attestedOnChain(service, 'resolution');
  const known = (old.get('forecasts') ?? []).filter(({ reveal }) => reveal !== null).length;
  const lacks = `${2 * HORIZONS.length} forecasts, of ${formatDay(first + 2)} to ${formatDay(first + 3)}, and ${resolved - known} outcomes`;
  await expect(started({ local: false })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    field: 'MONGODB_URI',
    message: expect.stringContaining(lacks),
    suggestedAction: expect.stringContaining('backup'),
  });
  await expect(started()).rejects.toMatchObject({ code: 'DATA_DIR_DAMAGED', field: 'DATA_DIR' });
});

it('ends a process on such a database before it sends a transaction', async () => {
  await putBack(service.database.db, old);
  const before = await counts();
  const { code, output } = await runCommand(service, ['catch-up']).ended;
  expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('The database is older than the local chain') });
  expect(await counts()).toEqual(before);
  expect(await copyOf(service.database.db)).toEqual(old);
});

it('attests nothing twice when the node learned of the transactions after the start', async () => {
  await putBack(service.database.db, old);
  const before = await counts();
  const day = first + 2;
  await runStep(service.pipeline, 'signal', day, { ...contextAt(getStepDueMs('signal', day)), replayed: true });
  await expect(runAttestStep(service.pipeline, contextAt(getStepDueMs('attest', day)))).rejects.toMatchObject({ code: 'DATA_DIR_DAMAGED' });
  expect(await counts()).toEqual(before);
});

it('attests nothing twice when the node learns of them after signing', async () => {
  await putBack(service.database.db, old);
  const { nonce } = (await rows().findOne({ address: service.http.wallets.attester.address }, { sort: { nonce: -1 } }))!;
  const proxy = await rpcProxy(service.infrastructure.rpcUrl, {
    // Its nonce is taken and no later one is: the transaction count does not reveal the foreign transaction.
    onResponse: ({ method, params }) => {
      if (method !== 'eth_getTransactionCount' || params[1] !== 'latest') return undefined;
      return { result: numberToHex(proxy.counts.has('eth_sendRawTransaction') ? nonce + 2 : nonce + 1) };
    },
  });
  const { contracts, signers } = service.infrastructure;
  const shutdown = createShutdown({ log: createLog({ level: 'silent', secrets: [] }) });
  const composed = await composeChain({ config: loadConfig({}), shutdown }, service.database.db, { rpcUrl: proxy.url, contracts, signers });
  const { attester } = composed.wallets;
  const sent = attester.send({ key: 'twice', to: attester.address, data: '0x' });
  await expect(sent).rejects.toMatchObject({ code: 'DATA_DIR_DAMAGED' });
  expect(await rows().findOne({ key: 'twice' })).toMatchObject({ nonce: nonce + 1, displaced: [] });
  await proxy.close();
});

/** The journal ends with the commitments of a day; what came after it is gone, from forecasts too. */
async function forgetSince(day: number, { isAttested }: { isAttested: boolean }): Promise<void> {
  const { nonce } = (await rows().findOne({ key: `attest:${formatDay(day)}` }))!;
  await rows().deleteMany({ address: service.http.wallets.attester.address, nonce: isAttested ? { $gt: nonce } : { $gte: nonce } });
  const { forecasts } = service.http.record;
  const lost = await forecasts
    .find({ $or: [{ day: { $gte: day } }, { 'reveal.at': { $gte: new Date((day + 1) * 86_400_000) } }] })
    .toArray();
  for (const doc of lost) {
    const isDraft = doc.day > day || (doc.day === day && !isAttested);
    const draft = isDraft ? { attestation: null, previousUid: null } : {};
    const set = {
      ...draft,
      state: isDraft ? ('DRAFT' as const) : ('PENDING' as const),
      resolution: null,
      reveal: null,
      btcAtSignalCents: null,
    };
    await forecasts.updateOne({ _id: doc._id }, { $set: set });
  }
}

it.each([{ isAttested: true }, { isAttested: false }])(
  'reads outcomes back, and commitments of forecasts that it has, and attests nothing twice ($isAttested)',
  async ({ isAttested }) => {
    await forgetSince(first + 2, { isAttested });
    const before = await counts();
    await started();
    expect(await rows().countDocuments({ state: 'SENT' })).toBeGreaterThan(0);
    const at = contextAt(Date.now());
    for (const step of ['attest', 'open-window', 'resolve'] as const) {
      expect(await runStep(service.pipeline, step, today(), at)).toHaveProperty('done');
    }
    expect(await counts()).toEqual(before);
    const whatCounts = ({ _id, state, attestation, reveal, resolution, previousUid, btcAtSignalCents }: Document) => ({
      ...{ _id, state, attestation, reveal, previousUid, btcAtSignalCents },
      resolution: resolution && { ...resolution, venues: 0, deviationBps: 0, decidedAt: 0 },
    });
    const forecasts = await service.http.record.forecasts.find().toArray();
    expect(forecasts.map(whatCounts)).toEqual(whole.get('forecasts')!.map(whatCounts));
    await expect(started()).resolves.toBeUndefined();
  },
);

it('adopts nothing where one forecast has other values than the chain', async () => {
  await forgetSince(first + 2, { isAttested: true });
  const { values, _id } = (await service.http.record.forecasts.findOne({ day: first + 1, horizonDays: 1, values: { $ne: null } }))!;
  await service.http.record.forecasts.updateOne({ _id }, { $set: { 'values.pUpBps': values!.pUpBps + 1 } });
  const before = await copyOf(service.database.db);
  await expect(started({ local: false })).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'MONGODB_URI' });
  expect(await copyOf(service.database.db)).toEqual(before);
});

it('accepts foreign transactions of other kinds and own unconfirmed ones', async () => {
  const newest = await rows().findOne({ address: service.http.wallets.attester.address }, { sort: { nonce: -1 } });
  await rows().updateOne({ _id: newest!._id }, { $set: { state: 'SENT', receipt: null } });
  const proxy = await rpcProxy(service.infrastructure.rpcUrl, {
    onResponse: ({ method }, result) => (method === 'eth_getTransactionCount' ? { result: numberToHex(Number(result) + 1) } : undefined),
  });
  await expect(started({ local: false, rpcUrl: proxy.url })).resolves.toBeUndefined();
  expect(proxy.counts.get('eth_getLogs')).toBe(2);
  await proxy.close();
});
