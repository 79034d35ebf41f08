import { afterEach, describe, expect, it } from 'vitest';
import { callJsonRpc } from '../../../src/dev/local-chain/contracts.ts';
import type { LocalChain } from '../../../src/dev/local-chain/local-chain.ts';
import { computeReplayRange, type ReplayRange, replayDays } from '../../../src/dev/replay.ts';
import { OracleError } from '../../../src/errors.ts';
import { createLiveContext, getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { catchUp, runStep, STEP_NAMES } from '../../../src/pipeline/pipeline.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 4;
let service: TestService;
afterEach(() => service?.stop());

const range: ReplayRange = { from: today() - DAYS, to: today() - 1 };

function replayAll(signal = new AbortController().signal, chain: Partial<LocalChain> = {}) {
  const { database, pipeline, infrastructure } = service;
  return replayDays({
    db: database.db,
    pipeline,
    range,
    chain: { ...infrastructure.localChain!, ...chain },
    onProgress: () => {},
    signal,
  });
}

async function expectWholeRecord(): Promise<void> {
  for (const horizon of [1, 2, 3, 7]) {
    const docs = service.pipeline.record.known.listByHorizon(horizon);
    expect(docs.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    for (const doc of docs) {
      expect(doc.state).not.toBe('VOID');
      // To the minute: the first commitment follows the registration of its schemas.
      const at = doc.attestation!.at.getTime();
      expect(Math.floor(at / 60_000)).toBe(getStepDueMs('attest', doc.day) / 60_000);
    }
  }
  const attestations = await service.http.attestations.find({
    schema: 'prediction',
    attester: service.http.wallets.attester.address,
    fromBlock: 0,
  });
  expect(attestations).toHaveLength(4 * DAYS);
}

/** What is left when a process is killed in the middle of a day: the plan, some of the day's steps, and perhaps the next day's forecast. */
async function interruptAfter(steps: number, { isNextForecast = false } = {}): Promise<void> {
  const { database, pipeline, infrastructure } = service;
  await database.db.collection<{ _id: string }>('replay').insertOne({ _id: 'replay', ...range, through: null } as { _id: string });
  for (const step of STEP_NAMES.slice(0, steps)) {
    const ms = step === 'signal' || step === 'attest' || step === 'wager' ? getStepDueMs(step, range.from) : getWindowOpensMs(range.from);
    await infrastructure.localChain!.setNextBlockTime(ms);
    await runStep(pipeline, step, range.from, { ...contextAt(ms), replayed: true });
  }
  if (isNextForecast) {
    const next = range.from + 1;
    await runStep(pipeline, 'signal', next, { ...contextAt(getStepDueMs('signal', next)), replayed: true });
  }
  // A restored chain has the wall clock's time until it is set.
  await infrastructure.localChain!.setNextBlockTime(Date.now());
}

describe('a replay', () => {
  it.each([
    { steps: 2, isNextForecast: false },
    { steps: 7, isNextForecast: true },
  ])('continues after an interruption after $steps steps of a day, next forecast: $isNextForecast', async ({ steps, isNextForecast }) => {
    service = await testService(DAYS);
    await interruptAfter(steps, { isNextForecast });
    expect(await replayAll()).toEqual(range);
    await expectWholeRecord();
  });

  it('ends with the error of the chain, and continues at its next start', async () => {
    service = await testService(DAYS);
    const { localChain } = service.infrastructure;
    let calls = 0;
    const setNextBlockTime: LocalChain['setNextBlockTime'] = async (ms) => {
      calls += 1;
      if (calls === 8) throw new OracleError('CHAIN_UNREACHABLE', 'the chain is gone');
      await localChain!.setNextBlockTime(ms);
    };
    await expect(replayAll(undefined, { setNextBlockTime })).rejects.toThrow('the chain is gone');
    const runs = await service.database.db.collection('step_runs').find().toArray();
    expect(await replayAll()).toEqual(range);
    await expectWholeRecord();
    // A step that only waited for the chain has not failed.
    expect(runs.filter(({ state }) => state !== 'done').length).toBeLessThanOrEqual(1);
  });

  it('that is not finished holds back every step of today, which would seal the days in between as missed; it is made once', async () => {
    service = await testService(DAYS);
    await interruptAfter(3);
    const { pipeline } = service;
    const before = await pipeline.record.days.find().toArray();
    const reports = await catchUp(pipeline, createLiveContext(service.pipeline, new Date()));
    for (const { outcome } of reports) expect(outcome).toEqual({ waiting: expect.stringContaining('replay of past days is not finished') });
    expect(await pipeline.record.days.find().toArray()).toEqual(before);
    expect(await service.database.db.collection('record_figures').countDocuments()).toBe(0);
    await replayAll();
    const replayed = await pipeline.record.forecasts.find().toArray();
    expect(await replayAll()).toEqual(range);
    expect(await pipeline.record.forecasts.find().toArray()).toEqual(replayed);
    await service.infrastructure.localChain!.followWallClock();
    for (const { outcome } of await catchUp(pipeline, createLiveContext(service.pipeline, new Date())))
      expect(outcome).toHaveProperty('done');
  });

  it('writes nothing when the service stops, or when the last block is later than every day allows', async () => {
    service = await testService(DAYS);
    const { localChain, rpcUrl } = service.infrastructure;
    const forgetPlan = () => service.database.db.collection('replay').deleteMany({});
    await expect(replayAll(AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
    expect(await service.pipeline.record.findLastDay()).toBeNull();
    // A second after the last commitment is due, and five minutes after the last outcome window opened.
    for (const lastBlockMs of [getStepDueMs('attest', range.to) + 1_000, getWindowOpensMs(range.to) + 300_000]) {
      await forgetPlan();
      await localChain!.setNextBlockTime(lastBlockMs);
      await callJsonRpc(rpcUrl, 'evm_mine');
      expect(await replayAll()).toBeNull();
      expect(await service.pipeline.record.findLastDay()).toBeNull();
    }
  });
});

describe('the range of a replay', () => {
  it.each([
    ['ends yesterday where the data has no end', { firstDay: 0, lastDay: null }, 100, 30, { from: 70, to: 99 }],
    ['ends with the data', { firstDay: 0, lastDay: 50 }, 100, 30, { from: 21, to: 50 }],
    ['begins with the data', { firstDay: 40, lastDay: 50 }, 100, 30, { from: 40, to: 50 }],
    ['is empty when none is wanted', { firstDay: 0, lastDay: null }, 100, 0, null],
  ])('%s', async (_name, coverage, day, days, expected) => {
    expect(computeReplayRange(coverage, day, days)).toEqual(expected);
  });
});
