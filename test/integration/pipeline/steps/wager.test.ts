import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OracleError } from '../../../../src/errors.ts';
import { formatDay } from '../../../../src/forecast/day.ts';
import { createLiveContext, getStepDueMs, getWindowOpensMs, type PipelineContext } from '../../../../src/pipeline/forecaster.ts';
import { runSettleStep } from '../../../../src/pipeline/steps/outcome.ts';
import { runWagerStep } from '../../../../src/pipeline/steps/wager.ts';
import { listPins } from '../../../../src/record/crowd.ts';
import { PaperVenue } from '../../../../src/wager/paper-venue.ts';
import { MICROS, type Quote, type StrikeMarket, type Venue, type VenueOrder } from '../../../../src/wager/venue.ts';
import { WagerSwitch } from '../../../../src/wager/wagers.ts';
import { contextAt } from '../../../support/clock/trusted-time.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';
import { stubVenue } from './stub-venue.ts';
import { decidedWager, expiredWager, settledWager } from './wager-fixtures.ts';

const BANKROLL = 10_000 * MICROS;
let service: TestService;
const day = today() - 1;
const context = { ...contextAt(getStepDueMs('wager', day)), replayed: true };

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, day);
});
afterAll(() => service.stop());
beforeEach(async () => {
  for (const name of ['wagers', 'paper_orders', 'paper_ledger']) await service.database.db.collection(name).deleteMany({});
  await service.pipeline.record.known.load();
});

/** The paper venue with the test's quotes: the first for the decision, the last for every later read. */
class QuotedVenue extends PaperVenue {
  readonly quotes: Pick<Quote, 'bid' | 'ask'>[];

  constructor(...quotes: Pick<Quote, 'bid' | 'ask'>[]) {
    super({
      db: service.database.db,
      openingBalanceMicros: BANKROLL,
      reference: async () => ({ spotUsd: (await service.pipeline.record.findDay(day))!.price!.cents / 100, dailyVolatility: 0.02 }),
      close: async () => null,
    });
    this.quotes = quotes;
  }

  override async getQuote(_market: StrikeMarket, at: Date): Promise<Quote> {
    const quote = this.quotes.length > 1 ? this.quotes.shift()! : this.quotes[0];
    return { ...quote, fee: 0.01, at };
  }
}

const quoting = (...quotes: Pick<Quote, 'bid' | 'ask'>[]): PipelineContext => ({ ...service.pipeline, venue: new QuotedVenue(...quotes) });

const paperOrders = () => service.database.db.collection('paper_orders').countDocuments();

/** Thirty settled markets of a venue on which the model beat the market. */
async function earnTrust(venue = 'paper'): Promise<void> {
  for (let index = 0; index < 30; index++) {
    const wager = settledWager(day - 100 + index, 'WIN');
    await service.pipeline.wagers.wagers.insertOne({ ...wager, venue, pModel: 0.9, feedbackTxHash: '0x' });
  }
}

/** A venue with another order book than the paper venue's, shared by a dry run. */
function exchange(): Venue {
  const paper = new QuotedVenue({ bid: 0.85, ask: 0.87 });
  return stubVenue({
    name: 'exchange',
    sameBook: ['exchange', 'exchange-dry-run'],
    listMarkets: (at) => paper.listMarkets(at),
    getQuote: (market, at) => paper.getQuote(market, at),
    getAccount: () => paper.getAccount(),
    placeOrder: (order) => paper.placeOrder(order),
  });
}

describe('the wager of a day', () => {
  it.each([
    ['NO', { bid: 0.85, ask: 0.87 }, 160_000, 7],
    ['YES', { bid: 0.1, ask: 0.12 }, 130_000, 8],
  ] as const)(
    'is the minimum stake on the side that the model favours while it is unproven: %s',
    async (side, quote, unitMicros, contracts) => {
      const deps = quoting(quote);
      const wager = (await runWagerStep(deps, day, context))!;
      const placed = { state: 'PLACED', basis: 'minimum', weight: 0, side, contracts, limitCostMicros: unitMicros, skippedBecause: null };
      expect(wager).toMatchObject({ ...placed, costMicros: contracts * unitMicros });
      expect(await runWagerStep(deps, day, context)).toEqual(wager);
      expect(await paperOrders()).toBe(1);
    },
  );

  it.each(['BUY', 'SELL', 'HOLD'] as const)('is placed on a day of %s', async (signal) => {
    const { forecasts } = service.pipeline.record;
    await forecasts.updateMany({ day }, { $set: { 'values.signal': signal } });
    expect(await runWagerStep(quoting({ bid: 0.49, ask: 0.51 }), day, context)).toMatchObject({ state: 'PLACED', basis: 'minimum' });
  });

  it('is at least the minimum order of the venue', async () => {
    const deps = quoting({ bid: 0.85, ask: 0.87 });
    const sizes = { YES: { min: 15, step: 1 }, NO: { min: 15, step: 10 } };
    const venue = deps.venue as QuotedVenue;
    const quote = venue.getQuote.bind(venue);
    venue.getQuote = async (...asked) => ({ ...(await quote(...asked)), orderSizes: sizes });
    const wager = (await runWagerStep(deps, day, context))!;
    expect(wager).toMatchObject({ state: 'PLACED', side: 'NO', contracts: 20 });
    expect(Object.keys(wager.quote!).sort()).toEqual(['ask', 'at', 'bid', 'fee']);
  });

  it('is the minimum stake where a quarter of Kelly is less', async () => {
    await earnTrust();
    const { pModel } = (await runWagerStep(quoting({ bid: 0.5, ask: 0.52 }), day, context))!;
    await service.pipeline.wagers.wagers.deleteOne({ _id: formatDay(day) });
    await service.database.db.collection('paper_orders').deleteMany({});
    const deps = { ...quoting({ bid: pModel! - 0.06, ask: pModel! - 0.04 }), minStakeMicros: 100 * MICROS };
    const wager = (await runWagerStep(deps, day, context))!;
    expect(wager).toMatchObject({ state: 'PLACED', basis: 'edge', weight: 0.5, side: 'YES' });
    expect(wager.costMicros).toBeGreaterThanOrEqual(100 * MICROS);
    expect(wager.costMicros).toBeLessThan(101 * MICROS);
  });

  it('is none without an edge when the minimum stake is 0, with the reason', async () => {
    const deps = { ...quoting({ bid: 0.1, ask: 0.12 }), minStakeMicros: 0 };
    expect(await runWagerStep(deps, day, context)).toMatchObject({
      ...{ state: 'SKIPPED', weight: 0, contracts: 0, side: null },
      skippedBecause: expect.stringContaining('has not beaten the market'),
    });
  });

  it('is skipped when the smallest order is over the cap on one wager', async () => {
    const deps = { ...quoting({ bid: 0.49, ask: 0.51 }), minStakeMicros: 201 * MICROS };
    expect(await runWagerStep(deps, day, context)).toMatchObject({
      ...{ state: 'SKIPPED', contracts: 0, side: null },
      skippedBecause: expect.stringMatching(/^the smallest order costs 201\.\d+ PAPER-USD, above the cap on one wager of 200$/),
    });
  });

  it('is skipped when neither side costs less than it pays', async () => {
    expect(await runWagerStep(quoting({ bid: 0.005, ask: 0.995 }), day, context)).toMatchObject({
      ...{ state: 'SKIPPED', contracts: 0, side: null },
      skippedBecause: 'no price: neither side costs less than it pays',
    });
  });

  it('stakes at most two percent of the bankroll on the side with the edge', async () => {
    await earnTrust();
    const deps = quoting({ bid: 0.85, ask: 0.87 });
    const wager = (await runWagerStep(deps, day, context))!;
    expect(wager).toMatchObject({ state: 'PLACED', basis: 'edge', weight: 0.5, side: 'NO', limitCostMicros: 160_000 });
    expect(wager.costMicros).toBe(wager.contracts * 160_000);
    expect(wager.costMicros).toBeLessThanOrEqual(0.02 * BANKROLL);
    expect(wager.costMicros).toBeGreaterThan(0.0195 * BANKROLL);
    expect(await deps.venue.getAccount()).toMatchObject({ cashMicros: BANKROLL - wager.costMicros, openMicros: wager.costMicros });
  });

  it('stakes the minimum on evidence against the quotes of another book', async () => {
    await earnTrust('paper');
    const placed = { state: 'PLACED', basis: 'minimum', weight: 0 };
    expect(await runWagerStep({ ...service.pipeline, venue: exchange() }, day, context)).toMatchObject(placed);
  });

  it('stakes on evidence of a dry run against the same book', async () => {
    await earnTrust('exchange-dry-run');
    expect(await runWagerStep({ ...service.pipeline, venue: exchange() }, day, context)).toMatchObject({ state: 'PLACED', weight: 0.5 });
  });

  it('stores the exchange listing apart from the market', async () => {
    const listing = { conditionId: '0xc', yesTokenId: '1', noTokenId: '2', url: 'https://x.example', tickSize: 0.01, minOrderSize: 5 };
    const venue = exchange();
    const markets = async (at: Date) => (await venue.listMarkets(at)).map((market) => ({ ...market, listing }));
    const listed = stubVenue({
      ...venue,
      listMarkets: markets,
      getQuote: venue.getQuote,
      getAccount: venue.getAccount,
      placeOrder: venue.placeOrder,
    });
    const wager = (await runWagerStep({ ...service.pipeline, venue: listed }, day, context))!;
    expect(wager.listing).toEqual(listing);
    expect(Object.keys(wager.market!).sort()).toEqual(['expiresAt', 'id', 'question', 'strikeUsd']);
    await service.pipeline.wagers.wagers.deleteOne({ _id: wager._id });
    expect(await runWagerStep({ ...service.pipeline, venue: exchange() }, day, context)).not.toHaveProperty('listing');
  });

  it('stores the order book apart from the quote', async () => {
    const book = { bids: [{ price: 0.28, size: 40 }], asks: [{ price: 0.32, size: 7 }] };
    const venue = exchange();
    const quote = async (...asked: Parameters<typeof venue.getQuote>) => ({ ...(await venue.getQuote(...asked)), book });
    const deep = stubVenue({
      ...venue,
      getQuote: quote,
      listMarkets: venue.listMarkets,
      getAccount: venue.getAccount,
      placeOrder: venue.placeOrder,
    });
    const wager = (await runWagerStep({ ...service.pipeline, venue: deep }, day, context))!;
    expect(wager.book).toEqual(book);
    expect(Object.keys(wager.quote!).sort()).toEqual(['ask', 'at', 'bid', 'fee']);
    const [pin] = listPins(service.pipeline.record.known).filter((one) => one.day === day);
    expect(pin.book).toEqual({ bid: wager.quote!.bid, ask: wager.quote!.ask, fee: wager.quote!.fee, ...book });
  });

  it('is skipped when the cap on open stakes is reached', async () => {
    await earnTrust();
    const deps = quoting({ bid: 0.85, ask: 0.87 });
    const [market] = await deps.venue.listMarkets(context.now);
    const tenth: VenueOrder = { clientOrderId: 'earlier', market, side: 'YES', limitCostMicros: MICROS, contracts: 1136, at: context.now };
    await deps.venue.placeOrder(tenth);
    expect(await runWagerStep(deps, day, context)).toMatchObject({
      state: 'SKIPPED',
      contracts: 0,
      skippedBecause: 'the smallest order costs 1.12 PAPER-USD, above the cap on open stakes, of which 0.32 is left',
    });
  });

  it('is the minimum stake when no side has an edge after costs, and none with a minimum of 0', async () => {
    await earnTrust();
    const again = async (deps: PipelineContext) => {
      for (const name of ['paper_orders', 'paper_ledger']) await service.database.db.collection(name).deleteMany({});
      await service.pipeline.wagers.wagers.deleteOne({ _id: formatDay(day) });
      return runWagerStep(deps, day, context);
    };
    const { pModel } = (await again(quoting({ bid: 0.5, ask: 0.52 })))!;
    const fair = () => quoting({ bid: pModel! - 0.01, ask: pModel! + 0.01 });
    expect(await again(fair())).toMatchObject({ state: 'PLACED', basis: 'minimum', weight: 0.5, contracts: 2 });
    expect(await again({ ...fair(), minStakeMicros: 0 })).toMatchObject({ state: 'SKIPPED', skippedBecause: 'no edge after costs' });
  });

  it('is skipped when the window has opened', async () => {
    const late = contextAt(getWindowOpensMs(day));
    expect(await runWagerStep(service.pipeline, day, late)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'the window had opened' });
  });

  it('is skipped without booking when the venue rejects it', async () => {
    await earnTrust();
    const moved = quoting({ bid: 0.02, ask: 0.04 }, { bid: 0.5, ask: 0.52 });
    expect(await runWagerStep(moved, day, context)).toMatchObject({
      state: 'SKIPPED',
      skippedBecause: expect.stringContaining('rejected'),
    });
    expect(await moved.venue.getAccount()).toMatchObject({ cashMicros: BANKROLL, openMicros: 0 });
  });

  it('is not placed after the window opened when it was only decided before', async () => {
    await earnTrust();
    const deps = quoting({ bid: 0.85, ask: 0.87 });
    const decided = (await runWagerStep(deps, day, context))!;
    const reset = { state: 'DECIDED' as const, costMicros: 0, placedAt: null };
    await service.pipeline.wagers.wagers.updateOne({ _id: decided._id }, { $set: reset });
    const late = contextAt(getWindowOpensMs(day));
    expect(await runWagerStep(deps, day, late)).toMatchObject({ state: 'PLACED', costMicros: decided.costMicros });
    await service.pipeline.wagers.wagers.updateOne({ _id: decided._id }, { $set: reset });
    await service.database.db.collection('paper_orders').deleteMany({});
    expect(await runWagerStep(deps, day, late)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'not placed before the window opened' });
    expect(await service.database.db.collection('paper_orders').countDocuments()).toBe(0);
  });

  it('is not decided while wagers are paused, and is decided after they resume in time', async () => {
    await earnTrust();
    const wagerSwitch = new WagerSwitch(service.database.db);
    await wagerSwitch.pause('a test', context.now);
    const deps = quoting({ bid: 0.85, ask: 0.87 });
    const before = await service.pipeline.wagers.wagers.countDocuments({});
    expect(await runWagerStep(deps, day, context)).toBeNull();
    expect(await service.pipeline.wagers.wagers.countDocuments({})).toBe(before);
    await wagerSwitch.resume(context.now);
    expect(await runWagerStep({ ...deps, placeWagers: false }, day, context)).toBeNull();
    expect(await runWagerStep(deps, day, context)).toMatchObject({ state: 'PLACED' });
  });

  it('is not placed when wagers are paused between decision and order', async () => {
    await earnTrust();
    const wagerSwitch = new WagerSwitch(service.database.db);
    const paper = new QuotedVenue({ bid: 0.85, ask: 0.87 });
    // The account is the last read of a decision.
    const account = async () => {
      await wagerSwitch.pause('a test', context.now);
      return paper.getAccount();
    };
    const venue = stubVenue({
      name: 'paper',
      listMarkets: (at) => paper.listMarkets(at),
      getQuote: (market, at) => paper.getQuote(market, at),
      findFill: (id) => paper.findFill(id),
      getAccount: account,
    });
    const wager = await runWagerStep({ ...service.pipeline, venue }, day, context);
    await wagerSwitch.resume(context.now);
    expect(wager).toMatchObject({ state: 'SKIPPED', side: 'NO', skippedBecause: 'new wagers are paused' });
    expect(wager!.contracts).toBeGreaterThan(0);
  });

  it('placed before a pause settles during it', async () => {
    const wagerSwitch = new WagerSwitch(service.database.db);
    await service.pipeline.wagers.wagers.insertOne(await expiredWager(quoting({ bid: 0.5, ask: 0.52 }), day));
    await wagerSwitch.pause('a test', context.now);
    const settled = await runSettleStep(service.pipeline, createLiveContext(service.pipeline, new Date()));
    await wagerSwitch.resume(context.now);
    expect(settled).toBe(1);
    expect(await service.pipeline.wagers.findByDay(day)).toMatchObject({ state: 'WIN' });
  });

  it('is not decided when wagers are switched off', async () => {
    expect(await runWagerStep({ ...service.pipeline, placeWagers: false }, day, context)).toBeNull();
    expect(await service.pipeline.wagers.wagers.countDocuments({})).toBe(0);
  });

  it('is decided without a stake when wagers are still paused as the window opens', async () => {
    const wagerSwitch = new WagerSwitch(service.database.db);
    await wagerSwitch.pause('a test', context.now);
    const wager = await runWagerStep(service.pipeline, day, contextAt(getWindowOpensMs(day)));
    await wagerSwitch.resume(context.now);
    expect(wager).toMatchObject({ state: 'SKIPPED', contracts: 0, skippedBecause: 'new wagers are paused' });
  });
});

describe('a wager of a venue that takes no new ones', () => {
  const fill = { orderId: formatDay(day), contracts: 7, costMicros: 3_500_000, at: context.now };
  const rejection = new OracleError('VENUE_REJECTED', 'no seller at the limit');
  const unknown = new OracleError('FEED_UNAVAILABLE', 'it is not known yet what the order bought');

  beforeEach(async () => {
    const wager = await decidedWager(quoting({ bid: 0.5, ask: 0.52 }), day);
    await service.pipeline.wagers.wagers.insertOne({ ...wager, venue: 'exchange' });
  });

  const standingAt = (...otherVenues: Venue[]): PipelineContext => ({ ...quoting({ bid: 0.5, ask: 0.52 }), otherVenues });

  it('is placed when its order was filled there', async () => {
    const asked: string[] = [];
    const find = async (id: string) => {
      asked.push(id);
      return fill;
    };
    const wager = await runWagerStep(standingAt(stubVenue({ name: 'exchange', findFill: find })), day, context);
    expect(wager).toMatchObject({ state: 'PLACED', contracts: 7, costMicros: 3_500_000, placedAt: context.now, skippedBecause: null });
    expect(asked).toEqual([formatDay(day)]);
    expect(await paperOrders()).toBe(0);
  });

  it('is skipped when its order does not exist, and placed nowhere', async () => {
    const deps = standingAt(stubVenue({ name: 'exchange', findFill: async () => null }));
    const skipped = { state: 'SKIPPED', skippedBecause: 'sized for exchange, not placed there' };
    expect(await runWagerStep(deps, day, context)).toMatchObject(skipped);
    expect(await paperOrders()).toBe(0);
  });

  it('is skipped when its order bought nothing', async () => {
    const deps = standingAt(stubVenue({ name: 'exchange', findFill: () => Promise.reject(rejection) }));
    const skipped = { state: 'SKIPPED', skippedBecause: 'rejected: no seller at the limit' };
    expect(await runWagerStep(deps, day, context)).toMatchObject(skipped);
  });

  it('stays decided while the fill of its order is unknown', async () => {
    const deps = standingAt(stubVenue({ name: 'exchange', findFill: () => Promise.reject(unknown) }));
    await expect(runWagerStep(deps, day, context)).rejects.toBe(unknown);
    expect(await service.pipeline.wagers.findByDay(day)).toMatchObject({ state: 'DECIDED' });
  });

  it('stays decided while that venue is not configured, with its name as the reason', async () => {
    const waiting = { code: 'STEP_WAITING', message: expect.stringContaining('sized for exchange, which is not configured') };
    await expect(runWagerStep(standingAt(), day, context)).rejects.toMatchObject(waiting);
    expect(await service.pipeline.wagers.findByDay(day)).toMatchObject({ state: 'DECIDED' });
  });
});
