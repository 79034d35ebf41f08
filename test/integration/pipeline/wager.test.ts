import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatDay } from '../../../src/forecast/day.ts';
import type { PipelineParts } from '../../../src/pipeline/parts.ts';
import { stepInstant, windowOpensAt } from '../../../src/pipeline/times.ts';
import { wagerStep } from '../../../src/pipeline/wager.ts';
import { PaperVenue } from '../../../src/wager/paper-venue.ts';
import { MICROS, type Order, type Quote, type StrikeMarket } from '../../../src/wager/venue.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service.ts';
import { settledWager } from './wager-docs.ts';

const BANKROLL = 10_000 * MICROS;
let service: TestService;
const day = today() - 1;
const context = { now: new Date(stepInstant('wager', day)), replayed: true };

beforeAll(async () => {
  service = await testService(2);
  await runPastDay(service, day);
});
afterAll(() => service.stop());
beforeEach(async () => {
  for (const name of ['wagers', 'paper_orders', 'paper_ledger']) await service.database.db.collection(name).deleteMany({});
});

/** The paper venue with quotes of the test's own: the first for the decision, the last for every later look. */
class QuotedVenue extends PaperVenue {
  readonly quotes: Pick<Quote, 'bid' | 'ask'>[];

  constructor(...quotes: Pick<Quote, 'bid' | 'ask'>[]) {
    super({
      db: service.database.db,
      openingBalanceMicros: BANKROLL,
      reference: async () => ({ spotUsd: (await service.pipeline.record.day(day))!.price!.cents / 100, dailyVolatility: 0.02 }),
      close: async () => null,
    });
    this.quotes = quotes;
  }

  override async quote(_market: StrikeMarket, at: Date): Promise<Quote> {
    const quote = this.quotes.length > 1 ? this.quotes.shift()! : this.quotes[0];
    return { ...quote, fee: 0.01, at };
  }
}

const quoting = (...quotes: Pick<Quote, 'bid' | 'ask'>[]): PipelineParts => ({ ...service.pipeline, venue: new QuotedVenue(...quotes) });

/** Thirty settled markets on which the model did better than the market. */
async function earnTrust(): Promise<void> {
  for (let index = 0; index < 30; index++) {
    const wager = settledWager(day - 100 + index, 'WIN');
    await service.pipeline.wagers.wagers.insertOne({ ...wager, pModel: 0.9, feedbackTxHash: '0x' });
  }
}

describe('the wager of a day', () => {
  it('stakes nothing while the model has proven nothing, and says so', async () => {
    expect(await wagerStep(quoting({ bid: 0.1, ask: 0.12 }), day, context)).toMatchObject({
      state: 'SKIPPED',
      weight: 0,
      contracts: 0,
      skippedBecause: expect.stringContaining('has not beaten the market'),
    });
  });

  it('stakes at most two percent of the bankroll on the side with the edge', async () => {
    await earnTrust();
    const parts = quoting({ bid: 0.85, ask: 0.87 });
    const wager = (await wagerStep(parts, day, context))!;
    expect(wager).toMatchObject({ state: 'PLACED', weight: 0.5, side: 'NO', limitCostMicros: 160_000 });
    expect(wager.costMicros).toBe(wager.contracts * 160_000);
    expect(wager.costMicros).toBeLessThanOrEqual(0.02 * BANKROLL);
    expect(wager.costMicros).toBeGreaterThan(0.0195 * BANKROLL);
    expect(await parts.venue.account()).toMatchObject({ cashMicros: BANKROLL - wager.costMicros, openMicros: wager.costMicros });
  });

  it('skips when the cap on open stakes is reached', async () => {
    await earnTrust();
    const parts = quoting({ bid: 0.85, ask: 0.87 });
    const [market] = await parts.venue.markets(context.now);
    const tenth: Order = { clientOrderId: 'earlier', market, side: 'YES', limitCostMicros: MICROS, contracts: 1137, at: context.now };
    await parts.venue.place(tenth);
    expect(await wagerStep(parts, day, context)).toMatchObject({
      state: 'SKIPPED',
      contracts: 0,
      skippedBecause: expect.stringContaining('cap on open stakes'),
    });
  });

  it('skips when no side pays its costs', async () => {
    await earnTrust();
    const { pModel } = (await wagerStep(quoting({ bid: 0.5, ask: 0.52 }), day, context))!;
    await service.pipeline.wagers.wagers.deleteOne({ _id: formatDay(day) });
    const fair = quoting({ bid: pModel! - 0.01, ask: pModel! + 0.01 });
    expect(await wagerStep(fair, day, context)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'no edge after costs' });
  });

  it('skips when the window has opened', async () => {
    const late = { now: new Date(windowOpensAt(day)), replayed: false };
    expect(await wagerStep(service.pipeline, day, late)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'the window had opened' });
  });

  it('that the venue refuses is skipped, and nothing is booked', async () => {
    await earnTrust();
    const moved = quoting({ bid: 0.02, ask: 0.04 }, { bid: 0.5, ask: 0.52 });
    expect(await wagerStep(moved, day, context)).toMatchObject({ state: 'SKIPPED', skippedBecause: expect.stringContaining('rejected') });
    expect(await moved.venue.account()).toMatchObject({ cashMicros: BANKROLL, openMicros: 0 });
  });

  it('that was decided but not placed before the window opened is not placed behind it', async () => {
    await earnTrust();
    const parts = quoting({ bid: 0.85, ask: 0.87 });
    const decided = (await wagerStep(parts, day, context))!;
    const reset = { state: 'DECIDED' as const, costMicros: 0, placedAt: null };
    await service.pipeline.wagers.wagers.updateOne({ _id: decided._id }, { $set: reset });
    const late = { now: new Date(windowOpensAt(day)), replayed: false };
    expect(await wagerStep(parts, day, late)).toMatchObject({ state: 'PLACED', costMicros: decided.costMicros });
    await service.pipeline.wagers.wagers.updateOne({ _id: decided._id }, { $set: reset });
    await service.database.db.collection('paper_orders').deleteMany({});
    expect(await wagerStep(parts, day, late)).toMatchObject({ state: 'SKIPPED', skippedBecause: 'not placed before the window opened' });
    expect(await service.database.db.collection('paper_orders').countDocuments()).toBe(0);
  });

  it('is not made when wagers are switched off', async () => {
    expect(await wagerStep({ ...service.pipeline, placeWagers: false }, day, context)).toBeNull();
    expect(await service.pipeline.wagers.wagers.countDocuments({})).toBe(0);
  });
});
