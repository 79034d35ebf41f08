import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import type { PolymarketOrderDoc } from '../../../src/wager/polymarket/execution/order-store.ts';
import { PolymarketVenue, type PolymarketVenueOptions } from '../../../src/wager/polymarket/venue.ts';
import type { VenueOrder } from '../../../src/wager/venue.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type PolymarketExchange, type PostFault, startPolymarketExchange } from '../../support/polymarket-exchange.ts';

const at = new Date('2026-01-07T21:42:00Z');
const privateKey = generatePrivateKey();
const BOUGHT = { orderId: '2026-01-07', contracts: 50, costMicros: 23_200_000 };
const UNKNOWN = { code: 'FEED_UNAVAILABLE', retryable: true };
const REJECTED = { code: 'VENUE_REJECTED' };

let database: TestDatabase;
let exchange: PolymarketExchange;
let clock: Date;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  exchange = await startPolymarketExchange(privateKeyToAccount(privateKey).address);
  clock = at;
});
afterEach(() => exchange.close());

/** A venue as the next process has it: nothing of the one before but the database. */
function newVenue(changes: Partial<PolymarketVenueOptions> = {}): PolymarketVenue {
  return new PolymarketVenue({
    db: database.db,
    host: exchange.url,
    account: { privateKey, signatureType: 0 },
    dryRunBalanceMicros: 0,
    maxStakeUsd: 50,
    maxOpenUsd: 250,
    killSwitch: false,
    strikes: async () => [],
    now: () => clock,
    log: createLog({ level: 'silent', secrets: [] }),
    timeoutMs: 2_000,
    ...changes,
  });
}

function order(changes: Partial<VenueOrder> = {}): VenueOrder {
  const market = { id: exchange.market.conditionId, question: '', strikeUsd: 90_000, expiresAt: new Date('2026-01-10T17:00:00Z') };
  return { clientOrderId: '2026-01-07', market, side: 'YES', limitCostMicros: 470_000, contracts: 50, at, ...changes };
}

const later = (seconds: number) => {
  clock = new Date(clock.getTime() + seconds * 1_000);
};
const orders = () => database.db.collection<PolymarketOrderDoc>('polymarket_orders');
const stored = () => orders().findOne({ _id: '2026-01-07' });

/** What a crash right after the order was signed and written leaves behind. */
async function crashBeforeSending(): Promise<void> {
  exchange.faults = ['lost'];
  await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
  await orders().updateOne({ _id: '2026-01-07' }, { $set: { attempts: 0, sentAt: null } });
  exchange.requests = [];
}

describe('an order at Polymarket is placed once', () => {
  it('is written with its signature before it is sent', async () => {
    const seen: (PolymarketOrderDoc | null)[] = [];
    exchange.onPost = async () => void seen.push(await stored());
    await newVenue().placeOrder(order());
    expect(seen).toMatchObject([{ state: 'SIGNED', attempts: 1, orderHash: exchange.orders[0].hash }]);
    expect(seen[0]?.signed?.signature).toMatch(/^0x[0-9a-f]{130}$/);
  });

  it('after a crash between signing and sending: the signed order is sent, without a look', async () => {
    await crashBeforeSending();
    const signed = await stored();
    expect(await newVenue().placeOrder(order({ limitCostMicros: 600_000 }))).toMatchObject(BOUGHT);
    expect(exchange.orders).toMatchObject([{ hash: signed?.orderHash }]);
  });

  it.each<[string, PostFault]>([
    ['never arrived', 'lost'],
    ['met an error of the exchange', 'broken'],
  ])('when it %s: the same order is sent again', async (_, fault) => {
    exchange.faults = [fault];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    const signed = await stored();
    expect(signed).toMatchObject({ state: 'SIGNED', attempts: 1 });
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.orders).toMatchObject([{ hash: signed?.orderHash }]);
  });

  it('after a crash between sending and writing: what it bought is found, and nothing is sent', async () => {
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });

  it('after a time-out: it stays SIGNED, and is one order at the exchange', async () => {
    exchange.faults = ['no-answer'];
    await expect(newVenue({ timeoutMs: 300 }).placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect(await stored()).toMatchObject({ state: 'SIGNED', attempts: 1 });
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.orders).toHaveLength(1);
  });

  it('when two processes place it at once', async () => {
    await newVenue().getAccount();
    let arrived = 0;
    let release = () => {};
    const both = new Promise<void>((done) => {
      release = done;
    });
    // The first is held at the exchange until the second has come, too.
    exchange.onPost = async () => {
      arrived += 1;
      if (arrived === 2) release();
      await both;
    };
    const placed = await Promise.allSettled([newVenue().placeOrder(order()), newVenue().placeOrder(order({ contracts: 20 }))]);
    expect(exchange.posts()).toBe(2);
    expect(exchange.orders).toHaveLength(1);
    const fills = placed.filter(({ status }) => status === 'fulfilled');
    expect(fills).not.toHaveLength(0);
    for (const failure of placed.filter((result) => result.status === 'rejected')) expect(failure.reason).toMatchObject(UNKNOWN);
    later(30);
    const again = await Promise.all([newVenue().placeOrder(order()), newVenue().findFill('2026-01-07')]);
    for (const fill of again) expect(fill).toEqual((fills[0] as PromiseFulfilledResult<unknown>).value);
    expect(exchange.posts()).toBe(2);
  });

  it('when a second process finds no money left because the first has bought', async () => {
    exchange.balanceMicros = 23_500_000;
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    // As the second process has it that read the order before the first one sent it.
    await orders().updateOne({}, { $set: { sentAt: null } });
    exchange.orders[0].hash = '0x00';
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect(await stored()).toMatchObject({ state: 'POSTED', attempts: 2 });
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
  });

  it('stands as filled, whatever another process wrote meanwhile', async () => {
    exchange.onPost = async () => void (await orders().updateOne({}, { $set: { state: 'REJECTED', rejectedBecause: 'given up' } }));
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(await stored()).toMatchObject({ state: 'FILLED', rejectedBecause: null });
  });
});

describe('an order whose answer says too little', () => {
  it('is waited for while it is open, and never sent again', async () => {
    exchange.faults = ['late'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect(await stored()).toMatchObject({ state: 'POSTED' });
    later(600);
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    exchange.fillLate();
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });

  it('is looked up by its trades when the amounts cannot be right', async () => {
    exchange.faults = ['micro-amounts'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });
});

describe('finding an order after its time', () => {
  it('never sends it', async () => {
    await crashBeforeSending();
    await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject({ ...REJECTED, message: expect.stringContaining('never sent') });
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(REJECTED);
    expect(exchange.posts()).toBe(0);
    expect(await newVenue().getAccount()).toMatchObject({ openMicros: 0 });
  });

  it('tells what it bought', async () => {
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().findFill('2026-01-07')).toMatchObject(BOUGHT);
  });

  it('waits until it is certain that nothing was bought', async () => {
    exchange.faults = ['lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect((await newVenue().getAccount()).openMicros).toBe(23_500_000);
    later(60);
    await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject(UNKNOWN);
    later(61);
    await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject(REJECTED);
    expect((await newVenue().getAccount()).openMicros).toBe(0);
    expect(exchange.orders).toHaveLength(0);
  });

  it('does not take a refusal to answer for an answer', async () => {
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(600);
    for (const path of ['/auth', '/data/order', '/data/trades']) {
      exchange.refuse = path;
      await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject(UNKNOWN);
      await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    }
    exchange.refuse = null;
    expect(await newVenue().findFill('2026-01-07')).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });
});
