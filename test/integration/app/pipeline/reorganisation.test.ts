import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../../src/audit/audit.ts';
import type { JournalRow } from '../../../../src/chain/journal.ts';
import { openRecordPrices } from '../../../../src/cli/audit.ts';
import { openAuditChain } from '../../../../src/cli/svc/audit-options.ts';
import { type Day, formatDay, MINUTE_MS } from '../../../../src/forecast/day.ts';
import { getStepDueMs, getWindowOpensMs } from '../../../../src/pipeline/forecaster.ts';
import { catchUp } from '../../../../src/pipeline/pipeline.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { type TestService, testService, today } from '../../../support/service/service.ts';

const BLOCKS = 40;

let service: TestService;
let day: Day;
beforeAll(async () => {
  service = await testService(20, { WAGER_MIN_STAKE_USD: '5' });
  day = today() - 19;
});
afterAll(() => service.stop());

/** Of the node itself, which its endpoint shields. */
async function rpc(method: string, ...params: unknown[]): Promise<unknown> {
  const { localChain, rpcUrl } = service.infrastructure;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await localChain!.fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
const forecasts = (of: Day) => service.pipeline.record.listByDay(of);
const rowOf = async (key: string) =>
  (await service.database.db.collection<JournalRow>('transactions').findOne({ _id: `84532:${key}` })) as JournalRow;
const isOnChain = async (uid: Hex) => (await service.http.attestations.read(uid)) !== null;

/** What the worker does each minute, with every clock at an instant. */
async function catchUpAt(ms: number): Promise<void> {
  await service.infrastructure.localChain!.setNextBlockTime(ms);
  const reports = await catchUp(service.pipeline, contextAt(ms));
  for (const { step, outcome } of reports) expect(outcome, step).toHaveProperty('done');
}

/** Steps whose blocks the chain then replaces by as many others, deeper than any confirmation. */
async function undone(steps: () => Promise<void>, ms: number): Promise<void> {
  const id = await rpc('evm_snapshot');
  await steps();
  await rpc('evm_revert', id);
  await service.infrastructure.localChain!.setNextBlockTime(ms);
  for (let block = 0; block < BLOCKS; block += 1) await rpc('evm_mine');
}

const attest = (of: Day) => catchUpAt(getStepDueMs('attest', of));
const wager = (of: Day) => catchUpAt(getStepDueMs('wager', of));
const signal = (of: Day) => catchUpAt(getStepDueMs('signal', of));

async function expectCommitted(of: Day, state: string): Promise<Hex[]> {
  const docs = await forecasts(of);
  expect(docs.map((doc) => doc.state)).toEqual(docs.map(() => state));
  const before = await forecasts(of - 1);
  for (const [index, { attestation, previousUid }] of docs.entries()) {
    expect(await isOnChain(attestation!.uid)).toBe(true);
    expect((await service.http.attestations.read(attestation!.uid))!.refUid).toBe(previousUid ?? `0x${'0'.repeat(64)}`);
    if (before.length > 0) expect(previousUid).toBe(before[index].attestation!.uid);
  }
  return docs.map(({ attestation }) => attestation!.uid);
}

describe('a reorganisation deeper than the confirmations', () => {
  it('takes back a commitment, which is sent again before its window opens', async () => {
    await signal(day);
    let gone: (Hex | undefined)[] = [];
    const due = getStepDueMs('attest', day);
    await undone(async () => {
      await attest(day);
      gone = (await forecasts(day)).map(({ attestation }) => attestation?.uid);
    }, due + MINUTE_MS);
    await catchUpAt(due + 2 * MINUTE_MS);
    const uids = await expectCommitted(day, 'PENDING');
    expect(gone).not.toContain(undefined);
    for (const uid of uids) expect(gone).not.toContain(uid);
    expect(await rowOf(`attester:attest:${formatDay(day)}`)).toMatchObject({ state: 'CONFIRMED', lost: { isHandled: true } });
  });

  it('takes back two days, whose links are set anew', async () => {
    const [first, second] = [day + 1, day + 2];
    await catchUpAt(getWindowOpensMs(day) + MINUTE_MS);
    await signal(first);
    let gone: (Hex | null)[] = [];
    await undone(async () => {
      await attest(first);
      await signal(second);
      await attest(second);
      gone = (await forecasts(second)).map(({ previousUid }) => previousUid);
    }, getStepDueMs('attest', second) + MINUTE_MS);
    await catchUpAt(getStepDueMs('attest', second) + 2 * MINUTE_MS);
    // The first of them is too late by then, and keeps its place in the sequence.
    await expectCommitted(first, 'VOID');
    await expectCommitted(second, 'PENDING');
    expect(gone).not.toContain((await forecasts(second))[0].previousUid);
    day = second;
  });

  it('that is seen when the window is open makes the day void, and the record goes on', async () => {
    const late = day + 1;
    await signal(late);
    await undone(() => attest(late), getWindowOpensMs(late) + MINUTE_MS);
    await catchUpAt(getWindowOpensMs(late) + 2 * MINUTE_MS);
    await expectCommitted(late, 'VOID');
    day = late + 1;
    await signal(day);
    await attest(day);
    await expectCommitted(day, 'PENDING');
  });

  it('takes back outcomes, which are revealed again', async () => {
    const ends = getWindowOpensMs(day + 1) + MINUTE_MS;
    await undone(() => catchUpAt(ends), ends + MINUTE_MS);
    const [resolved] = await forecasts(day);
    expect(resolved).toMatchObject({ horizonDays: 1, reveal: { uid: expect.anything() } });
    expect(await isOnChain(resolved.reveal!.uid)).toBe(false);
    await catchUpAt(ends + 2 * MINUTE_MS);
    const [again] = await forecasts(day);
    expect(['WIN', 'LOSS', 'HOLD']).toContain(again.state);
    expect(again.reveal!.uid).not.toBe(resolved.reveal!.uid);
    expect((await service.http.attestations.read(again.reveal!.uid))!.refUid).toBe(again.attestation!.uid);
    day += 1;
  });

  it('moves a transaction to another block, whose uids the record takes over', async () => {
    const moved = day + 1;
    await signal(moved);
    const due = getStepDueMs('attest', moved);
    await undone(() => attest(moved), due + MINUTE_MS);
    const { attempts } = await rowOf(`attester:attest:${formatDay(moved)}`);
    await rpc('eth_sendRawTransaction', attempts.at(-1)!.raw);
    const before = await forecasts(moved);
    await catchUpAt(due + 2 * MINUTE_MS);
    const uids = await expectCommitted(moved, 'PENDING');
    for (const { attestation } of before) expect(uids).not.toContain(attestation!.uid);
    day = moved;
  });

  it('takes back the report of a wager, which is sent again', async () => {
    const { wagers } = service.pipeline;
    await wager(day);
    // All outcomes of its day are public by then.
    const ms = getWindowOpensMs(day + 8) + MINUTE_MS;
    await undone(() => catchUpAt(ms), ms + MINUTE_MS);
    const [reported] = await wagers.wagers.find({ feedbackTxHash: { $ne: null } }).toArray();
    expect(reported).toBeDefined();
    await catchUpAt(ms + 2 * MINUTE_MS);
    const again = (await wagers.wagers.findOne({ _id: reported._id, feedbackTxHash: { $ne: null } }))!;
    expect(again.feedbackAt!.getTime()).toBeGreaterThan(reported.feedbackAt!.getTime());
    expect(await rowOf(`reporter:feedback:${reported._id}`)).toMatchObject({ state: 'CONFIRMED', lost: { isHandled: true } });
  });

  it('leaves nothing watched below the final block', async () => {
    for (let block = 0; block < 70; block += 1) await rpc('evm_mine');
    await service.pipeline.followChain();
    expect(await service.database.db.collection('transactions').countDocuments({ isWatched: true })).toBe(0);
  });

  it('leaves a record that an audit of the chain accepts', async () => {
    const { eas, schemaRegistry } = service.http.chain.addresses;
    const now = new Date(getWindowOpensMs(day + 8) + 5 * MINUTE_MS);
    const report = await audit({
      chain: await openAuditChain({ rpcUrl: service.infrastructure.rpcUrl, eas, schemaRegistry }),
      attester: service.http.wallets.attester.address,
      prices: await openRecordPrices(service.pipeline.market.source, { feeds: 'simulated', now }),
      ...{ claims: null, now },
    });
    expect(report.differences).toEqual([]);
    // Of each horizon the days that came too late, under their numbers.
    expect(report.horizons.map(({ voids, missed }) => voids - missed)).toEqual([2, 2, 2, 2]);
  });
});
