import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reputationAbi } from '../../../src/chain/erc8004.ts';
import { replayDays } from '../../../src/dev/replay.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { buildWagerEvidence, type WagerDoc } from '../../../src/wager/wagers.ts';
import { type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 365;

let service: TestService;
let wagers: WagerDoc[];

beforeAll(async () => {
  service = await testService(DAYS);
  const { database, pipeline, infrastructure } = service;
  const range = { from: today() - DAYS, to: today() - 1 };
  const chain = infrastructure.localChain!;
  await replayDays({ db: database.db, pipeline, range, chain, onProgress: () => {}, signal: new AbortController().signal });
  wagers = await pipeline.wagers.wagers.find().sort({ day: 1 }).toArray();
}, 600_000);
afterAll(() => service?.stop());

it('has a wager on every day, of the minimum stake where there is no edge', async () => {
  expect(wagers).toHaveLength(DAYS);
  expect(wagers.filter(({ state }) => state === 'SKIPPED').map(({ _id, skippedBecause }) => [_id, skippedBecause])).toEqual([]);
  const smallest = wagers.filter(({ basis }) => basis === 'minimum');
  expect(smallest.length).toBeGreaterThan(0);
  for (const { costMicros } of smallest) {
    expect(costMicros).toBeGreaterThanOrEqual(1_000_000);
    expect(costMicros).toBeLessThan(2_000_000);
  }
});

it('has one feedback entry in the reputation registry for each settled wager whose forecasts are public, and none for another', async () => {
  const lastPublicDay = service.pipeline.record.known.getLastPublicDay(new Date());
  const reportable = wagers.filter(({ day, state }) => day <= lastPublicDay && (state === 'WIN' || state === 'LOSS'));
  expect(reportable.length).toBeGreaterThanOrEqual(340);
  const { infrastructure, pipeline, http: deps } = service;
  const events = await createPublicClient({ transport: http(infrastructure.rpcUrl) }).getContractEvents({
    address: deps.chain.addresses.reputationRegistry,
    abi: reputationAbi,
    eventName: 'NewFeedback',
    args: { clientAddress: pipeline.reporter.address },
    fromBlock: 0n,
  });
  const onChain = events.map(({ args }) => [args.feedbackURI!.slice(-10), args.tag2, args.feedbackHash]);
  expect(onChain.toSorted()).toEqual(
    reportable.map((wager) => [formatDay(wager.day), wager.state, buildWagerEvidence(wager).hash]).toSorted(),
  );
  expect(wagers.filter(({ feedbackTxHash }) => feedbackTxHash !== null)).toHaveLength(reportable.length);
});

it('reports an outcome when it is settled and its forecasts are public, and not before', async () => {
  const { forecasts } = service.pipeline.record;
  for (const { day, settledAt, feedbackAt } of wagers.filter(({ feedbackTxHash }) => feedbackTxHash !== null)) {
    const reveals = (await forecasts.find({ day }).toArray()).map(({ reveal }) => reveal!.at.getTime());
    const possible = Math.max(settledAt!.getTime(), ...reveals);
    expect(feedbackAt!.getTime()).toBeGreaterThanOrEqual(possible);
    expect(feedbackAt!.getTime() - possible).toBeLessThan(3_600_000);
  }
});
