import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { buildDistribution } from '../../../../../src/forecast/distribution.ts';
import { HORIZONS } from '../../../../../src/forecast/model.ts';
import { getExpectedRange, readPriceRange } from '../../../../../src/record/distributions.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { knowing } from '../../../../support/record/forgetful.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';

const PATH = '/api/svc/open/range';
let service: TestService;
let served: Served;

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, today() - 1);
  await service.infrastructure.localChain!.followWallClock();
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const ask = async (path: string, headers: Record<string, string> = {}) => fetch(`${served.url}${path}`, { headers });
const getRange = (horizonDays: number) => getExpectedRange(service.http, horizonDays);

describe('the expected range', () => {
  it('is symmetric in the logarithm around the price at signal time, and nested', async () => {
    for (const horizonDays of HORIZONS) {
      const { ranges, btcPrice, horizon } = (await (await ask(`${PATH}?horizon=${horizonDays}d`)).json()) as Awaited<
        ReturnType<typeof getExpectedRange>
      >;
      expect(horizon).toBe(`${horizonDays}d`);
      expect(ranges.map(({ share }) => share)).toEqual([0.5, 0.8, 0.9]);
      for (const { low, high, halfWidth } of ranges) {
        expect(Math.abs(Math.log(high / btcPrice) - halfWidth)).toBeLessThan(1e-6);
        expect(Math.abs(Math.log(btcPrice / low) - halfWidth)).toBeLessThan(1e-6);
      }
      expect(ranges.map(({ halfWidth }) => halfWidth)).toEqual(ranges.map(({ halfWidth }) => halfWidth).sort((a, b) => a - b));
    }
  });

  it('adds those of all horizons on request, each as it is alone', async () => {
    const { horizons, ...single } = (await (await ask(`${PATH}?horizon=2d&horizons=all`)).json()) as Awaited<
      ReturnType<typeof getExpectedRange>
    >;
    expect(single).toEqual(await (await ask(`${PATH}?horizon=2d`)).json());
    expect(horizons!.map(({ horizon }) => horizon)).toEqual(HORIZONS.map((days) => `${days}d`));
    for (const { horizon, ranges, resolvesAt, attestedAt } of horizons!) {
      expect(await (await ask(`${PATH}?horizon=${horizon}`)).json()).toMatchObject({ ranges, resolvesAt });
      const { attestation } = service.pipeline.record.known.findLatest(Number.parseInt(horizon, 10))!;
      expect(attestedAt).toBe(attestation!.at.toISOString());
    }
    expect((await ask(`${PATH}?horizons=7d`)).status).toBe(400);
  });

  it('has the width of the committed distribution', async () => {
    for (const horizonDays of HORIZONS) {
      const { values, modelVersion } = service.pipeline.record.known.findLatest(horizonDays)!;
      const { horizons } = await service.http.models.get(modelVersion!);
      const { residualQuantiles } = horizons.find((one) => one.horizonDays === horizonDays)!;
      const { ranges } = await getRange(horizonDays);
      const distance = values!.distribution.scale * (residualQuantiles[179]! - residualQuantiles[19]!);
      expect(ranges[1]!.halfWidth).toBeCloseTo(distance / 2, 6);
    }
  });

  it('is the same bytes for every caller, with an ETag that a client can send back', async () => {
    const first = await ask(PATH);
    const text = await first.text();
    for (const tier of ['basic', 'premium'] as const) expect(await (await ask(PATH, await asTier(service, tier))).text()).toBe(text);
    const again = await ask(PATH, { 'If-None-Match': first.headers.get('etag')! });
    expect(again.status).toBe(304);
  });

  it('does not change with P(up), direction, signal or quantiles', async () => {
    const { forecasts, days } = service.pipeline.record;
    const newest = service.pipeline.record.known.findLatest(7)!;
    const before = JSON.stringify(await getRange(7));
    const { residualQuantiles } = (await service.http.models.get(newest.modelVersion!)).horizons.find((one) => one.horizonDays === 7)!;
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0.01, max: 0.99, noNaN: true }), async (pUp) => {
        const { scale, shift } = buildDistribution({ residualQuantiles, scale: newest.values!.distribution.scale, pUp });
        const direction = pUp >= 0.5 ? ('UP' as const) : ('DOWN' as const);
        const values = {
          ...newest.values!,
          ...{ pUp, pUpBps: Math.round(1e4 * pUp), direction, signal: pUp >= 0.5 ? ('BUY' as const) : ('SELL' as const) },
          ...{ confidence: Math.max(pUp, 1 - pUp), distribution: { scale, shift }, priceQuantiles: { p05: 1, p50: 2, p95: 3 } },
        };
        await forecasts.updateOne({ _id: newest._id }, { $set: { values } });
        await days.updateOne({ day: newest.day }, { $set: { 'forecasts.7': values } });
        expect(JSON.stringify(await getRange(7))).toBe(before);
      }),
      { numRuns: 25 },
    );
    await forecasts.updateOne({ _id: newest._id }, { $set: { values: newest.values } });
    await days.updateOne({ day: newest.day }, { $set: { 'forecasts.7': newest.values! } });
  });

  it('is the same for a day stored before widths were', async () => {
    const { known } = service.pipeline.record;
    const { day } = known.findLatest(7)!;
    const stored = await getRange(7);
    const { variance } = known.findDay(day)!;
    const findNewest = (horizonDays: number) => {
      const newest = known.findNewest(horizonDays)!;
      return { ...newest, figures: { price: newest.figures.price, context: null, variance } };
    };
    expect(await getExpectedRange({ ...service.http, record: knowing(service.http.record, { findNewest }) }, 7)).toEqual(stored);
    // A signal does without the range of a model that is gone.
    const models = { get: () => Promise.reject(new OracleError('NOT_FOUND', 'There is no such model')) } as never;
    expect(await readPriceRange(service.http.models, findNewest(7))).toMatchObject({ share: 0.8 });
    expect(await readPriceRange(models, findNewest(7))).toBeNull();
    const without = () => ({ ...findNewest(7), figures: { price: null, context: null, variance: null } });
    await expect(getExpectedRange({ ...service.http, record: knowing(service.http.record, { findNewest: without }) }, 7)).rejects.toThrow(
      'There is no forecast yet',
    );
    await expect(
      getExpectedRange({ ...service.http, record: knowing(service.http.record, { findNewest: () => null }) }, 7),
    ).rejects.toMatchObject({
      code: 'STEP_WAITING',
    });
  });

  it('has no size of the move for a forecast stored before it was forecast', async () => {
    const findNewest = (horizonDays: number) => {
      const { forecast, ...newest } = service.pipeline.record.known.findNewest(horizonDays)!;
      const { move: _, ...stored } = forecast;
      return { ...newest, forecast: stored };
    };
    const found = await getExpectedRange({ ...service.http, record: knowing(service.http.record, { findNewest }) }, 7);
    expect(found).toEqual({ ...(await getRange(7)), moveSize: null, pBig: null, moveLimits: null });
  });

  it('is in the card of the widget', async () => {
    const { ranges } = await getRange(7);
    const { share: _, halfWidth: __, ...range80 } = ranges[1]!;
    expect(await (await ask('/api/svc/widget?format=html')).text()).toContain(Math.round(range80.low).toLocaleString('en-US'));
  });
});
