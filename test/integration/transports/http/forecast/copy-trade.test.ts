import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../../src/errors.ts';
import { EVENT_NAMES } from '../../../../../src/events/events.ts';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import { copyTradeRoutes } from '../../../../../src/http/routes/copy-trade.ts';
import type { Services } from '../../../../../src/http/services.ts';
import { isWeeklyStrike } from '../../../../../src/market/feed.ts';
import type { CommittedValues, ForecastDoc } from '../../../../../src/record/forecast-doc.ts';
import { computeForecastCommitment } from '../../../../../src/record/forecasts.ts';
import { computeStrikeProbability } from '../../../../../src/record/market.ts';
import { EARNED_WEIGHT, type WagerDoc } from '../../../../../src/wager/wagers.ts';
import { asTier } from '../../../../support/auth/login.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { call, serve } from '../../../../support/http/serve.ts';
import { strikeSnapshot } from '../../../../support/market/strike-snapshot.ts';
import { runPastDay, type TestService, testService, today } from '../../../../support/service/service.ts';
import { settledWager } from '../../../pipeline/steps/wager-fixtures.ts';

const DAYS = 9;
const TODAY = today();
const NEWEST = TODAY - 1;
/** Between the wager of the newest day and the opening of its window. */
const EVENING = new Date(toInstantMs(NEWEST, 22));
const PREMIUM = { tier: 'premium', wallet: `0x${'a'.repeat(40)}` } as const;

let service: TestService;
let forecasts: ForecastDoc[];
let wagers: WagerDoc[];

beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  forecasts = await service.pipeline.record.forecasts.find({}).toArray();
  wagers = await service.pipeline.wagers.wagers.find({}).toArray();
});
afterAll(() => service?.stop());
afterEach(async () => {
  const { forecasts: collection } = service.pipeline.record;
  await collection.bulkWrite(forecasts.map((doc) => ({ replaceOne: { filter: { _id: doc._id }, replacement: doc } })));
  await service.pipeline.wagers.wagers.deleteMany({});
  await service.pipeline.wagers.wagers.insertMany(wagers);
});

const partsWith = (changes: Partial<Services> = {}): Services => ({ ...service.http, now: () => EVENING, ...changes });

/** Answers of the three routes to a Premium caller, each as its schema says. */
async function ask(which: 'status' | 'next' | 'history', query: Record<string, unknown> = {}, changes: Partial<Services> = {}) {
  const route = copyTradeRoutes(partsWith(changes)).find(({ path }) => path.endsWith(`/${which}`))!;
  const { body } = await call(route, { query: { horizon: 7, limit: 30, ...query }, caller: PREMIUM });
  expect(undocumented(route.reply!, JSON.parse(JSON.stringify(body)))).toEqual([]);
  return body;
}

/** Makes a stored forecast say something else, commitment included: what the model says depends on the date. */
async function recast(day: number, horizonDays: number, changes: Partial<CommittedValues>): Promise<ForecastDoc> {
  const _id = `${formatDay(day)}:${horizonDays}d`;
  const { forecasts: collection } = service.pipeline.record;
  const values = { ...(await collection.findOne({ _id }))!.values!, ...changes };
  await collection.updateOne(
    { _id },
    { $set: { values, commitment: computeForecastCommitment(service.pipeline.saltSecret, _id, values) } },
  );
  return (await collection.findOne({ _id }))!;
}

const BUY = { signal: 'BUY', direction: 'UP', confidence: 0.6, confidenceBps: 6000, pUp: 0.6, pUpBps: 6000 } as const;
const SELL = { signal: 'SELL', direction: 'DOWN', confidence: 0.6, confidenceBps: 6000, pUp: 0.4, pUpBps: 4000 } as const;

async function rewager(day: number, changes: Partial<WagerDoc>): Promise<void> {
  await service.pipeline.wagers.wagers.updateOne({ _id: formatDay(day) }, { $set: changes });
}

const LISTING = {
  conditionId: `0x${'cd'.repeat(32)}`,
  yesTokenId: '101',
  noTokenId: '102',
  url: 'https://polymarket.com/event/x',
  tickSize: 0.01,
  minOrderSize: 5,
};

/** As if the model had been believed: 0.5 of the way from a price of .50 to .70, at costs of .52 each. */
const STAKED: Partial<WagerDoc> = {
  ...{ venue: 'polymarket-dry-run', asset: 'PAPER-USDC', listing: LISTING, state: 'PLACED', side: 'YES' },
  ...{ pModel: 0.7, qMarket: 0.5, pBelieved: 0.6, weight: EARNED_WEIGHT, quote: { bid: 0.49, ask: 0.51, fee: 0.01, at: EVENING } },
  ...{ contracts: 300, costMicros: 156_000_000, limitCostMicros: 520_000, placedAt: EVENING, skippedBecause: null },
};

describe('the next intent', () => {
  it.each([2, 3, 7])('is null as JSON for a HOLD at %i days', async (horizon) => {
    await recast(NEWEST, horizon, { signal: 'HOLD' });
    const served = await serve({ http: partsWith(), appOptions: service.appOptions }, copyTradeRoutes(partsWith()));
    const response = await fetch(`${served.url}/api/svc/copy-trade/next?horizon=${horizon}d`, {
      headers: await asTier(service, 'premium'),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.text()).toBe('null');
    await served.close();
  });

  it.each([BUY, SELL])('states the position and its references: $signal', async (values) => {
    const doc = await recast(NEWEST, 7, values);
    const intent = await ask('next');
    expect(intent).toMatchObject({
      ...{ predictionId: doc._id, date: formatDay(NEWEST), horizon: '7d', status: 'PENDING' },
      ...{ direction: values.direction, side: values.signal, confidence: 0.6, pUp: values.pUp },
      btcPrice: doc.values!.btcPriceCents / 100,
      entry: { validUntil: doc.windowOpensAt.toISOString() },
      references: { commitment: doc.commitment, attestationUid: doc.attestation!.uid, txHash: doc.attestation!.txHash },
    });
  });

  it("proposes no stake on the wager's market while the model has no weight, with the reason, and shows the minimum stake of the wager", async () => {
    await recast(NEWEST, 7, BUY);
    const wager = (await service.pipeline.wagers.findByDay(NEWEST))!;
    expect(wager).toMatchObject({ state: 'PLACED', basis: 'minimum', weight: 0 });
    const { market, sizing, entry, contractSide, actionable, notActionableBecause, wager: own } = await ask('next');
    expect(market).toMatchObject({
      basis: 'wager',
      venue: 'paper',
      madeByService: true,
      conditionId: null,
      strike: wager.market!.strikeUsd,
    });
    const qMarket = expect.closeTo(wager.qMarket!, 6);
    expect(sizing).toMatchObject({ pModel: wager.pModel, marketPrice: qMarket, weight: 0, pBelieved: qMarket, fraction: 0 });
    const { bid, ask: offer, fee } = wager.quote!;
    const prices = { bid: expect.closeTo(bid, 6), ask: expect.closeTo(offer, 6), fee: expect.closeTo(fee, 6) };
    expect(sizing).toMatchObject({ ...prices, side: null, note: expect.stringMatching(/^Stake 0:.*not believed/) });
    expect({ contractSide, ...entry }).toMatchObject({ contractSide: null, maxCost: null, breakEvenCost: null, tokenId: null });
    expect({ actionable, notActionableBecause }).toEqual({ actionable: false, notActionableBecause: sizing.note });
    const { side, contracts, costMicros: stakeMicros } = wager;
    expect(own).toMatchObject({ state: 'PLACED', basis: 'minimum', side, contracts, stakeMicros, pnl: null, skippedBecause: null });
  });

  it('has the stake, tokens and limits of the decision', async () => {
    await recast(NEWEST, 7, BUY);
    await rewager(NEWEST, STAKED);
    const { market, sizing, entry, contractSide, actionable, wager } = await ask('next');
    expect(market).toMatchObject({ basis: 'wager', venue: 'polymarket-dry-run', madeByService: false, ...LISTING, bid: 0.49, ask: 0.51 });
    expect(sizing).toMatchObject({ side: 'YES', pBelieved: 0.6, yesCost: 0.52, maxFraction: 0.02, fraction: 0.02 });
    expect(sizing.fullKelly).toBe(0.16666667);
    expect(entry).toMatchObject({ maxCost: 0.52, breakEvenCost: 0.6, tokenId: '101', tickSize: 0.01, minOrderSize: 5 });
    expect({ contractSide, actionable }).toEqual({ contractSide: 'YES', actionable: true });
    expect(wager).toMatchObject({
      state: 'PLACED',
      side: 'YES',
      contracts: 300,
      price: 0.52,
      stakeMicros: 156_000_000,
      stake: '156',
      pnl: null,
    });
  });

  it('is not actionable once the window has opened, or for a void forecast', async () => {
    await recast(NEWEST, 7, BUY);
    await rewager(NEWEST, STAKED);
    const opened = await ask('next', {}, { now: () => new Date(toInstantMs(TODAY)) });
    expect(opened).toMatchObject({ actionable: false, notActionableBecause: expect.stringContaining('window has opened') });
    await service.pipeline.record.forecasts.updateOne({ _id: opened.predictionId }, { $set: { state: 'VOID' } });
    expect(await ask('next')).toMatchObject({ status: 'VOID', actionable: false, notActionableBecause: expect.stringContaining('void') });
  });

  it('has no market before the wager of the day without listed markets, with the reason', async () => {
    await recast(NEWEST, 7, BUY);
    await service.pipeline.wagers.wagers.deleteOne({ _id: formatDay(NEWEST) });
    const nothing = { market: null, sizing: null, wager: null, contractSide: null, actionable: false };
    expect(await ask('next')).toMatchObject({ ...nothing, marketReason: expect.stringContaining('no wager of this day') });
    const down = () => Promise.reject(new OracleError('FEED_UNAVAILABLE', 'the provider does not answer'));
    const silent = await ask('next', {}, { market: { ...service.http.market, strikes: down } });
    expect(silent).toMatchObject({ ...nothing, marketReason: expect.stringMatching(/no wager of this day.*does not answer\.$/) });
    expect(silent.notActionableBecause).toBe(silent.marketReason);
  });

  it('states why the wager of the day had no market', async () => {
    await recast(NEWEST, 7, BUY);
    await rewager(NEWEST, { market: null, quote: null, pModel: null, qMarket: null, skippedBecause: 'no market was open' });
    expect(await ask('next')).toMatchObject({ market: null, sizing: null, marketReason: 'No market: no market was open.' });
  });
});

describe('a listed weekly strike', () => {
  /** The first Friday noon in New York that is more than a day away. */
  function weeklyExpiry(): number {
    for (let hour = Math.ceil(EVENING.getTime() / 3_600_000) + 25; ; hour++) {
      if (isWeeklyStrike({ venue: 'polymarket', expiresAtMs: hour * 3_600_000 })) return hour * 3_600_000;
    }
  }

  async function ladder() {
    const spot = (await service.pipeline.record.findDay(NEWEST))!.price!.cents / 100;
    const expiresAtMs = weeklyExpiry();
    const strikes = [0.9, 1.01, 1.1].map((factor) =>
      strikeSnapshot({ ...LISTING, marketId: `m${factor}`, strikeUsd: Math.round(spot * factor), expiresAtMs, bid: 0.49, ask: 0.51 }),
    );
    return [...strikes, strikeSnapshot({ marketId: 'no bid', strikeUsd: Math.round(spot), expiresAtMs, bid: null })];
  }

  it('takes precedence over own quotes: the nearest to the money with both prices', async () => {
    await recast(NEWEST, 7, BUY);
    const strikes = await ladder();
    const { market, sizing, wager } = await ask('next', {}, { market: { ...service.http.market, strikes: async () => strikes } });
    expect(market).toMatchObject({ basis: 'listed', venue: 'polymarket', marketId: 'm1.01', ...LISTING, madeByService: false });
    const day = (await service.pipeline.record.findDay(NEWEST))!;
    const model = await service.pipeline.forecaster.getModel(day.modelVersion!);
    const question = { strikeUsd: strikes[1].strikeUsd, expiresAt: new Date(strikes[1].expiresAtMs), at: day.signalAt };
    expect(sizing.pModel).toBe(computeStrikeProbability({ day, model, ...question }));
    expect(sizing).toMatchObject({ marketPrice: 0.5, weight: 0, fraction: 0, fee: null, yesCost: 0.51, sizedAt: EVENING.toISOString() });
    expect(wager.venue).toBe('paper');
  });

  it('is sized with the weight earned on its own book, not on the paper venue', async () => {
    await recast(NEWEST, 7, BUY);
    const strikes = await ladder();
    const market = { ...service.http.market, strikes: async () => strikes };
    const earned = (venue: string) =>
      Array.from({ length: 30 }, (_, index) => ({ ...settledWager(TODAY - 100 + index, 'WIN'), venue, pModel: 0.9 }));
    await service.pipeline.wagers.wagers.insertMany(earned('paper'));
    expect((await ask('next', {}, { market })).sizing.weight).toBe(0);
    await service.pipeline.wagers.wagers.updateMany({ pModel: 0.9 }, { $set: { venue: 'polymarket-dry-run' } });
    expect((await ask('next', {}, { market })).sizing.weight).toBe(EARNED_WEIGHT);
  });

  it('does not replace the market of a sized wager, nor appear after the window has opened', async () => {
    await recast(NEWEST, 7, BUY);
    const strikes = await ladder();
    const market = { ...service.http.market, strikes: async () => strikes };
    const opened = await ask('next', {}, { market, now: () => new Date(toInstantMs(TODAY)) });
    expect(opened.market).toMatchObject({ basis: 'wager', venue: 'paper' });
    await rewager(NEWEST, STAKED);
    expect((await ask('next', {}, { market })).market).toMatchObject({ basis: 'wager', venue: 'polymarket-dry-run' });
  });
});

describe('the intent history', () => {
  const days = Array.from({ length: DAYS }, (_, index) => NEWEST - index);

  it('lists the newest first with outcomes, without HOLD days', async () => {
    for (const [index, day] of days.entries()) await recast(day, 2, index === 3 ? { signal: 'HOLD' } : index % 2 === 0 ? BUY : SELL);
    const history = await ask('history', { horizon: 2 });
    expect(history.map(({ date }: { date: string }) => date)).toEqual(days.filter((_, index) => index !== 3).map(formatDay));
    for (const { date, side, outcome, status, predictionId } of history) {
      const doc = (await service.pipeline.record.forecasts.findOne({ _id: predictionId }))!;
      expect(side, date).toBe(doc.values!.signal);
      expect(outcome === null, date).toBe(doc.reveal === null);
      expect(status, date).toBe(doc.state);
      if (outcome === null) continue;
      const { returnBps, btcAtSignalCents, btcAtResolutionCents, actualDirection } = doc.resolution!;
      expect(outcome).toMatchObject({
        returnBps,
        actualDirection,
        btcAtSignal: btcAtSignalCents / 100,
        btcAtResolution: btcAtResolutionCents / 100,
      });
    }
    expect(history.filter(({ outcome }: { outcome: unknown }) => outcome !== null).length).toBeGreaterThan(4);
    expect(await ask('history', { horizon: 2, limit: 3 })).toEqual(history.slice(0, 3));
  });

  it('omits missed days and marks void forecasts', async () => {
    for (const day of days) await recast(day, 7, BUY);
    const { forecasts: collection } = service.pipeline.record;
    await collection.updateOne({ _id: `${formatDay(NEWEST)}:7d` }, { $set: { values: null, missed: true, state: 'VOID' } });
    await collection.updateOne({ _id: `${formatDay(NEWEST - 1)}:7d` }, { $set: { state: 'VOID' } });
    const [newest, ...older] = await ask('history');
    expect(newest).toMatchObject({ date: formatDay(NEWEST - 1), status: 'VOID', outcome: null });
    expect(older).toHaveLength(DAYS - 2);
  });

  it('has the exact result of a wager', async () => {
    for (const day of days) await recast(day, 7, BUY);
    const settledAt = new Date(toInstantMs(TODAY));
    await rewager(NEWEST - 1, { ...STAKED, state: 'WIN', winner: 'YES', payoutMicros: 300_000_000, settledAt });
    await rewager(NEWEST - 2, { ...STAKED, state: 'LOSS', winner: 'NO', payoutMicros: 0, costMicros: 156_000_001, settledAt });
    const none = {
      state: 'SKIPPED',
      side: null,
      contracts: 0,
      costMicros: 0,
      placedAt: null,
      skippedBecause: 'no market was open',
    } as const;
    await rewager(NEWEST - 3, none);
    const [, win, loss, skipped] = await ask('history');
    expect(win.wager).toMatchObject({ state: 'WIN', payout: '300', pnlMicros: 144_000_000, pnl: '144', winner: 'YES' });
    expect(loss.wager).toMatchObject({ state: 'LOSS', payout: '0', stake: '156.000001', pnlMicros: -156_000_001, pnl: '-156.000001' });
    expect(skipped.wager).toMatchObject({ state: 'SKIPPED', stakeMicros: 0, pnlMicros: 0 });
  });

  it('is immutable under later listings and weights', async () => {
    for (const day of days) await recast(day, 7, BUY);
    const before = await ask('history');
    const later = Array.from({ length: 30 }, (_, index) => ({ ...settledWager(TODAY - 100 + index, 'WIN'), pModel: 0.9 }));
    await service.pipeline.wagers.wagers.insertMany(later);
    const market = { ...service.http.market, strikes: async () => [strikeSnapshot({ expiresAtMs: toInstantMs(TODAY + 5, 16) })] };
    expect(await ask('history', {}, { market, now: () => new Date(toInstantMs(TODAY + 1)) })).toEqual(before);
    expect(before.every(({ sizing }: { sizing: { weight: number } }) => sizing.weight === 0)).toBe(true);
  });

  it('is empty before the first', async () => {
    await service.pipeline.record.forecasts.updateMany({}, { $set: { 'values.signal': 'HOLD' } });
    expect(await ask('history')).toEqual([]);
  });
});

describe('the copy-trade status', () => {
  it('reports which channels deliver, and reveals no forecast', async () => {
    const status = await ask('status');
    expect(status).toMatchObject({
      status: 'active',
      lastSignalAt: new Date(toInstantMs(NEWEST, 21, 35)).toISOString(),
      nextSignalAt: new Date(toInstantMs(TODAY, 21, 35)).toISOString(),
      note: expect.stringMatching(/HOLD day has no intent.*wager of that day is placed nevertheless/),
      venue: { name: 'paper', quotesAreOurs: true },
      channels: {
        websocket: { live: true, url: 'ws://127.0.0.1:3000/ws/signal', pingSeconds: 30, reconnectSeconds: 5, expiredCloseCode: 4001 },
        webhooks: { live: true, registerUrl: 'http://127.0.0.1:3000/api/svc/webhooks/register' },
      },
    });
    expect(status.events.map(({ type }: { type: string }) => type)).toEqual([...EVENT_NAMES]);
    for (const values of [BUY, SELL, { signal: 'HOLD' } as const]) {
      for (const horizon of [1, 2, 3, 7]) await recast(NEWEST, horizon, values);
      expect(await ask('status')).toEqual(status);
    }
  });
});
