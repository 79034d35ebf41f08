import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PaperVenue } from '../../../src/wager/paper-venue.ts';
import { MICROS, type VenueOrder } from '../../../src/wager/venue.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';

const at = new Date('2026-01-07T21:42:00Z');
const expiry = new Date('2026-01-10T00:00:00Z');

let database: TestDatabase;
let close: number | null;
let venue: PaperVenue;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  close = null;
  venue = new PaperVenue({
    db: database.db,
    openingBalanceMicros: 1_000 * MICROS,
    reference: async () => ({ spotUsd: 90_000, dailyVolatility: 0.02 }),
    close: async () => close,
  });
});

async function order(changes: Partial<VenueOrder> = {}): Promise<VenueOrder> {
  const market = (await venue.listMarkets(at)).find(({ strikeUsd }) => strikeUsd === 90_000)!;
  return { clientOrderId: '2026-01-07', market, side: 'YES', limitCostMicros: MICROS, contracts: 10, at, ...changes };
}

describe('the paper venue', () => {
  it('books an order once for repeated and concurrent calls', async () => {
    const one = await order();
    const fills = await Promise.all([venue.placeOrder(one), venue.placeOrder(one), venue.placeOrder(one)]);
    expect(new Set(fills.map(({ costMicros }) => costMicros)).size).toBe(1);
    const { bid, ask, fee } = await venue.getQuote(one.market, at);
    expect(bid).toBeLessThan(ask);
    const costMicros = Math.round((ask + fee) * MICROS) * 10;
    expect(fills[0].costMicros).toBe(costMicros);
    expect(await venue.getAccount()).toEqual({ asset: 'PAPER-USD', cashMicros: 1_000 * MICROS - costMicros, openMicros: costMicros });
  });

  it('books the stake after a crash before the booking', async () => {
    const one = await order();
    const fill = await venue.placeOrder(one);
    await database.db.collection<{ _id: string }>('paper_ledger').deleteOne({ _id: '2026-01-07:stake' });
    await venue.placeOrder(one);
    expect((await venue.getAccount()).cashMicros).toBe(1_000 * MICROS - fill.costMicros);
  });

  it.each([
    ['YES', 90_001, true],
    ['YES', 90_000, false],
    ['NO', 90_000, true],
    ['NO', 95_000, false],
  ] as const)('settles %s at a close of %d', async (side, price, wins) => {
    const { costMicros } = await venue.placeOrder(await order({ side }));
    expect(await venue.settleOrder('2026-01-07', new Date(expiry.getTime() - 1))).toBeNull();
    expect(await venue.settleOrder('2026-01-07', expiry)).toBeNull();
    close = price;
    const payoutMicros = wins ? 10 * MICROS : 0;
    const settled = await Promise.all([venue.settleOrder('2026-01-07', expiry), venue.settleOrder('2026-01-07', expiry)]);
    for (const settlement of settled) expect(settlement).toMatchObject({ payoutMicros });
    expect(await venue.getAccount()).toMatchObject({ cashMicros: 1_000 * MICROS - costMicros + payoutMicros, openMicros: 0 });
  });

  it('rejects orders above the limit or the balance without a booking', async () => {
    await expect(venue.placeOrder(await order({ limitCostMicros: 1 }))).rejects.toMatchObject({ code: 'VENUE_REJECTED' });
    await expect(venue.placeOrder(await order({ contracts: 10_000 }))).rejects.toMatchObject({ code: 'VENUE_REJECTED' });
    expect(await venue.getAccount()).toMatchObject({ cashMicros: 1_000 * MICROS, openMicros: 0 });
  });
});
