import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callJsonRpc } from '../../../src/dev/local-chain/contracts.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { computeLastEndedDay } from '../../../src/record/forecast-doc.ts';
import { MICROS } from '../../../src/wager/venue.ts';
import { buildWagerEvidence, compareSettledWagers } from '../../../src/wager/wagers.ts';
import { decidedWager, expiredWager, settledWager } from '../../integration/pipeline/steps/wager-fixtures.ts';
import { rpcProxy } from '../../support/chain/rpc-proxy.ts';
import { REACHED } from '../../support/clock/trusted-time.ts';
import { type MongoWrite, mongoProxy } from '../../support/database/mongo-proxy.ts';
import {
  attestedOnChain,
  type CommandRun,
  clearWagers,
  runCommand,
  type TestService,
  today,
  unresolvedService,
} from '../../support/service/service.ts';

const DAYS = 9;
let service: TestService;

/** Nine past days, each committed in time, none resolved. */
beforeAll(async () => {
  service = await unresolvedService(DAYS);
  await clearWagers(service);
});
afterAll(() => service.stop());

const onChain = (schema: 'prediction' | 'resolution') => attestedOnChain(service, schema);

/** Runs a command and kills it after its first transaction has reached the chain, before it reads the response. */
async function killedAfterBroadcast(...args: string[]): Promise<void> {
  let run: CommandRun;
  const proxy = await rpcProxy(service.infrastructure.rpcUrl, {
    onResponse: ({ method }) => {
      if (method !== 'eth_sendRawTransaction') return undefined;
      run.child.kill('SIGKILL');
      return 'drop';
    },
  });
  run = runCommand(service, args, { CHAIN_RPC_URL: proxy.url });
  expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
  await proxy.close();
  // The node responds before it has mined the transaction.
  await expect.poll(() => callJsonRpc(service.infrastructure.rpcUrl, 'txpool_status')).toMatchObject({ pending: '0x0' });
}

/** Runs a command and kills it after one of its writes is in the database, before it reads the response. */
async function killedAfterWrite(write: MongoWrite, ...args: string[]): Promise<void> {
  let run: CommandRun;
  const proxy = await mongoProxy(service.infrastructure.mongodbUri, write, () => run.child.kill('SIGKILL'));
  run = runCommand(service, args, { MONGODB_URI: proxy.uri });
  expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
  await proxy.close();
}

/** A transaction on chain. */
function transactionOf(hash: string): Promise<{ input: string }> {
  return callJsonRpc(service.infrastructure.rpcUrl, 'eth_getTransactionByHash', hash);
}

async function finished(...args: string[]): Promise<void> {
  expect(await runCommand(service, args).ended).toMatchObject({ code: 0 });
}

describe('a process killed between an effect and its record', () => {
  it('forecasts a day once', async () => {
    const { record } = service.pipeline;
    await killedAfterWrite({ command: 'insert', collection: 'days' }, 'signal', '--early');
    const [stored, forecasts] = [await record.findDay(today()), await record.listByDay(today())];
    expect(stored).not.toBeNull();
    expect(forecasts).toEqual([]);
    await finished('signal', '--early');
    // The same day, whose events have been published by now.
    expect(await record.findDay(today())).toEqual({ ...stored, outbox: [] });
    expect((await record.listByDay(today())).map(({ horizonDays }) => horizonDays)).toEqual([...HORIZONS]);
  });

  it('attests a day once', async () => {
    const { record } = service.pipeline;
    const before = await onChain('prediction');
    await killedAfterBroadcast('attest');
    expect(await onChain('prediction')).toBe(before + HORIZONS.length);
    expect((await record.listByDay(today())).map(({ state }) => state)).toEqual(HORIZONS.map(() => 'DRAFT'));
    await finished('attest');
    expect(await onChain('prediction')).toBe(before + HORIZONS.length);
    expect((await record.listByDay(today())).map(({ state }) => state)).toEqual(HORIZONS.map(() => 'PENDING'));
  });

  it('places a decided wager once', async () => {
    const { wagers, venue } = service.pipeline;
    await wagers.wagers.deleteOne({ _id: formatDay(today()) });
    const wager = await decidedWager(service.pipeline, today());
    await wagers.decide(wager, REACHED);
    await killedAfterWrite({ command: 'insert', collection: 'paper_orders' }, 'wager');
    expect(await wagers.findByDay(today())).toMatchObject({ state: 'DECIDED' });
    await finished('wager');
    const placed = await wagers.findByDay(today());
    expect(placed).toMatchObject({ state: 'PLACED', contracts: wager.contracts });
    expect(await venue.getAccount()).toMatchObject({ cashMicros: 10_000 * MICROS - placed!.costMicros, openMicros: placed!.costMicros });
  });

  it('opens a window once', async () => {
    const { record } = service.pipeline;
    const yesterday = await record.listByDay(today() - 1);
    await record.forecasts.updateMany({ day: today() - 1 }, { $set: { btcAtSignalCents: null } });
    await killedAfterWrite({ command: 'update', collection: 'forecasts' }, 'open-window');
    await finished('open-window');
    expect(await record.listByDay(today() - 1)).toEqual(yesterday);
  });

  it('settles a wager once', async () => {
    const { wagers, venue } = service.pipeline;
    const wager = await expiredWager(service.pipeline, today() - 4);
    await wagers.wagers.replaceOne({ _id: wager._id }, wager, { upsert: true });
    const before = await venue.getAccount();
    await killedAfterWrite({ command: 'findAndModify', collection: 'paper_orders' }, 'settle');
    expect(await wagers.findByDay(today() - 4)).toMatchObject({ state: 'PLACED', winner: null });
    await finished('settle');
    const settled = await wagers.findByDay(today() - 4);
    expect(settled).toMatchObject({ state: 'WIN', winner: 'YES', payoutMicros: 10 * MICROS });
    expect((await venue.getAccount()).cashMicros).toBe(before.cashMicros + 10 * MICROS);
    await wagers.wagers.deleteOne({ _id: wager._id });
  });

  it('reveals each forecast once', async () => {
    const due = await service.pipeline.record.listDueForResolution(new Date());
    expect(due.length).toBeGreaterThan(15);
    expect(await onChain('resolution')).toBe(0);
    await killedAfterBroadcast('resolve');
    expect(await onChain('resolution')).toBeGreaterThan(0);
    await finished('resolve');
    expect(await onChain('resolution')).toBe(due.length);
    const resolved = await service.pipeline.record.listByIds(due.map(({ _id }) => _id));
    for (const doc of resolved) expect(['WIN', 'LOSS', 'HOLD']).toContain(doc.state);
    expect(new Set(resolved.map(({ reveal }) => reveal!.uid)).size).toBe(due.length);
  });

  it('reports no outcome while a forecast of its day is pending', async () => {
    const { wagers, venue } = service.pipeline;
    const day = today() - 7;
    const readPublic = async () => (await service.http.crowd.get(computeLastEndedDay(new Date()))).headToHead;
    const before = await readPublic();
    const compare = async () => compareSettledWagers(await wagers.wagers.find().sort({ day: 1 }).toArray(), venue.sameBook);
    const { settledMarkets } = await compare();
    await wagers.wagers.replaceOne({ _id: formatDay(day) }, settledWager(day, 'WIN'), { upsert: true });
    await finished('reputation');
    expect(await service.http.reputation()).toMatchObject({ total: 0 });
    expect((await service.http.crowd.get(computeLastEndedDay(new Date()))).outcomes).toEqual({ wins: 0, losses: 0 });
    expect(await readPublic()).toEqual(before);
    expect((await compare()).settledMarkets).toBeGreaterThan(settledMarkets);
    await wagers.wagers.deleteOne({ _id: formatDay(day) });
  });

  it('reports an outcome once', async () => {
    const { wagers } = service.pipeline;
    for (const [index, state] of (['WIN', 'LOSS', 'WIN'] as const).entries()) {
      await wagers.wagers.replaceOne({ _id: formatDay(today() - 12 + index) }, settledWager(today() - 12 + index, state), { upsert: true });
    }
    await killedAfterBroadcast('reputation');
    expect(await service.http.reputation()).toMatchObject({ total: 1 });
    await finished('reputation');
    expect(await service.http.reputation()).toMatchObject({ total: 3, positive: 2, averageScore: 66.66 });
    expect(await wagers.listUnreported(today())).toEqual([]);
    const reported = await wagers.findByDay(today() - 12);
    expect(reported!.feedbackTxHash).toMatch(/^0x/);
    const { input } = await transactionOf(reported!.feedbackTxHash!);
    expect(input).toContain(buildWagerEvidence(reported!).hash.slice(2));
  });
});
