import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OracleError } from '../../../src/errors.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLiveContext, getStepDueMs, getWindowOpensMs } from '../../../src/pipeline/forecaster.ts';
import { catchUp, runOutcomeCheck, runStep } from '../../../src/pipeline/pipeline.ts';
import { contextAt } from '../../support/clock/trusted-time.ts';
import { attestedOnChain, type TestService, today, unresolvedService } from '../../support/service/service.ts';
import { expectOneEffect } from '../../support/service/two-workers.ts';

const DAYS = 10;
let service: TestService;

beforeAll(async () => {
  service = await unresolvedService(DAYS);
});
afterAll(() => service.stop());

const onChain = (schema: 'prediction' | 'resolution') => attestedOnChain(service, schema);

describe('two workers on one database', () => {
  it('apply each sending step once when both processes run it at the same time', async () => {
    await expectOneEffect(service, ['signal', 'attest', 'wager', 'resolve', 'reputation']);
  });

  it('change nothing when every step is done', async () => {
    const { record, wagers } = service.pipeline;
    const state = async () => ({
      forecasts: await record.forecasts.find().sort({ _id: 1 }).toArray(),
      days: await record.days.find().sort({ _id: 1 }).toArray(),
      wagers: await wagers.wagers.find().sort({ _id: 1 }).toArray(),
      attested: [await onChain('prediction'), await onChain('resolution')],
    });
    const context = createLiveContext(service.pipeline, new Date());
    await catchUp(service.pipeline, context);
    const before = await state();
    await Promise.all([catchUp(service.pipeline, context), catchUp(service.pipeline, context)]);
    expect(await state()).toEqual(before);
  });
});

describe('an outage', () => {
  const at = contextAt;

  it('records missed days as void, attested late, and continues the sequence', async () => {
    const { pipeline } = service;
    // The service restarts three days later at noon: two days are missed.
    const back = today() + 3;
    await service.infrastructure.localChain!.setNextBlockTime(getStepDueMs('signal', back) - 9 * 3_600_000);
    await catchUp(pipeline, at(getStepDueMs('signal', back) - 9 * 3_600_000));
    for (const horizon of HORIZONS) {
      const docs = pipeline.record.known.listByHorizon(horizon);
      expect(docs.map(({ sequence }) => sequence)).toEqual(docs.map((_, index) => index + 1));
      for (const missed of docs.slice(-2)) {
        expect(missed).toMatchObject({
          state: 'VOID',
          missed: true,
          values: null,
          previousUid: docs[missed.sequence - 2].attestation!.uid,
        });
        expect(missed.attestation!.at.getTime()).toBeGreaterThanOrEqual(getWindowOpensMs(missed.day));
      }
    }
    expect(await pipeline.record.findLastDay()).toBe(back - 1);
    for (const day of [back - 2, back - 1]) {
      expect(await pipeline.wagers.findByDay(day)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'nothing was forecast' });
    }
  });

  it('records the day as late, not void, when the window has not opened', async () => {
    const { pipeline } = service;
    const day = today() + 3;
    const lateMs = getStepDueMs('signal', day) + 2 * 3_600_000;
    await service.infrastructure.localChain!.setNextBlockTime(lateMs);
    await catchUp(pipeline, at(lateMs));
    for (const doc of await pipeline.record.listByDay(day)) expect(doc).toMatchObject({ state: 'PENDING', late: true, missed: false });
    expect(await pipeline.wagers.findByDay(day)).not.toBeNull();
  });
});

describe('a step that fails for good', () => {
  it('is recorded and does not block the other steps', async () => {
    const { pipeline } = service;
    const broken = async (): Promise<never> => {
      throw new OracleError('CHAIN_REVERTED', 'the contract refuses');
    };
    const deps = { ...pipeline, record: Object.assign(Object.create(pipeline.record), { listDaysToOpen: broken }) };
    const reports = await runOutcomeCheck(deps, contextAt(getStepDueMs('signal', today() + 3) + 3 * 3_600_000));
    const outcomes = Object.fromEntries(reports.map(({ step, outcome }) => [step, outcome]));
    expect(outcomes['open-window']).toEqual({ failed: 'the contract refuses' });
    expect(outcomes.reputation).toHaveProperty('done');
    expect((await pipeline.runs.listLatest()).find(({ step }) => step === 'open-window')).toMatchObject({ state: 'failed' });
  });
});

describe('a step without its price', () => {
  it('waits with a reason and runs once the price is available', async () => {
    const { pipeline } = service;
    const day = today() + 4;
    const context = contextAt(getStepDueMs('signal', day));
    const dead = async (): Promise<never> => {
      throw new OracleError('PRICE_UNAVAILABLE', 'no venue answers');
    };
    const blind = { ...pipeline, market: { ...pipeline.market, inputs: dead } };
    expect(await runStep(blind, 'signal', day, context)).toEqual({ waiting: 'no venue answers' });
    expect(await pipeline.record.findDay(day)).toBeNull();
    expect((await pipeline.runs.listLatest()).find(({ step }) => step === 'signal')).toMatchObject({
      state: 'waiting',
      reason: 'no venue answers',
    });
    expect(await runStep(pipeline, 'signal', day, context)).toEqual({ done: expect.stringContaining('forecast at') });
    expect(await pipeline.record.listByDay(day)).toHaveLength(HORIZONS.length);
  });
});
