import type { Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import { getLocalWalletFactory } from '../../../../src/dev/local-chain/contracts.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { smartWallet } from '../../../support/chain/smart-wallet.ts';
import { signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import type { DyingSale } from '../../../support/commerce/x402-process.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { spawnNode } from '../../../support/service/service.ts';

let chain: TestChain;
let database: TestDatabase;
let bench: TillBench;
let connected: Chain;

const FACTORIES = [getLocalWalletFactory()];

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  connected = await chain.connect();
  bench = await tillBench({ chain, db: database.db, connected, deployments: { factories: FACTORIES, maxPerDay: 100 } });
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));

const sent = () => connected.client.getTransactionCount({ address: chain.accounts.facilitator.address });
const balance = () => bench.balance(bench.requirements.payTo as `0x${string}`);

/** A payment whose seller is killed with SIGKILL at a place, long enough ago that he is known to be dead. */
async function killedAt(place: string, makePayment = () => signPayment({ account: bench.buyer, requirements: bench.requirements })) {
  const payment = await makePayment();
  const { rpcUrl, addresses, keys } = chain;
  const sale: DyingSale = {
    ...{ rpcUrl, addresses, payment, merchant: bench.merchant, mongodbUri: database.uri },
    ...{ facilitatorKey: keys.facilitator, providerKey: keys.provider, factories: FACTORIES },
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

describe('a process killed on the payment of a wallet that is not deployed', () => {
  async function ofSmartWallet() {
    const owner = privateKeyToAccount(generatePrivateKey());
    const { address, wrap } = await smartWallet(connected.client, owner.address);
    await bench.mint(address, 10_000n);
    const payment = await signPayment({ account: owner, requirements: bench.requirements, change: { from: address } });
    payment.payload.signature = wrap(payment.payload.signature);
    return payment;
  }

  it.each(['before settling', 'between signature and broadcast', 'between broadcast and confirmation', 'after settling'])(
    '%s: the retry gets the stored answer; one transaction has deployed and paid',
    async (place) => {
      const before = { received: await balance(), sent: await sent() };
      const payment = await killedAt(place, ofSmartWallet);
      const { body } = await bench.sales.sell(bench.call(payment));
      expect(body).toEqual({ signal: 'SELL', madeBy: 'the dead' });
      expect((await bench.sales.sell(bench.call(payment))).body).toEqual(body);
      expect({ received: await balance(), sent: await sent() }).toEqual({ received: before.received + 1_000n, sent: before.sent + 1 });
      const address = payment.payload.authorization.from as Address;
      expect(await connected.client.getCode({ address })).not.toBeUndefined();
      const { nonce, from } = payment.payload.authorization;
      const key = `x402:${from.toLowerCase()}:${nonce}`;
      expect(await database.db.collection('x402_deployments').countDocuments({ _id: key as never })).toBe(1);
    },
  );
});

it('the ledger equals the chain to the unit', async () => {
  const docs = await bench.ledger.payments.find().toArray();
  expect(docs.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros.toString()), 0n)).toBe(await balance());
});
