import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replayDays } from '../../../src/dev/replay.ts';
import { viewEvent } from '../../../src/events/event-view.ts';
import { PAYLOADS } from '../../../src/events/events.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import { HORIZONS } from '../../../src/forecast/model.ts';
import { createLiveContext } from '../../../src/pipeline/forecaster.ts';
import { runStep } from '../../../src/pipeline/pipeline.ts';
import { inEntry, parseTraceparent } from '../../../src/platform/tracing.ts';
import { type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 12;
let service: TestService;

beforeAll(async () => {
  service = await testService(DAYS);
  const { database, pipeline, range, infrastructure } = service;
  await replayDays({
    ...{ db: database.db, pipeline: pipeline, range: range!, chain: infrastructure.localChain! },
    ...{ onProgress: () => undefined, signal: service.shutdown.signal },
  });
});
afterAll(() => service.stop());

const all = () => service.push.events.after(0, 10_000);

describe('the events of a service', () => {
  it('match the record, one per change, after a replay is published', async () => {
    expect(await service.push.events.lastId()).toBe(0);
    const published = await service.push.publish();
    const events = await all();
    expect(events).toHaveLength(published);
    const count = (type: string, kind?: string) =>
      events.filter((event) => event.type === type && (kind === undefined || (event.content as { kind?: string }).kind === kind)).length;

    const { forecasts, days } = service.pipeline.record;
    const made = await forecasts.countDocuments({});
    const revealed = await forecasts.countDocuments({ reveal: { $ne: null } });
    expect(made).toBe(DAYS * HORIZONS.length);
    expect(count('signal.new')).toBe(made);
    expect(count('attestation.created', 'prediction')).toBe(made);
    expect(count('attestation.created', 'resolution')).toBe(revealed);
    expect(count('signal.resolved')).toBe(await forecasts.countDocuments({ state: { $in: ['WIN', 'LOSS'] } }));
    const { wagers } = service.pipeline.wagers;
    const dates = (await days.find({}, { sort: { day: 1 } }).toArray()).map(({ _id }) => _id);
    expect(events.filter(({ type }) => type === 'wager.placed').map(({ key }) => key)).toEqual(dates.map((date) => `wager.placed:${date}`));
    expect(await wagers.countDocuments({ placedAt: null })).toBe(0);
    expect(count('wager.settled')).toBe(await wagers.countDocuments({ state: { $in: ['WIN', 'LOSS'] } }));
    const regimes = (await days.find({}).sort({ day: 1 }).toArray()).map(({ regime }) => regime);
    expect(count('regime.changed')).toBe(regimes.filter((regime, index) => index > 0 && regime !== regimes[index - 1]).length);
    expect(revealed).toBeGreaterThan(0);
  });

  it('stand in the order in which they happened, and validate', async () => {
    const events = await all();
    const times = events.map(({ at }) => at.getTime());
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const { saltSecret, publicUrl } = service.http;
    const { chainId } = service.http.chain;
    for (const event of events) {
      const { data } = viewEvent(event, { tier: 'premium' }, { saltSecret, chainId, publicUrl, policy: 'resolution' });
      expect(PAYLOADS[event.type].strict().safeParse(data).error).toBeUndefined();
    }
  });

  it('are published by the step itself, and carry its trace', async () => {
    const before = await service.push.events.lastId();
    const woken = Promise.withResolvers<void>();
    await service.push.follow(() => woken.resolve());
    const day = today();
    await service.infrastructure.localChain!.followWallClock();
    const run = () => runStep(service.pipeline, 'signal', day, createLiveContext(service.pipeline, new Date()));
    const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
    await inEntry({ name: 'job signal', parent, fields: { jobId: 'j' } }, run);
    const fresh = await service.push.events.after(before, 100);
    expect(fresh.filter(({ type }) => type === 'signal.new').map(({ key }) => key)).toEqual(
      HORIZONS.map((horizon) => `signal.new:${formatDay(day)}:${horizon}d`),
    );
    expect(new Set(fresh.map(({ traceparent }) => parseTraceparent(traceparent)?.traceId))).toEqual(new Set([parent.traceId]));
    await woken.promise;
  });
});
