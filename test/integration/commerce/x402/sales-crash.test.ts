import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import type { DyingSale } from '../../../support/commerce/x402-process.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { spawnNode } from '../../../support/service/service.ts';

let chain: TestChain;
let database: TestDatabase;
let bench: TillBench;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  bench = await tillBench({ chain, db: database.db, connected: await chain.connect() });
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));

const balance = () => bench.balance(bench.requirements.payTo as `0x${string}`);

/** A payment whose seller is killed with SIGKILL at a place, long enough ago that he is known to be dead. */
async function killedAt(place: string) {
  const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
  const { rpcUrl, addresses, keys } = chain;
  const sale: DyingSale = {
    ...{ rpcUrl, addresses, payment, merchant: bench.merchant, mongodbUri: database.uri },
    ...{ facilitatorKey: keys.facilitator, providerKey: keys.provider },
  };
  const { ended } = spawnNode(['test/support/commerce/x402-process.ts'], { SALE: JSON.stringify(sale), DIES: place });
  const { signal, output } = await ended;
  expect(signal, output).toBe('SIGKILL');
  const { modifiedCount } = await database.db
    .collection('x402_payments')
    .updateOne({ state: 'PREPARED' }, { $set: { heldUntil: new Date(1) } });
  expect(modifiedCount).toBe(1);
  return payment;
}

describe('a process killed', () => {
  for (const place of ['before settling', 'after settling', 'after the ledger']) {
    it(`${place}: the payer retries and gets the stored answer, paid once`, async () => {
      const before = await balance();
      const payment = await killedAt(place);
      const sold = await bench.sales.sell(bench.call(payment));
      const { body, payment: paid, receipt, x402Receipt } = sold;
      expect(body).toEqual({ signal: 'SELL', madeBy: 'the dead' });
      expect((await balance()) - before).toBe(1_000n);
      expect(await bench.ledger.payments.countDocuments({ txHash: paid!.txHash })).toBe(1);
      expect(x402Receipt!.payload).toMatchObject({ transaction: receipt!.message.txHash, payer: receipt!.message.payer });
      expect(await bench.sales.sell(bench.call(payment))).toEqual({ ...sold, isAgain: true });
    });

    it(`${place}: a sweep keeps paid answers, and charges no client that does not retry`, async () => {
      const before = await balance();
      const payment = await killedAt(place);
      await bench.sales.sweep();
      const isPaid = place !== 'before settling';
      expect((await balance()) - before).toBe(isPaid ? 1_000n : 0n);
      const { nonce } = payment.payload.authorization;
      expect(await bench.ledger.payments.countDocuments({ _id: new RegExp(nonce) })).toBe(isPaid ? 1 : 0);
      await bench.sales.sell(bench.call(payment));
      expect((await balance()) - before).toBe(1_000n);
    });
  }
});

it('the ledger equals the chain to the unit', async () => {
  const docs = await bench.ledger.payments.find().toArray();
  expect(docs.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros.toString()), 0n)).toBe(await balance());
});
