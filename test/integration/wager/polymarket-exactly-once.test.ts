import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { PolymarketVenue, type PolymarketVenueOptions } from '../../../src/wager/polymarket.ts';
import type { PolymarketOrderDoc } from '../../../src/wager/polymarket-exchange.ts';
import type { VenueOrder } from '../../../src/wager/venue.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { type PolymarketExchange, type PostFault, startPolymarketExchange } from '../../support/market/polymarket-exchange.ts';

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

describe('exactly-once orders', () => {
  it('stores the signed order before sending', async () => {
    const seen: (PolymarketOrderDoc | null)[] = [];
    exchange.onPost = async () => void seen.push(await stored());
    await newVenue().placeOrder(order());
    expect(seen).toMatchObject([{ state: 'SIGNED', attempts: 1, orderHash: exchange.orders[0].hash }]);
    expect(seen[0]?.signed?.signature).toMatch(/^0x[0-9a-f]{130}$/);
  });

  it('sends the stored order without a lookup after a crash before sending', async () => {
    await crashBeforeSending();
    const signed = await stored();
    expect(await newVenue().placeOrder(order({ limitCostMicros: 600_000 }))).toMatchObject(BOUGHT);
    expect(exchange.orders).toMatchObject([{ hash: signed?.orderHash }]);
  });

  it.each<[string, PostFault]>([
    ['never arrived', 'lost'],
    ['met an error of the exchange', 'broken'],
  ])('sends the same order again when the exchange %s', async (_, fault) => {
    exchange.faults = [fault];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    const signed = await stored();
    expect(signed).toMatchObject({ state: 'SIGNED', attempts: 1 });
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.orders).toMatchObject([{ hash: signed?.orderHash }]);
  });

  it('finds the fills without sending after a crash before the result is stored', async () => {
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });

  it('keeps SIGNED after a timeout and places one order', async () => {
    exchange.faults = ['no-answer'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect(await stored()).toMatchObject({ state: 'SIGNED', attempts: 1 });
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.orders).toHaveLength(1);
  });

  it('places one order for two concurrent processes', async () => {
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

  it('returns the fill when the first process has spent the balance', async () => {
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

  it('keeps a fill over a concurrent rejection', async () => {
    exchange.onPost = async () => void (await orders().updateOne({}, { $set: { state: 'REJECTED', rejectedBecause: 'given up' } }));
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(await stored()).toMatchObject({ state: 'FILLED', rejectedBecause: null });
  });
});

describe('ambiguous responses', () => {
  it('wait for an open order without sending it again', async () => {
    exchange.faults = ['late'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    expect(await stored()).toMatchObject({ state: 'POSTED' });
    later(600);
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    exchange.fillLate();
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });

  it('look up trades for implausible amounts', async () => {
    exchange.faults = ['micro-amounts'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().placeOrder(order())).toMatchObject(BOUGHT);
    expect(exchange.posts()).toBe(1);
  });
});

describe('findFill', () => {
  it('never sends an order', async () => {
    await crashBeforeSending();
    await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject({ ...REJECTED, message: expect.stringContaining('never sent') });
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(REJECTED);
    expect(exchange.posts()).toBe(0);
    expect(await newVenue().getAccount()).toMatchObject({ openMicros: 0 });
  });

  it('returns the fill', async () => {
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(UNKNOWN);
    later(30);
    expect(await newVenue().findFill('2026-01-07')).toMatchObject(BOUGHT);
  });

  it('throws until it is certain that nothing was bought', async () => {
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

  it('does not treat an error response as a result', async () => {
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
