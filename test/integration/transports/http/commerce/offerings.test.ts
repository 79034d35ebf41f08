import type { Hash, Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { SettledPayment } from '../../../../../src/commerce/ledger.ts';
import {
  commerceRoutes,
  LEADERBOARD_REPLY,
  OFFERINGS_REPLY,
  PARTNERS_REPLY,
  REF_STATS_REPLY,
  REVENUE_REPLY,
} from '../../../../../src/http/routes/offerings.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { call, type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, testService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
const PAYEE: Hex = '0x00000000000000000000000000000000000000cc';

beforeAll(async () => {
  service = await testService(0, { PAYEE_ADDRESS: PAYEE });
  served = await serve(service);
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

async function get(path: string, schema?: z.ZodType) {
  const response = await fetch(`${served.url}${path}`);
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  const body = (await response.json()) as any;
  if (schema !== undefined) expect(undocumented(schema, body), path).toEqual([]);
  return { status: response.status, body };
}

const PAYER: Hex = '0x1111111111111111111111111111111111111111';
let payments = 0;

function pay(change: Partial<SettledPayment>): Promise<boolean> {
  payments += 1;
  const txHash: Hash = `0x${payments.toString(16).padStart(64, '0')}`;
  const { commerce, now } = service.http;
  const { addresses } = service.http.chain;
  return commerce.ledger.record({
    ...{ cause: { kind: 'transfer' }, channel: 'purchase', offering: 'svc_signal_with_proof', amountMicros: 1_000_000n },
    ...{ asset: addresses.stablecoin, payer: PAYER, payee: PAYEE, resource: null, ref: null, settledAt: now(), txHash },
    ...change,
  });
}

describe('offerings', () => {
  it('have the fields of the interface, exact prices and payment instructions', async () => {
    const { body } = await get('/api/svc/commerce/offerings', OFFERINGS_REPLY);
    expect(body.count).toBe(11);
    for (const offering of body.offerings) {
      for (const field of ['name', 'description', 'priceDisplay', 'example']) expect(offering[field], field).toBeTypeOf('string');
      expect(offering).toMatchObject({
        open: true,
        price: { decimals: 6, currency: 'USD', asset: service.http.chain.addresses.stablecoin },
      });
      const { contract = null, provider = PAYEE } = offering.channel === 'agent-commerce' ? service.http.jobs! : {};
      const where = { payee: provider, chain: 'eip155:84532', asset: service.http.chain.addresses.stablecoin, contract };
      const signature = offering.channel === 'purchase' ? { required: false, message: expect.any(String), scheme: 'EIP-191' } : null;
      expect(offering.howToPay).toEqual({ ...where, signature, steps: expect.arrayContaining([expect.stringMatching(/\.$/)]) });
    }
    expect(body.offerings[0]).toMatchObject({ name: 'svc_signal_with_proof', priceDisplay: '1.00 USD', price: { amount: '1000000' } });
    expect(body.channels.map(({ open }: { open: boolean }) => open)).toEqual([true, true, true]);
  });

  it('are filtered by channel', async () => {
    const { body } = await get('/api/svc/commerce/offerings?channel=agent-commerce', OFFERINGS_REPLY);
    expect(body.offerings.map(({ name }: { name: string }) => name)).toEqual([
      'svc_bitcoin_signal',
      'svc_market_context',
      'svc_crowd_vs_oracle',
    ]);
    expect(body.channels).toHaveLength(1);
    expect(await get('/api/svc/commerce/offerings?channel=cash')).toMatchObject({ status: 400, body: { field: 'channel' } });
  });

  it('name the payee of open channels only', async () => {
    const commerce = { ...service.http.commerce, closed: { x402: 'closed' } };
    const [route] = commerceRoutes({ ...service.http, commerce });
    const { body } = await call(route!, {});
    const payees = { x402: null, purchase: PAYEE, 'agent-commerce': service.http.jobs!.provider };
    for (const { channel, open, howToPay } of body.offerings) {
      expect([open, howToPay.payee]).toEqual([channel !== 'x402', payees[channel as keyof typeof payees]]);
    }
  });
});

describe('revenue and partners', () => {
  it('are zero before the first settled payment', async () => {
    const { body: revenue } = await get('/api/svc/revenue', REVENUE_REPLY);
    expect(revenue).toMatchObject({
      payments: 0,
      usd: '0.00',
      usdMicros: '0',
      payers: 0,
      since: null,
      lastSettledAt: null,
      realMoney: false,
    });
    const { body: partners } = await get('/api/svc/partner-stats', PARTNERS_REPLY);
    expect(partners).toMatchObject({ partners: 0, paidCalls: 0, share: null });
    expect((await get('/api/refs/leaderboard', LEADERBOARD_REPLY)).body).toMatchObject({ leaderboard: [], count: 0 });
    expect((await get('/api/refs/stats', REF_STATS_REPLY)).body).toMatchObject({
      ref: null,
      known: null,
      partners: 0,
      payers: null,
      share: null,
    });
    expect((await get('/api/refs/stats?ref=alpha', REF_STATS_REPLY)).body).toMatchObject({
      ref: 'alpha',
      known: false,
      payers: 0,
      share: null,
    });
  });

  it('are the exact settled amounts, without buyers', async () => {
    await pay({ ref: 'Alpha' });
    await pay({ ref: 'alpha', payer: '0x2222222222222222222222222222222222222222', amountMicros: 1n });
    await pay({ ref: 'beta', channel: 'x402', offering: 'x402_signal', amountMicros: 1_000n });
    await pay({ amountMicros: 2_000_000n, offering: 'svc_analysis_report' });

    const { body: revenue } = await get('/api/svc/revenue', REVENUE_REPLY);
    expect(revenue).toMatchObject({ payments: 4, usd: '3.001001', usdMicros: '3001001', payers: 2 });
    expect(revenue.byChannel.map(({ usd }: { usd: string }) => usd)).toEqual(['3.000001', '0.00', '0.001']);
    expect(revenue.byDay).toHaveLength(30);
    expect(new Date(revenue.since).getTime()).toBeLessThanOrEqual(new Date(revenue.lastSettledAt).getTime());

    const { body: partners } = await get('/api/svc/partner-stats', PARTNERS_REPLY);
    expect(partners).toMatchObject({ partners: 2, paidCalls: 3, referred: { usd: '1.001001' }, total: { payments: 4 }, share: 0.3335 });

    const { body: board } = await get('/api/refs/leaderboard', LEADERBOARD_REPLY);
    expect(board.leaderboard).toMatchObject([
      { rank: 1, ref: 'alpha', paidCalls: 2, payers: 2, revenue: { usd: '1.000001', usdMicros: '1000001' } },
      { rank: 2, ref: 'beta', paidCalls: 1, payers: 1, revenue: { usd: '0.001' } },
    ]);
    expect((await get('/api/refs/leaderboard?limit=1', LEADERBOARD_REPLY)).body.count).toBe(1);

    const { body: alpha } = await get('/api/refs/stats?ref=ALPHA', REF_STATS_REPLY);
    expect(alpha).toMatchObject({ ref: 'alpha', known: true, partners: 1, paidCalls: 2, payers: 2, share: 0.3332 });
    expect((await get('/api/refs/stats?ref=nobody', REF_STATS_REPLY)).body).toMatchObject({
      known: false,
      revenue: { usd: '0.00' },
      share: 0,
    });
    expect((await get('/api/refs/stats', REF_STATS_REPLY)).body).toMatchObject({ partners: 2, paidCalls: 3, share: 0.3335 });

    for (const answered of [revenue, partners, board, alpha]) expect(JSON.stringify(answered)).not.toMatch(/1{40}|2{40}/);
  });

  it.each([
    ['ref', '/api/refs/stats?ref=%3Cscript%3E'],
    ['ref', '/api/refs/stats?ref=ab'],
    ['ref', '/api/refs/stats?ref=abc&ref=abd'],
    ['ref', '/api/refs/stats?ref='],
    ['limit', '/api/refs/leaderboard?limit=0'],
    ['limit', '/api/refs/leaderboard?limit=101'],
    ['limit', '/api/refs/leaderboard?limit=ten'],
  ])('reject an invalid %s without echoing it: %s', async (field, path) => {
    const { status, body } = await get(path);
    expect([status, body.field]).toEqual([400, field]);
    expect(JSON.stringify(body)).not.toContain('script');
  });
});
