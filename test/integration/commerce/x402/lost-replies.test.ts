import { afterAll, beforeAll, expect, it } from 'vitest';
import { CLAIM_LEASE_MS } from '../../../../src/commerce/x402/claim-store.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import { sweepWrites } from '../../../support/faults/fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from '../../../support/faults/faulted-database.ts';
import { repeatWhileRetryable } from '../../../support/faults/repeat.ts';

let chain: TestChain;
let database: FaultedDatabase;
let bench: TillBench;
beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), faultedDatabase()]);
  bench = await tillBench({ chain, db: database.db, connected: await chain.connect() });
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));

const readIncome = () => bench.balance(bench.requirements.payTo as `0x${string}`);

it('settles a payment once, and continues its claim at once, when a write loses its reply', async () => {
  const points = await sweepWrites({
    name: 'x402 payment',
    proxy: database.proxy,
    faults: ['cut-after'],
    async scenario() {
      const income = await readIncome();
      const payment = await signPayment({ account: bench.buyer, requirements: bench.requirements });
      const began = performance.now();
      const { payment: paid } = await repeatWhileRetryable(() => bench.sales.sell(bench.call(payment)));
      return { income, txHash: paid!.txHash, ms: performance.now() - began };
    },
    async check({ income, txHash, ms }) {
      expect(ms).toBeLessThan(CLAIM_LEASE_MS / 2);
      expect((await readIncome()) - income).toBe(1_000n);
      expect(await database.direct.db.collection('payments').countDocuments({ txHash })).toBe(1);
    },
  });
  expect(points.length).toBeGreaterThan(5);
});
