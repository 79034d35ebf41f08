import fc from 'fast-check';
import type { Hash, Hex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  COMMERCE_INDEXES,
  findReferralTotals,
  Ledger,
  listTopReferrals,
  REVENUE_DAYS,
  readPartnerTotals,
  readRevenue,
  type SettledPayment,
} from '../../../../src/commerce/ledger.ts';
import { DAY_MS, toDay } from '../../../../src/forecast/day.ts';
import { ensureIndexes } from '../../../../src/platform/mongo.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
let ledger: Ledger;
const NOW = new Date('2026-03-10T21:36:00Z');

beforeAll(async () => {
  database = await testDatabase();
  await ensureIndexes(database.db, COMMERCE_INDEXES);
});
afterAll(() => database.drop());
beforeEach(async () => {
  ledger = new Ledger(database.db);
  await ledger.payments.deleteMany({});
});

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const hash = (n: number): Hash => `0x${n.toString(16).padStart(64, '0')}`;
let transactions = 0;

function payment(change: Partial<SettledPayment> = {}): SettledPayment {
  transactions += 1;
  return {
    cause: { kind: 'transfer' },
    channel: 'purchase',
    offering: 'svc_alpha_brief',
    amountMicros: 1_500_000n,
    asset: address(0xa),
    payer: address(0xb),
    payee: address(0xc),
    resource: null,
    ref: null,
    settledAt: NOW,
    txHash: hash(transactions),
    ...change,
  };
}

describe('the ledger', () => {
  it('records a payment once for repeated and concurrent calls', async () => {
    const paid = payment();
    const results = await Promise.all(Array.from({ length: 20 }, () => ledger.record(paid)));
    expect(results.filter((isNew) => isNew)).toHaveLength(1);
    expect(await ledger.record({ ...paid, txHash: paid.txHash.toUpperCase().replace('0X', '0x') as Hash })).toBe(false);
    expect(await readRevenue(ledger, NOW)).toMatchObject({ total: { payments: 1, amountMicros: 1_500_000n } });
  });

  it('stores the resource up to its limit, and no unknown fields', async () => {
    const resource = `https://oracle.example.org/oracle?horizon=${'7'.repeat(600)}`;
    const paid = payment({ resource });
    await ledger.record({ ...paid, extra: 'of a caller' } as SettledPayment);
    const [kept] = await ledger.payments.find().toArray();
    expect(kept.resource).toBe(resource.slice(0, 512));
    expect(kept).not.toHaveProperty('extra');
    // The same payment by another spelling of what was asked for.
    expect(await ledger.record({ ...paid, resource: null })).toBe(false);
  });

  it('rejects a transaction that has paid for something else', async () => {
    const paid = payment();
    await ledger.record(paid);
    const conflict = expect.objectContaining({ code: 'CONFLICT', field: 'txHash' });
    await expect(ledger.record({ ...paid, offering: 'svc_analysis_report' })).rejects.toThrow(conflict);
    await expect(ledger.record({ ...paid, amountMicros: 2n })).rejects.toThrow(conflict);
    expect(await ledger.payments.countDocuments()).toBe(1);
  });

  it('records an authorization once, in any transaction', async () => {
    const signed = payment({ channel: 'x402', offering: 'x402_signal', cause: { kind: 'authorization', nonce: hash(7) } });
    expect(await ledger.record(signed)).toBe(true);
    await expect(ledger.record({ ...signed, txHash: hash(9_999_999) })).rejects.toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(await ledger.record({ ...signed, payer: address(0xd), txHash: hash(8_888_888) })).toBe(true);
  });

  it('records several authorizations of one transaction', async () => {
    const { txHash } = payment();
    const signed = (nonce: number) =>
      payment({ channel: 'x402', offering: 'x402_signal', cause: { kind: 'authorization', nonce: hash(nonce) }, txHash });
    expect([await ledger.record(signed(11)), await ledger.record(signed(12)), await ledger.record(signed(12))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('records several jobs that one transaction completed', async () => {
    const { txHash } = payment();
    const job = (jobId: bigint) =>
      payment({ channel: 'agent-commerce', offering: 'svc_market_context', cause: { kind: 'job', contract: address(0xe), jobId }, txHash });
    expect([await ledger.record(job(0n)), await ledger.record(job(1n)), await ledger.record(job(1n))]).toEqual([true, true, false]);
  });

  it.each([
    ['offering', { offering: 'svc_unheard_of' }],
    ['offering', { channel: 'x402' }],
    ['amountMicros', { amountMicros: 0n }],
    ['amountMicros', { amountMicros: -1n }],
    ['amountMicros', { amountMicros: 10n ** 15n + 1n }],
    ['payer', { payer: '0x12' }],
    ['payee', { payee: `${address(1)}0` as Hex }],
    ['txHash', { txHash: '0x' }],
    ['settledAt', { settledAt: new Date(Number.NaN) }],
    ['ref', { ref: '<script>' }],
  ] satisfies [string, Partial<SettledPayment>][])('rejects what cannot be a payment, by its %s', async (field, change) => {
    await expect(ledger.record(payment(change))).rejects.toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
    expect(await ledger.payments.countDocuments()).toBe(0);
  });
});

describe('revenue', () => {
  it('is zero before the first payment', async () => {
    const revenue = await readRevenue(ledger, NOW);
    const nothing = { payments: 0, amountMicros: 0n };
    expect(revenue).toMatchObject({ total: nothing, payers: 0, firstSettledAt: null, lastSettledAt: null });
    expect(revenue.byChannel).toHaveLength(3);
    expect(revenue.byOffering).toHaveLength(11);
    expect(revenue.byDay).toHaveLength(REVENUE_DAYS);
    for (const part of [...revenue.byChannel, ...revenue.byOffering, ...revenue.byDay]) expect(part).toMatchObject(nothing);
    expect(await readPartnerTotals(ledger)).toEqual({ partners: 0, referred: nothing, total: nothing });
    expect(await listTopReferrals(ledger, 10)).toEqual([]);
  });

  it('is computed once per payment and process', async () => {
    await ledger.record(payment({}));
    const aggregate = vi.spyOn(ledger.payments, 'aggregate');
    const first = await readRevenue(ledger, NOW);
    const computed = aggregate.mock.calls.length;
    expect(await readRevenue(ledger, NOW)).toEqual(first);
    expect(aggregate).toHaveBeenCalledTimes(computed);
    await new Ledger(database.db).record(payment({ txHash: hash(77) }));
    expect((await readRevenue(ledger, NOW)).total.payments).toBe(2);
  });

  it('distinguishes the same name by channel, and counts wallets once', async () => {
    await ledger.record(payment({ offering: 'svc_crowd_vs_oracle', amountMicros: 500_000n }));
    const job = { kind: 'job', contract: address(0xe), jobId: 3n } as const;
    await ledger.record(payment({ channel: 'agent-commerce', offering: 'svc_crowd_vs_oracle', amountMicros: 400_000n, cause: job }));
    const revenue = await readRevenue(ledger, NOW);
    const of = (channel: string) => revenue.byOffering.find((one) => one.channel === channel && one.offering === 'svc_crowd_vs_oracle');
    expect([of('purchase')?.amountMicros, of('agent-commerce')?.amountMicros]).toEqual([500_000n, 400_000n]);
    expect(revenue).toMatchObject({ payers: 1, total: { payments: 2, amountMicros: 900_000n } });
  });

  it('is grouped by UTC date of settlement, today and the 29 days before', async () => {
    const today = toDay(NOW.getTime());
    const at = (ms: number) => payment({ settledAt: new Date(ms), amountMicros: 1n });
    for (const ms of [today * DAY_MS, today * DAY_MS - 1, (today - 29) * DAY_MS, (today - 29) * DAY_MS - 1]) await ledger.record(at(ms));
    const { byDay, total, firstSettledAt, lastSettledAt } = await readRevenue(ledger, NOW);
    expect(byDay.map(({ day }) => day)).toEqual(Array.from({ length: 30 }, (_, i) => today - 29 + i));
    expect(byDay.filter(({ payments }) => payments > 0).map(({ day, payments }) => [day - today, payments])).toEqual([
      [-29, 1],
      [-1, 1],
      [0, 1],
    ]);
    expect(total.payments).toBe(4);
    expect([firstSettledAt?.getTime(), lastSettledAt?.getTime()]).toEqual([(today - 29) * DAY_MS - 1, today * DAY_MS]);
  });

  it('is exact beyond the precision of a float', async () => {
    for (let i = 0; i < 10; i++) await ledger.record(payment({ amountMicros: 10n ** 15n - BigInt(i) }));
    expect((await readRevenue(ledger, NOW)).total.amountMicros).toBe(10n ** 16n - 45n);
    expect((await readPartnerTotals(ledger)).total.amountMicros).toBe(10n ** 16n - 45n);
  });
});

describe('referral totals', () => {
  const sale = fc.record({
    ref: fc.constantFrom(null, 'alpha', 'Beta', 'gamma_1'),
    payer: fc.integer({ min: 1, max: 3 }).map(address),
    amountMicros: fc.bigInt({ min: 1n, max: 10n ** 15n }),
  });

  it('add up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sale, { maxLength: 12 }), async (sales) => {
        ledger = new Ledger(database.db);
        await ledger.payments.deleteMany({});
        for (const one of sales) await ledger.record(payment(one));
        const sum = (some: typeof sales) => some.reduce((total, { amountMicros }) => total + amountMicros, 0n);
        const referred = sales.filter(({ ref }) => ref !== null);
        const totals = await readPartnerTotals(ledger);
        expect(totals).toEqual({
          partners: new Set(referred.map(({ ref }) => ref)).size,
          referred: { payments: referred.length, amountMicros: sum(referred) },
          total: { payments: sales.length, amountMicros: sum(sales) },
        });
        const board = await listTopReferrals(ledger, 100);
        expect(board).toHaveLength(totals.partners);
        for (const row of board) {
          const own = referred.filter(({ ref }) => ref?.toLowerCase() === row.ref);
          const payers = new Set(own.map(({ payer }) => payer)).size;
          expect(row).toEqual({ ref: row.ref, payments: own.length, amountMicros: sum(own), payers, lastSettledAt: NOW });
          expect(await findReferralTotals(ledger, row.ref)).toEqual(row);
        }
        expect(board).toEqual(
          board.toSorted((a, b) =>
            a.amountMicros === b.amountMicros ? (a.ref < b.ref ? -1 : 1) : a.amountMicros > b.amountMicros ? -1 : 1,
          ),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('are ranked by revenue, ties by code, up to the limit', async () => {
    for (const [ref, amountMicros] of [
      ['zoe', 5n],
      ['bob', 5n],
      ['amy', 4n],
      ['top', 9n],
    ] as const)
      await ledger.record(payment({ ref, amountMicros }));
    expect((await listTopReferrals(ledger, 3)).map(({ ref }) => ref)).toEqual(['top', 'bob', 'zoe']);
    expect(await findReferralTotals(ledger, 'nobody')).toBeNull();
  });
});
