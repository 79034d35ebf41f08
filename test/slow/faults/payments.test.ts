import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLAIM_LEASE_MS } from '../../../src/commerce/x402/claim-store.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../../support/commerce/x402.ts';
import { sweepWrites } from '../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../support/faults/faulted-database.ts';
import { WRITE_FAULTS } from '../../support/faults/mongo-fault-proxy.ts';
import { repeatWhileRetryable } from '../../support/faults/repeat.ts';

let chain: TestChain;
let database: FaultedDatabase;
let bench: TillBench;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), faultedDatabase()]);
  bench = await tillBench({ chain, db: database.db, connected: await chain.connect() });
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));

const readIncome = () => bench.balance(bench.requirements.payTo as `0x${string}`);

it('settles a payment once, and without waiting for an abandoned lease, whichever of its writes loses the connection', async () => {
  const { db } = database.direct;
  const points = await sweepWrites({
    name: 'x402 payment',
    proxy: database.proxy,
    faults: WRITE_FAULTS,
    async scenario(point) {
      const income = await readIncome();
      const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
      const began = performance.now();
      const sold = await repeatWhileRetryable(() => bench.sales.sell(bench.call(payment)));
      expect(performance.now() - began, JSON.stringify(point)).toBeLessThan(CLAIM_LEASE_MS / 2);
      expect((await readIncome()) - income).toBe(1_000n);
      const { txHash } = sold.payment!;
      expect(await db.collection('payments').countDocuments({ txHash })).toBe(1);
      const claims = await db.collection('x402_payments').find({ nonce: payment.payload.authorization.nonce }).toArray();
      expect(claims).toMatchObject([{ state: 'SETTLED', settlement: { txHash }, answer: JSON.stringify(sold.body) }]);
    },
  });
  expect(points.length).toBeGreaterThan(15);
});
