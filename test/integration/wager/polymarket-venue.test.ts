import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog, type Log } from '../../../src/platform/log.ts';
import { PolymarketVenue, type PolymarketVenueOptions } from '../../../src/wager/polymarket.ts';
import type { PolymarketOrderDoc } from '../../../src/wager/polymarket-exchange.ts';
import { countMinimumContracts } from '../../../src/wager/sizing.ts';
import { MICROS, type VenueOrder } from '../../../src/wager/venue.ts';
import { type TestDatabase, testDatabase } from '../../support/database/database.ts';
import { type PolymarketExchange, startPolymarketExchange, stubMarket } from '../../support/market/polymarket-exchange.ts';

const at = new Date('2026-01-07T21:42:00Z');
const expiry = new Date('2026-01-10T17:00:00Z');
const privateKey = generatePrivateKey();
const account = privateKeyToAccount(privateKey).address;

let database: TestDatabase;
let exchange: PolymarketExchange;
let clock: Date;
let lines: string[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.dropDatabase();
  exchange = await startPolymarketExchange(account);
  clock = at;
  lines = [];
});
afterEach(() => exchange.close());

/** A venue as a process of its own has it: nothing shared with another one but the database. */
function newVenue(changes: Partial<PolymarketVenueOptions> = {}): PolymarketVenue {
  return new PolymarketVenue({
    db: database.db,
    host: exchange.url,
    account: { privateKey, signatureType: 0 },
    dryRunBalanceMicros: 1_000 * MICROS,
    maxStakeUsd: 50,
    maxOpenUsd: 250,
    killSwitch: false,
    strikes: async () => [strike()],
    now: () => clock,
    log: createLog({ level: 'trace', secrets: [], write: (line) => lines.push(line) }) as Log,
    timeoutMs: 2_000,
    ...changes,
  });
}

function strike() {
  const { conditionId } = exchange.market;
  return { conditionId, question: 'Will BTC be above $90,000?', strikeUsd: 90_000, expiresAt: expiry };
}

function order(changes: Partial<VenueOrder> = {}): VenueOrder {
  const { conditionId: id, ...market } = strike();
  return { clientOrderId: '2026-01-07', market: { id, ...market }, side: 'YES', limitCostMicros: 470_000, contracts: 50, at, ...changes };
}

function later(seconds: number): void {
  clock = new Date(clock.getTime() + seconds * 1_000);
}

const stored = (id = '2026-01-07') => database.db.collection<PolymarketOrderDoc>('polymarket_orders').findOne({ _id: id });
const rejected = (text: string) => ({ code: 'VENUE_REJECTED', message: expect.stringContaining(text) });

describe('markets of Polymarket', () => {
  it('are the open strikes by condition id', async () => {
    const venue = newVenue({ strikes: async () => [strike(), { ...strike(), conditionId: '0xold', expiresAt: at }] });
    expect(await venue.listMarkets(at)).toEqual([order().market]);
  });

  it('include tokens where known', async () => {
    const listing = { conditionId: '0xc', yesTokenId: '1', noTokenId: '2', url: 'https://x.example', tickSize: 0.01, minOrderSize: 5 };
    const venue = newVenue({ strikes: async () => [{ ...strike(), listing }] });
    expect(await venue.listMarkets(at)).toEqual([{ ...order().market, listing }]);
  });

  it('are quoted from the YES book with the fee', async () => {
    exchange.market.fee = { r: 0.07, e: 1 };
    const level = (price: number, size: number) => ({ price, size });
    const bids = [level(0.44, 200), level(0.4, 500)];
    const asks = [level(0.46, 30), level(0.47, 300), level(0.6, 500)];
    expect(await newVenue().getQuote(order().market, at)).toMatchObject({ bid: 0.44, ask: 0.46, fee: 0.017388, at, book: { bids, asks } });
  });

  it('are not quoted for an empty or missing book', async () => {
    exchange.market.books[exchange.market.yes].asks = [];
    await expect(newVenue().getQuote(order().market, at)).rejects.toMatchObject(rejected('no asks'));
    exchange.market.books = {};
    await expect(newVenue().getQuote(order().market, at)).rejects.toMatchObject(rejected('No orderbook exists'));
  });

  it('fail with FEED_UNAVAILABLE during an outage and FEED_INVALID after a change', async () => {
    const quote = (host: string) => newVenue({ host }).getQuote(order().market, at);
    await expect(quote('http://127.0.0.1:9')).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE', retryable: true });
    exchange.market.books[exchange.market.yes].tickSize = 'fine';
    await expect(quote(exchange.url)).rejects.toMatchObject({ code: 'FEED_INVALID', field: 'book.tick_size' });
  });

  it("include the account's balance by its key", async () => {
    exchange.balanceMicros = 123_456_789;
    expect(await newVenue().getAccount()).toEqual({ asset: 'pUSD', cashMicros: 123_456_789, openMicros: 0 });
    expect(exchange.requests).toEqual(['GET /auth/derive-api-key', 'POST /auth/api-key', 'GET /balance-allowance']);
    await newVenue().getAccount();
    expect(exchange.requests.slice(3)).toEqual(['GET /auth/derive-api-key', 'GET /balance-allowance']);
  });
});

describe('an order', () => {
  it('buys up to its limit, best price first', async () => {
    const venue = newVenue();
    const fill = await venue.placeOrder(order());
    expect(fill).toEqual({ orderId: '2026-01-07', contracts: 50, costMicros: 23_200_000, at });
    expect(exchange.orders).toMatchObject([
      { tokenId: exchange.market.yes, makerMicros: 23_500_000, takerMicros: 50_000_000, maker: account },
    ]);
    expect(await venue.getAccount()).toEqual({ asset: 'pUSD', cashMicros: 976_800_000, openMicros: 23_200_000 });
  });

  it('of the smallest size of a quote is taken', async () => {
    const { market } = exchange;
    for (const book of Object.values(market.books)) Object.assign(book, { tickSize: '0.001', minOrderSize: '5' });
    market.books[market.yes].asks = [['0.465', '500']];
    const quote = await newVenue().getQuote(order().market, at);
    const unitCostMicros = Math.round((quote.ask + quote.fee) * MICROS);
    const contracts = countMinimumContracts({ minStakeMicros: MICROS, unitCostMicros }, quote.orderSizes!.YES);
    expect(contracts).toBe(6);
    expect(await newVenue().placeOrder(order({ limitCostMicros: unitCostMicros, contracts }))).toMatchObject({ contracts });
  });

  it('is idempotent', async () => {
    const fill = await newVenue().placeOrder(order());
    expect(await newVenue().placeOrder(order({ contracts: 10 }))).toEqual(fill);
    expect(await newVenue().findFill('2026-01-07')).toEqual(fill);
    expect(await newVenue().findFill('2026-01-08')).toBeNull();
    expect(exchange.posts()).toBe(1);
  });

  it('can be filled partially', async () => {
    expect(await newVenue().placeOrder(order({ limitCostMicros: 460_000 }))).toMatchObject({ contracts: 30, costMicros: 13_800_000 });
    expect(await stored()).toMatchObject({ state: 'FILLED', contracts: 50, filledContracts: 30 });
  });

  it('buys the NO token from its own book', async () => {
    expect(await newVenue().placeOrder(order({ side: 'NO', limitCostMicros: 560_000 }))).toMatchObject({
      contracts: 50,
      costMicros: 28_000_000,
    });
    expect(exchange.orders).toMatchObject([{ tokenId: exchange.market.no }]);
  });

  it('is rejected with a stable reason without sellers', async () => {
    const cheap = order({ limitCostMicros: 450_000 });
    await expect(newVenue().placeOrder(cheap)).rejects.toMatchObject(rejected('no orders found to match'));
    exchange.market = stubMarket();
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(rejected('no orders found to match'));
    await expect(newVenue().findFill('2026-01-07')).rejects.toMatchObject(rejected('no orders found to match'));
    expect(exchange.posts()).toBe(1);
  });

  it('includes the fee within the limit', async () => {
    exchange.market.fee = { r: 0.07, e: 1 };
    const fill = await newVenue().placeOrder(order({ limitCostMicros: 477_388 }));
    expect(fill).toMatchObject({ contracts: 30, costMicros: 13_800_000 + 30 * 17_388 });
  });

  it.each([
    ['0.1', 499_999, 40],
    ['0.001', 463_999, 46.3],
    ['0.0001', 470_099, 47],
  ])('has a price on the tick %s within its limit', async (tickSize, limitCostMicros, cents) => {
    Object.assign(exchange.market.books[exchange.market.yes], { tickSize, asks: [['0.30', '1000']] });
    await newVenue().placeOrder(order({ limitCostMicros }));
    const [{ makerMicros, takerMicros }] = exchange.orders;
    expect((100 * makerMicros) / takerMicros).toBeCloseTo(cents, 9);
  });

  it.each([
    [false, 2, '0xE111180000d2663C0091e4f400237545B87B996B'],
    [true, 2, '0xe2222d279d744050d28e00520010520000310F59'],
    [true, 3, '0xe3333700cA9d93003F00f0F71f8515005F6c00Aa'],
  ])('is signed for the exchange contract: neg-risk %s, version %d', async (negRisk, version, contract) => {
    exchange.market.books[exchange.market.yes].negRisk = negRisk;
    exchange.version = version;
    await newVenue().placeOrder(order());
    expect(exchange.orders).toMatchObject([{ contract, signatureType: 0 }]);
    expect((await stored())?.orderHash).toBe(exchange.orders[0].hash);
  });

  it('is paid by the funder if configured', async () => {
    const funder = `0x${'5'.repeat(40)}`;
    await newVenue({ account: { privateKey, signatureType: 2, funder } }).placeOrder(order());
    expect(exchange.orders).toMatchObject([{ maker: funder, signatureType: 2 }]);
  });
});

describe('limits', () => {
  it('reduce an order: per wager, open wagers, account', async () => {
    expect(await newVenue({ maxStakeUsd: 10 }).placeOrder(order({ clientOrderId: 'a' }))).toMatchObject({ contracts: 21 });
    expect(await newVenue({ maxOpenUsd: 20 }).placeOrder(order({ clientOrderId: 'b' }))).toMatchObject({ contracts: 22 });
    exchange.balanceMicros = 5 * MICROS;
    expect(await newVenue().placeOrder(order({ clientOrderId: 'c' }))).toMatchObject({ contracts: 10 });
  });

  it("reject an order reduced below the exchange's minimum", async () => {
    await expect(newVenue({ maxStakeUsd: 2 }).placeOrder(order())).rejects.toMatchObject(rejected('the cap of $2 on one wager'));
    await expect(newVenue({ maxOpenUsd: 1 }).placeOrder(order())).rejects.toMatchObject(rejected('the cap of $1 on open wagers'));
    exchange.balanceMicros = 0;
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(rejected('the account'));
    await expect(newVenue().placeOrder(order({ contracts: 4 }))).rejects.toMatchObject(rejected('below the minimum order of 5'));
    expect(exchange.posts()).toBe(0);
    expect(await stored()).toBeNull();
  });

  it('reject an order when every tick exceeds the limit', async () => {
    await expect(newVenue().placeOrder(order({ limitCostMicros: 9_999 }))).rejects.toMatchObject(rejected('below the lowest price'));
  });
});

describe('the kill switch', () => {
  it('blocks new orders and still settles open ones', async () => {
    const fill = await newVenue().placeOrder(order({ clientOrderId: 'open' }));
    const killed = newVenue({ killSwitch: true });
    await expect(killed.placeOrder(order())).rejects.toMatchObject(rejected('kill switch'));
    expect(await killed.placeOrder(order({ clientOrderId: 'open' }))).toEqual(fill);
    Object.assign(exchange.market, { closed: true, winner: 'Yes' });
    expect(await killed.settleOrder('open', expiry)).toMatchObject({ payoutMicros: 50 * MICROS });
    expect(exchange.posts()).toBe(1);
  });

  it('is read again before sending', async () => {
    let asked = 0;
    const isPaused = async () => {
      asked += 1;
      return asked > 1;
    };
    await expect(newVenue({ isPaused }).placeOrder(order())).rejects.toMatchObject(rejected('never sent'));
    expect(asked).toBe(2);
    expect(exchange.posts()).toBe(0);
    await expect(newVenue({ isPaused: async () => true }).placeOrder(order({ clientOrderId: 'next' }))).rejects.toMatchObject(
      rejected('paused'),
    );
    expect(await newVenue({ isPaused: async () => false }).placeOrder(order({ clientOrderId: 'third' }))).toMatchObject({ contracts: 50 });
  });

  it('blocks a signed, unsent order and finds a sent one', async () => {
    exchange.faults = ['lost'];
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
    await database.db.collection('polymarket_orders').updateOne({}, { $set: { attempts: 0, sentAt: null } });
    await expect(newVenue({ killSwitch: true }).placeOrder(order())).rejects.toMatchObject(rejected('never sent'));
    exchange.faults = ['answer-lost'];
    await expect(newVenue().placeOrder(order({ clientOrderId: 'sent' }))).rejects.toMatchObject({ code: 'FEED_UNAVAILABLE' });
    later(30);
    expect(await newVenue({ killSwitch: true }).placeOrder(order({ clientOrderId: 'sent' }))).toMatchObject({ contracts: 50 });
    expect(exchange.orders).toHaveLength(1);
  });
});

describe('a settled market', () => {
  it.each([
    ['YES', 'Yes', 50],
    ['YES', 'No', 0],
    ['NO', 'No', 50],
    ['NO', 'Yes', 0],
  ] as const)('pays %s on winner %s: %d', async (side, winner, payout) => {
    const venue = newVenue();
    await venue.placeOrder(order({ side, limitCostMicros: 560_000 }));
    Object.assign(exchange.market, { closed: false, winner });
    expect(await venue.settleOrder('2026-01-07', new Date(expiry.getTime() - 1))).toBeNull();
    expect(await venue.settleOrder('2026-01-07', expiry)).toBeNull();
    exchange.market.closed = true;
    const settled = { winner: winner.toUpperCase(), payoutMicros: payout * MICROS, at: expiry };
    expect(await Promise.all([venue.settleOrder('2026-01-07', expiry), venue.settleOrder('2026-01-07', expiry)])).toEqual([
      settled,
      settled,
    ]);
    expect(await venue.getAccount()).toMatchObject({ openMicros: 0 });
    exchange.market.winner = null;
    expect(await venue.settleOrder('2026-01-07', new Date(expiry.getTime() + 1))).toEqual(settled);
  });

  it('has no winner before expiry or without a resolution', async () => {
    Object.assign(exchange.market, { closed: true, winner: 'Yes' });
    expect(await newVenue().findWinner(order().market, at)).toBeNull();
    expect(await newVenue().findWinner(order().market, expiry)).toBe('YES');
    exchange.market.winner = null;
    expect(await newVenue().findWinner(order().market, expiry)).toBeNull();
  });
});

describe('a market that resolves without a winner', () => {
  const week = new Date(expiry.getTime() + 7 * 86_400_000);

  it.each([
    ['YES', 25],
    ['NO', 25],
  ] as const)('pays %s half when it resolves 50/50, once', async (side, payout) => {
    const venue = newVenue();
    await venue.placeOrder(order({ side, limitCostMicros: 560_000 }));
    Object.assign(exchange.market, { closed: false, isHalf: true });
    expect(await venue.settleOrder('2026-01-07', expiry)).toBeNull();
    exchange.market.closed = true;
    const settled = { winner: null, payoutMicros: payout * MICROS, at: expiry };
    expect(await Promise.all([1, 2].map(() => venue.settleOrder('2026-01-07', expiry)))).toEqual([settled, settled]);
    expect(await venue.getAccount()).toMatchObject({ openMicros: 0 });
    expect(await venue.findWinner(order().market, expiry)).toBe('VOID');
    exchange.market.winner = 'Yes';
    expect(await venue.settleOrder('2026-01-07', week)).toEqual(settled);
  });

  it.each([
    ['YES', 0.5, 25],
    ['YES', 0.2, 10],
    ['NO', 0.2, 40],
  ] as const)('pays %s its share at a final price of %d once a dispute is over', async (side, finalPrice, payout) => {
    const venue = newVenue();
    await venue.placeOrder(order({ side, limitCostMicros: 560_000 }));
    Object.assign(exchange.market, { closed: true, finalPrice });
    // A dispute takes days, and the price until then is that of the last trade.
    expect(await venue.settleOrder('2026-01-07', new Date(week.getTime() - 1))).toBeNull();
    expect(await venue.settleOrder('2026-01-07', week)).toEqual({ winner: null, payoutMicros: payout * MICROS, at: week });
    expect(await venue.getAccount()).toMatchObject({ openMicros: 0 });
  });

  it('has a winner after a dispute whose only trace is a final price of 1 or 0', async () => {
    Object.assign(exchange.market, { closed: true, finalPrice: 0 });
    expect(await newVenue().findWinner(order().market, expiry)).toBeNull();
    expect(await newVenue().findWinner(order().market, week)).toBe('NO');
  });

  it('is paid into the account of a dry run', async () => {
    const dryRun = newVenue({ account: null });
    await dryRun.placeOrder(order());
    Object.assign(exchange.market, { closed: true, isHalf: true });
    expect(await dryRun.settleOrder('2026-01-07', expiry)).toMatchObject({ winner: null, payoutMicros: 25 * MICROS });
    expect(await dryRun.getAccount()).toEqual({ asset: 'PAPER-USD', cashMicros: 1_001_800_000, openMicros: 0 });
  });
});

describe('a dry run', () => {
  const dryRun = (changes: Partial<PolymarketVenueOptions> = {}) => newVenue({ account: null, ...changes });

  it('fills from the live book with paper money and without a key', async () => {
    const venue = dryRun();
    expect(venue).toMatchObject({ name: 'polymarket-dry-run', asset: 'PAPER-USD' });
    const fill = await venue.placeOrder(order());
    expect(fill).toEqual({ orderId: '2026-01-07', contracts: 50, costMicros: 23_200_000, at });
    expect(await venue.placeOrder(order())).toEqual(fill);
    expect(await venue.getAccount()).toEqual({ asset: 'PAPER-USD', cashMicros: 976_800_000, openMicros: 23_200_000 });
    expect(new Set(exchange.requests)).toEqual(new Set([`GET /clob-markets/${exchange.market.conditionId}`, 'GET /book']));
  });

  it('fills partially or not at all, idempotently', async () => {
    expect(await dryRun().placeOrder(order({ limitCostMicros: 460_000 }))).toMatchObject({ contracts: 30, costMicros: 13_800_000 });
    const cheap = order({ clientOrderId: 'cheap', limitCostMicros: 450_000 });
    await expect(dryRun().placeOrder(cheap)).rejects.toMatchObject(rejected('no seller'));
    exchange.market.books[exchange.market.yes].asks = [['0.10', '500']];
    await expect(dryRun().placeOrder(cheap)).rejects.toMatchObject(rejected('no seller'));
    await expect(dryRun().findFill('cheap')).rejects.toMatchObject(rejected('no seller'));
  });

  it('pays out into its own account', async () => {
    await dryRun().placeOrder(order());
    Object.assign(exchange.market, { closed: true, winner: 'Yes' });
    expect(await dryRun().settleOrder('2026-01-07', expiry)).toEqual({ winner: 'YES', payoutMicros: 50 * MICROS, at: expiry });
    expect(await dryRun().getAccount()).toEqual({ asset: 'PAPER-USD', cashMicros: 1_026_800_000, openMicros: 0 });
  });

  it('is separate from real orders', async () => {
    await dryRun().placeOrder(order());
    await expect(newVenue().placeOrder(order())).rejects.toMatchObject(rejected('was placed at polymarket-dry-run'));
    expect(await newVenue().getAccount()).toMatchObject({ openMicros: 0 });
    expect(exchange.posts()).toBe(0);
  });

  it('quotes the book of the exchange', () => {
    const venues = [newVenue({ account: null }), newVenue()];
    const names = venues.map(({ name }) => name);
    for (const { sameBook } of venues) expect(sameBook.toSorted()).toEqual(names.toSorted());
  });

  it('fills one order for two concurrent processes', async () => {
    const fills = await Promise.all([dryRun().placeOrder(order()), dryRun().placeOrder(order({ contracts: 20 }))]);
    expect(fills[0]).toEqual(fills[1]);
  });
});

describe('secrets', () => {
  it('are in no log line and no error', async () => {
    const errors: unknown[] = [];
    const trouble: (() => void)[] = [
      () => {},
      () => exchange.faults.push('broken'),
      () => exchange.faults.push('lost'),
      () => (exchange.refuse = '/order'),
      () => (exchange.refuse = '/data'),
      () => (exchange.refuse = '/auth'),
    ];
    for (const [index, cause] of trouble.entries()) {
      cause();
      await newVenue({ timeoutMs: 500 })
        .placeOrder(order({ clientOrderId: `order-${index}` }))
        .catch((error: unknown) => errors.push(error));
    }
    expect(errors.length).toBeGreaterThanOrEqual(4);
    const log = createLog({ level: 'trace', secrets: [], write: (line) => lines.push(line) });
    for (const error of errors) log.error({ err: error, cause: (error as Error).cause });
    expect(lines.length).toBeGreaterThan(errors.length);
    expect(exchange.secrets.length).toBeGreaterThan(0);
    for (const secret of [privateKey, privateKey.slice(2), ...exchange.secrets]) expect(lines.join('')).not.toContain(secret);
  });
});
