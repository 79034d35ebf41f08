import { expect } from 'vitest';
import { CLAIM_LEASE_MS } from '../../../src/commerce/x402/claims.ts';
import { type TestChain, testChain } from '../chain/chain.ts';
import { signPayment, type TillBench, tillBench } from '../commerce/x402.ts';
import { sweepWrites } from './fault-sweep.ts';
import { type FaultedDatabase, faultedDatabase } from './faulted-database.ts';
import type { MongoFault } from './mongo-fault-proxy.ts';
import { repeatWhileRetryable } from './repeat.ts';

/** A seller of forecasts whose database has planned faults. */
export interface FaultedTill {
  chain: TestChain;
  database: FaultedDatabase;
  bench: TillBench;
  /** Units of the stablecoin that the payee has. */
  readIncome(): Promise<bigint>;
  close(): Promise<void>;
}

export async function openFaultedTill(): Promise<FaultedTill> {
  const [chain, database] = await Promise.all([testChain(), faultedDatabase()]);
  const bench = await tillBench({ chain, db: database.db, connected: await chain.connect() });
  return {
    chain,
    database,
    bench,
    readIncome: () => bench.balance(bench.requirements.payTo as `0x${string}`),
    close: async () => void (await Promise.all([chain.stop(), database.drop()])),
  };
}

/** Sells once per write and fault, expecting one settlement each, not after the lease of an abandoned claim. @returns the number of faults */
export async function sweepPayments({ bench, database, readIncome }: FaultedTill, faults: readonly MongoFault[]): Promise<number> {
  const { db } = database.direct;
  const points = await sweepWrites({
    name: 'x402 payment',
    proxy: database.proxy,
    faults,
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
  return points.length;
}
