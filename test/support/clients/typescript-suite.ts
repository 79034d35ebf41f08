import { zeroAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { type OracleError, PaymentDeclined, PaymentUncertain, ServiceProblem } from '../../../clients/typescript/src/errors.ts';
import { DATA_WORD, lyingNode } from '../chain/broken-endpoint.ts';
import type { ExampleWorld } from '../docs/example-world.ts';
import { droppingRelay, openClient, take } from './typescript-client.ts';

const CONFIDENCE = DATA_WORD + 3;

/** Tests of clients/typescript at a service that others use, too. */
export function describeTypescriptClient(getWorld: () => ExampleWorld): void {
  describe('reads', () => {
    it('returns the public data that the service serves', async () => {
      const client = openClient(getWorld());
      expect(await client.signal('7d')).toMatchObject({ signal: 'GATED', direction: null, horizon: '7d' });
      expect((await client.expectedRange()).ranges).toHaveLength(3);
      expect((await client.scorecard()).summary).toEqual((await getWorld().scorecard()).summary);
      expect((await client.trackRecord({ status: 'WIN', horizon: '7d' })).filters).toMatchObject({ status: 'WIN' });
    });

    it('iterates over the forecasts of all pages', async () => {
      const client = openClient(getWorld());
      const forecasts = await take(client.forecasts('7d'), 1_000);
      const { count } = await client.scorecard();
      expect(forecasts.map(({ sequence }) => sequence)).toEqual(Array.from({ length: count }, (_, i) => count - i));
    });

    it('compares the bytes of a table with its digest', async () => {
      const client = openClient(getWorld());
      const csv = new TextDecoder().decode(await client.datasetTable('forecasts'));
      expect(csv.split('\n')[0]).toContain('predictionId');
      await expect(client.datasetTable('nothing')).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('forecasts'),
      });
    });

    it('throws the problem of the service with its fields', async () => {
      const error = await openClient(getWorld())
        .signal('9d' as never)
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServiceProblem);
      expect(error).toMatchObject({
        status: 400,
        code: 'INPUT_INVALID',
        field: 'horizon',
        retryable: false,
        type: expect.stringMatching(/^urn:/),
      });
    });
  });

  describe('login', () => {
    it('logs in for an operation that needs it, and not for others', async () => {
      const account = privateKeyToAccount(getWorld().keyOf('basic'));
      const signed: string[] = [];
      const signMessage: typeof account.signMessage = (text) => {
        signed.push(String(text.message));
        return account.signMessage(text);
      };
      const client = openClient(getWorld(), undefined, { account: { address: account.address, signMessage } });
      await client.signal();
      expect(signed).toEqual([]);
      const { signal, direction } = await client.oracle();
      expect({ signal, direction }).toMatchObject(await pick(getWorld()));
      const { data, error } = await client.api.GET('/api/svc/regime');
      expect([data?.regime, error]).toEqual([expect.any(String), undefined]);
      expect(signed).toHaveLength(1);
      await client.logOut();
    });

    it('replaces a token that was revoked', async () => {
      const tokens: string[] = [];
      const client = openClient(getWorld(), 'premium', {
        fetch: (request) => {
          tokens.push(request.headers.get('Authorization')?.slice('Bearer '.length) ?? '');
          return fetch(request);
        },
      });
      await client.oracle();
      const headers = { Authorization: `Bearer ${tokens.at(-1)}` };
      await fetch(`${getWorld().url}/api/svc/oracle/session`, { method: 'DELETE', headers });
      expect((await client.oracle()).horizon).toBe('7d');
      expect(new Set(tokens.filter((token) => token !== '')).size).toBe(2);
    });

    it('throws TIER_REQUIRED below the Basic tier, and CONFIG_INVALID without an account', async () => {
      await expect(openClient(getWorld(), 'poor').oracle()).rejects.toMatchObject({ code: 'TIER_REQUIRED' });
      await expect(openClient(getWorld()).session()).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'account' });
      await expect(openClient(getWorld(), undefined, { apiKey: 'bso_wrong' }).oracle()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    });
  });

  describe('verification', () => {
    it('finds a forecast verified on the chain, and differing where the endpoint has other values', async () => {
      const client = openClient(getWorld());
      const { verdict, prediction, checks, where } = await client.verifyForecast('latest', { rpcUrl: getWorld().rpcUrl });
      expect([verdict, prediction?.horizon, where.takenFromService]).toEqual(['verified', '7d', ['attester']]);
      expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining(['uid', 'inTime', 'opening', 'outcome', 'distributions']));
      const node = await lyingNode(getWorld().rpcUrl, CONFIDENCE);
      const other = await client.verifyForecast(prediction!.predictionId, { rpcUrl: node.url });
      await node.close();
      expect(other.verdict).toBe('differs');
    });

    it('rejects an id that is none', async () => {
      const verification = openClient(getWorld()).verifyForecast('yesterday', { rpcUrl: getWorld().rpcUrl });
      await expect(verification).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'id' });
    });
  });

  describeStream(getWorld);
}

/** Tests that pay from the one buyer, whose payments are settled in order. */
export function describeTypescriptPayments(getWorld: () => ExampleWorld): void {
  describe('payments', () => {
    const openBuyer = (options: Parameters<typeof openClient>[2] = {}) => {
      const account = privateKeyToAccount(getWorld().keyOf('buyer'));
      const signed: bigint[] = [];
      const signTypedData = (data: Parameters<NonNullable<NonNullable<typeof options.account>['signTypedData']>>[0]) => {
        signed.push(data.message.value);
        return account.signTypedData(data);
      };
      const wallet = { address: account.address, signTypedData };
      return { client: openClient(getWorld(), undefined, { account: wallet, ...options }), signed, account };
    };

    it('buys one answer for one payment, however often it is sent', async () => {
      const { client, signed } = openBuyer();
      const prepared = await client.preparePayment({ maxUsd: '0.002' });
      const stored: typeof prepared = JSON.parse(JSON.stringify(prepared));
      const [first, second] = [await client.sendPayment(prepared), await client.sendPayment(stored)];
      expect(second).toEqual(first);
      expect(signed).toEqual([1_000n]);
      expect(await getWorld().bookedFor(first.answer.payment!.txHash)).toBe(1_000);
      expect(first.checks.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true, true]);
    });

    it('sends the same payment again after a lost answer, and concurrent calls share one', async () => {
      let drops = 1;
      const { client, signed } = openBuyer({
        fetch: async (request) => {
          const isPaid = request.headers.has('PAYMENT-SIGNATURE');
          const response = await fetch(request);
          if (!isPaid || drops-- <= 0) return response;
          throw new TypeError('the connection was lost');
        },
      });
      const options = { maxUsd: '0.001' };
      const [one, other] = await Promise.all([client.buy(options), client.buy(options)]);
      expect(one).toBe(other);
      expect(signed).toHaveLength(1);
    });

    it('signs nothing for a higher price, another coin or an invalid limit', async () => {
      const { client, signed } = openBuyer();
      await expect(client.buy({ maxUsd: '0.0009' })).rejects.toThrow('The price is 0.001 USD, the limit maxUsd 0.0009 USD');
      await expect(client.buy({ maxUsd: '1', what: 'premium', coins: [{ chainId: 84532, address: zeroAddress }] })).rejects.toThrow(
        PaymentDeclined,
      );
      for (const maxUsd of [0.002, '0', '-1', '1e3', 'NaN', ''] as string[]) {
        await expect(client.buy({ maxUsd })).rejects.toMatchObject({ code: 'INPUT_INVALID', field: 'maxUsd' });
      }
      expect(signed).toEqual([]);
    });

    it('keeps a rejected payment, as its seller could still use it', async () => {
      const { client, signed, account } = openBuyer();
      const { client: wrong } = openBuyer({
        account: {
          address: account.address,
          signTypedData: (data) => {
            signed.push(1n);
            return account.signTypedData({ ...data, message: { ...data.message, value: 1n } });
          },
        },
      });
      for (const _ of [1, 2]) await expect(wrong.buy({ maxUsd: '1' })).rejects.toMatchObject({ status: 402, code: 'PAYMENT_REQUIRED' });
      expect(signed).toEqual([1n]);
      await expect(client.preparePayment({ maxUsd: '1' })).resolves.toMatchObject({ usd: '0.001', what: 'signal' });
    });

    it('throws the answer with a receipt that another wallet has signed', async () => {
      const { client } = openBuyer();
      const rejected = client.buy({ maxUsd: '1', seller: zeroAddress });
      await expect(rejected).rejects.toMatchObject({
        bought: { answer: { horizon: '7d' } },
        message: expect.stringContaining(`the receipt is signed by the seller, ${zeroAddress}`),
      });
    });

    it('throws what is uncertain with the payment to send again', async () => {
      const { client } = openBuyer();
      const prepared = await client.preparePayment({ maxUsd: '1' });
      const { client: cut } = openBuyer({ fetch: () => Promise.reject(new TypeError('no network')) });
      const error = await cut.sendPayment(prepared, { attempts: 1 }).catch((thrown: unknown) => thrown as PaymentUncertain);
      expect(error).toBeInstanceOf(PaymentUncertain);
      expect(error).toMatchObject({ payment: prepared, retryable: true });
    });
  });
}

function describeStream(getWorld: () => ExampleWorld): void {
  describe('the stream', () => {
    it('continues after drops with each event once and in order', async () => {
      const options = { since: 0, horizons: 'all', reconnectMs: 20 } as const;
      const expected = await take(openClient(getWorld(), 'basic').stream(options), 12);
      const relay = await droppingRelay(getWorld().url, [3_000, 4_500]);
      const lost: string[] = [];
      const client = openClient(getWorld(), 'basic', { url: relay.url });
      const taken = await take(client.stream({ ...options, onReconnect: ({ reason }) => lost.push(reason) }), 12);
      await relay.close();
      expect(taken).toEqual(expected);
      expect(relay.count()).toBeGreaterThanOrEqual(3);
      expect(lost.length).toBeGreaterThanOrEqual(1);
    });

    it('filters by kind and horizon, and continues after an id', async () => {
      const client = openClient(getWorld(), 'basic');
      const options = { events: ['signal.new'], horizons: ['2d', '3d'] } as const;
      const taken = await take(client.stream({ ...options, since: 0 }), 4);
      expect(new Set(taken.map(({ type, data }) => `${type} ${data.horizon}`))).toEqual(new Set(['signal.new 2d', 'signal.new 3d']));
      expect(await take(client.stream({ ...options, since: taken[1].id }), 2)).toEqual(taken.slice(2));
    });

    it('ends without an error when it is aborted', async () => {
      const stopping = new AbortController();
      const rest = take(openClient(getWorld(), 'basic').stream({ since: 0, signal: stopping.signal, onGap: () => undefined }), 10_000);
      setImmediate(() => stopping.abort());
      expect(Array.isArray(await rest)).toBe(true);
    });

    it('throws what another connection would be rejected for', async () => {
      const next = (options: object, wallet: 'basic' | 'poor' = 'basic') =>
        openClient(getWorld(), wallet)
          .stream(options)
          .next()
          .catch(({ code, field }: OracleError) => ({ code, field }));
      expect(await next({}, 'poor')).toMatchObject({ code: 'TIER_REQUIRED' });
      expect(await next({ events: ['no.event'] })).toEqual({ code: 'INPUT_INVALID', field: 'events' });
      expect(await next({ since: 999_999_999 })).toEqual({ code: 'INPUT_INVALID', field: 'since' });
    });
  });
}

async function pick(world: ExampleWorld) {
  const { signal, direction } = await world.oracle();
  return { signal, direction };
}
