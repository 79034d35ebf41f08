import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../../../../src/auth/caller.ts';
import { OracleError } from '../../../../../src/errors.ts';
import { DAY_MS } from '../../../../../src/forecast/day.ts';
import { predictionMarketRoutes } from '../../../../../src/http/routes/prediction-markets.ts';
import { allRoutes } from '../../../../../src/http/routes.ts';
import { createApp, type HttpServer, listen } from '../../../../../src/http/server.ts';
import type { Services } from '../../../../../src/http/services.ts';
import type { StrikeSnapshot } from '../../../../../src/market/feed.ts';
import { computeStrikeProbability } from '../../../../../src/record/market.ts';
import { ModelStore } from '../../../../../src/record/model-card.ts';
import { call } from '../../../../support/http/serve.ts';
import { strikeSnapshot } from '../../../../support/market/strike-snapshot.ts';
import { knowing } from '../../../../support/record/forgetful.ts';
import { type TestService, today, unresolvedService } from '../../../../support/service/service.ts';

const PATH = '/api/svc/prediction-markets';
const day = today() - 1;

let service: TestService;
let parts: Services;
let server: HttpServer;
let nowMs: number;
let spotUsd: number;
let seen: StrikeSnapshot[];
let venueMarkets: Services['venueMarkets'];

beforeAll(async () => {
  service = await unresolvedService(2);
  nowMs = Date.now();
  spotUsd = (await service.http.market.spot(nowMs)).priceUsd;
  parts = {
    ...service.http,
    market: { ...service.http.market, strikes: async () => seen },
    models: new ModelStore(service.database.db),
    venueMarkets: () => venueMarkets(),
    now: () => new Date(nowMs),
  };
  server = await listen(createApp(allRoutes(parts), service.appOptions), 0, '127.0.0.1');
  reset();
});
afterAll(async () => {
  await server.close();
  await service.stop();
});
afterEach(reset);

function reset(): void {
  seen = [-2, -1, 0, 1, 2].map((step) => strike(step));
  venueMarkets = async () => [];
}

/** A strike so many percent from the spot price that expires in 60 hours. */
function strike(percent: number, changes: Partial<StrikeSnapshot> = {}): StrikeSnapshot {
  return strikeSnapshot({
    marketId: `m${percent}`,
    strikeUsd: Math.round(spotUsd * (1 + percent / 100)),
    expiresAtMs: nowMs + 2.5 * DAY_MS,
    receivedAtMs: nowMs - 60_000,
    providerAtMs: nowMs - 90_000,
    ...changes,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function get(): Promise<any> {
  const response = await fetch(`http://127.0.0.1:${server.port}${PATH}`);
  expect(response.status).toBe(200);
  return response.json();
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
async function asCaller(caller: Caller, over: Partial<Services> = {}): Promise<any> {
  const [route] = predictionMarketRoutes({ ...parts, ...over });
  return (await call(route, { caller })).body;
}

describe('tracked prediction markets', () => {
  it('are listed with prices by expiry and strike', async () => {
    seen = [
      strike(1, { bid: null }),
      strike(0, { bids: [{ price: 0.41, size: 7 }] }),
      strike(9, { venue: 'kalshi', expiresAtMs: nowMs + DAY_MS }),
    ];
    const body = await get();
    expect(body).toMatchObject({
      success: true,
      count: 3,
      btcPrice: spotUsd,
      kind: 'simulated',
      source: 'simulated (seed 2)',
      reason: null,
    });
    expect(body.timestamp).toBe(new Date(nowMs).toISOString());
    expect(body.markets.map(({ marketId }: { marketId: string }) => marketId)).toEqual(['m9', 'm0', 'm1']);
    const [kalshi, central, oneSided] = body.markets;
    expect(central).toMatchObject({
      venue: 'polymarket',
      strike: Math.round(spotUsd),
      strikeUsd: Math.round(spotUsd),
      bid: 0.41,
      ask: 0.44,
      yesPrice: 0.425,
      noPrice: 0.575,
      lastPrice: 0.4,
      bids: [{ price: 0.41, size: 7 }],
      atTheMoney: true,
      madeByService: false,
      observedAt: new Date(nowMs - 60_000).toISOString(),
      providerTime: new Date(nowMs - 90_000).toISOString(),
      ageSeconds: 60,
      stale: false,
    });
    expect(oneSided).toMatchObject({ bid: null, yesPrice: 0.4, noPrice: 0.6, atTheMoney: false });
    expect(kalshi).toMatchObject({ venue: 'kalshi', atTheMoney: true, weekly: false });
  });

  it('are stale half an hour after the last observation', async () => {
    seen = [strike(0, { receivedAtMs: nowMs - 30 * 60_000 }), strike(1, { receivedAtMs: nowMs - 30 * 60_000 - 1 })];
    expect((await get()).markets).toMatchObject([{ stale: false }, { stale: true, ageSeconds: 1800 }]);
  });

  it('mark the weekly ladder', async () => {
    seen = [strike(0, { expiresAtMs: Date.parse('2090-03-10T17:00:00Z') }), strike(1, { expiresAtMs: Date.parse('2090-03-11T17:00:00Z') })];
    expect((await get()).markets).toMatchObject([{ weekly: true }, { weekly: false }]);
  });

  it('include the own venue, marked as own quotes', async () => {
    const at = new Date(nowMs);
    const market = { id: 'paper:x', question: 'Will it?', strikeUsd: Math.round(spotUsd), expiresAt: new Date(nowMs + 3 * DAY_MS) };
    venueMarkets = async () => [{ market, quote: { bid: 0.47, ask: 0.49, fee: 0.01, at } }];
    seen = [];
    const body = await get();
    expect(body.markets).toMatchObject([
      { venue: 'paper', marketId: 'paper:x', weekly: true, yesPrice: 0.48, madeByService: true, ageSeconds: 0, atTheMoney: true },
    ]);
    expect(body.notes).toEqual([
      expect.stringContaining('No strikes of external prediction markets'),
      expect.stringContaining('made by this service'),
    ]);
  });

  it('may be empty, with the reason', async () => {
    seen = [];
    venueMarkets = async () => {
      throw new OracleError('STEP_WAITING', 'The day has no forecast');
    };
    const body = await get();
    expect(body).toMatchObject({ success: true, count: 0, markets: [] });
    expect(body.reason).toContain('simulated (seed 2)');
    expect(body.reason).toContain('paper: The day has no forecast');
  });

  it('are listed without a price too, not at the money', async () => {
    const spot = async () => {
      throw new OracleError('PRICE_UNAVAILABLE', 'No price');
    };
    const body = await asCaller({ tier: 'public' }, { market: { ...parts.market, spot } });
    expect(body).toMatchObject({ btcPrice: null, count: 5 });
    expect(body.markets.some(({ atTheMoney }: { atTheMoney: boolean }) => atTheMoney)).toBe(false);
  });
});

describe('the model probability of a strike', () => {
  const probabilities = (body: { markets: { modelProbability: number | null }[] }) => body.markets.map((entry) => entry.modelProbability);
  const gates = (body: { markets: { modelProbabilityGated: boolean }[] }) =>
    new Set(body.markets.map((entry) => entry.modelProbabilityGated));

  async function expected(): Promise<number[]> {
    const stored = (await service.pipeline.record.findDay(day))!;
    const model = await service.pipeline.forecaster.getModel(stored.modelVersion!);
    return seen.map(({ strikeUsd, expiresAtMs }) =>
      computeStrikeProbability({ day: stored, model, strikeUsd, expiresAt: new Date(expiresAtMs), at: stored.signalAt }),
    );
  }

  it.each<Caller>([{ tier: 'basic' }, { tier: 'premium' }, { tier: 'public', paid: true }])('is visible to %j', async (caller) => {
    const body = await asCaller(caller);
    const wanted = await expected();
    expect(gates(body)).toEqual(new Set([false]));
    for (const [index, probability] of probabilities(body).entries()) expect(probability).toBeCloseTo(wanted[index], 4);
    expect(wanted).toEqual(wanted.toSorted((a, b) => b - a));
    expect(wanted[0]).toBeGreaterThan(wanted[4] + 0.05);
    expect(body.modelAsOf).toBe((await service.pipeline.record.findDay(day))!.signalAt.toISOString());
  });

  it('is hidden from the public while the day is unresolved', async () => {
    const body = await get();
    expect(probabilities(body)).toEqual([null, null, null, null, null]);
    expect(gates(body)).toEqual(new Set([true]));
    const visible = await asCaller({ tier: 'premium' });
    const hidden = { modelProbability: null, modelProbabilityGated: true };
    expect(body).toEqual({ ...visible, markets: visible.markets.map((entry: object) => ({ ...entry, ...hidden })) });
  });

  it('is hidden from the public until the last horizon of the day is revealed', async () => {
    const { forecasts } = service.pipeline.record;
    const reveal = (await forecasts.findOne({ day, horizonDays: 1 }))!.attestation;
    for (const horizonDays of [1, 2, 3, 7]) {
      expect(gates(await get())).toEqual(new Set([true]));
      await forecasts.updateOne({ day, horizonDays }, { $set: { reveal } });
    }
    expect(probabilities(await get())).toEqual(probabilities(await asCaller({ tier: 'premium' })));
    await forecasts.updateMany({ day }, { $set: { reveal: null } });
  });

  it('is public under the policy `immediate`', async () => {
    const viewFor: Services['viewFor'] = (caller) => ({ ...parts.viewFor(caller), policy: 'immediate' });
    expect(gates(await asCaller({ tier: 'public' }, { viewFor }))).toEqual(new Set([false]));
  });

  it('is null before the first forecast', async () => {
    const record = knowing(parts.record, { findLatest: () => null });
    const body = await asCaller({ tier: 'premium' }, { record });
    expect(body.modelAsOf).toBeNull();
    expect(probabilities(body)).toEqual([null, null, null, null, null]);
  });
});
