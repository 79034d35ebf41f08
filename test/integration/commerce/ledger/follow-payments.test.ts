import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import { openJournal } from '../../../../src/chain/journal.ts';
import { createWallet, followMined } from '../../../../src/chain/wallet.ts';
import { followPayments, type Ledger, readRevenue } from '../../../../src/commerce/ledger.ts';
import { encodeSettlement } from '../../../../src/commerce/x402/local-facilitator.ts';
import type { ParsedPayment } from '../../../../src/commerce/x402/terms.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { type Buying, buyingBench } from '../../../support/commerce/purchases.ts';
import { type SignedPayment, signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

let chain: TestChain;
let connected: Chain;
let database: TestDatabase;
let till: TillBench;
let buying: Buying;
beforeAll(async () => {
  chain = await testChain();
  connected = await chain.connect();
});
beforeEach(async () => {
  database = await testDatabase();
  [till, buying] = [await tillBench({ chain, db: database.db, connected }), await buyingBench(chain, database.db, connected)];
});
afterAll(() => chain.stop());

const follow = () =>
  followPayments({ chain: connected, ledger: till.ledger, log: createLog({ level: 'silent', secrets: [] }), now: () => new Date() });
const booked = (ledger: Ledger) => ledger.payments.find().toArray();
const revenue = async () => (await readRevenue(till.ledger, new Date())).total.payments;

function toParsed({ payload }: SignedPayment): ParsedPayment {
  const { authorization: signed } = payload;
  const [value, validAfter, validBefore] = [signed.value, signed.validAfter, signed.validBefore].map(BigInt);
  return { payload, authorization: { ...signed, value, validAfter, validBefore } } as ParsedPayment;
}

async function revertedAfter(work: () => Promise<unknown>): Promise<void> {
  const revert = await chain.snapshot();
  await work();
  await revert();
  await chain.mine(10);
}

describe('a booked payment that a deep reorganisation takes off the chain', () => {
  it('leaves the ledger and comes back with its transaction, a purchase', async () => {
    let txHash: `0x${string}` = '0x';
    let raw: `0x${string}` = '0x';
    await revertedAfter(async () => {
      txHash = await buying.pay(5_000_000n);
      raw = await chain.rpc('eth_getRawTransactionByHash', txHash);
      await buying.open().buy({ offering: 'svc_alpha_brief', txHash, wallet: buying.buyer.address }, { address: '192.0.2.1' });
    });
    expect(await revenue()).toBe(1);
    await follow();
    expect(await booked(till.ledger)).toEqual([]);
    expect(await revenue()).toBe(0);
    await chain.rpc('eth_sendRawTransaction', raw);
    await chain.mine();
    await follow();
    expect(await booked(till.ledger)).toMatchObject([{ txHash, block: { number: expect.any(Number) }, isWatched: true }]);
    expect(await database.db.collection('struck_payments').countDocuments()).toBe(0);
  });

  it('is sent again by the wallet that settled it, an x402 payment', async () => {
    const payment = await signPayment({ account: till.buyer, requirements: till.requirements });
    const balance = () => till.balance(till.merchant.payee);
    const owned = await balance();
    await revertedAfter(() => till.sales.sell(till.call(payment)));
    expect(await balance()).toBe(owned);
    const [before] = await booked(till.ledger);
    const journal = await openJournal(database.db);
    await followMined({ chain: connected, journal, now: () => new Date(), onLost: async () => undefined });
    await follow();
    expect(await revenue()).toBe(0);
    const wallet = createWallet({ chain: connected, journal, role: 'facilitator', account: chain.accounts.facilitator });
    for (const row of await journal.listLost(chain.chainId)) await wallet.resume(row);
    for (const row of await journal.listLost(chain.chainId)) await wallet.resume(row);
    await follow();
    const [after] = await booked(till.ledger);
    expect(after).toMatchObject({ _id: before._id, txHash: before.txHash });
    expect(after.block!.hash).not.toBe(before.block!.hash);
    expect((await balance()) - owned).toBe(BigInt(after.amountMicros.toString()));
  });

  it('keeps its place in the ledger where another transaction used its authorization, an x402 payment', async () => {
    const { buyer, requirements, sales, call } = till;
    const payment = await signPayment({ account: buyer, requirements });
    await revertedAfter(async () => {
      await sales.sell(call(payment));
    });
    const [before] = await booked(till.ledger);
    // Whoever holds an authorization may send it.
    await sendTransactions(chain.rpcUrl, chain.deployer, [{ to: till.merchant.asset, data: encodeSettlement(toParsed(payment)) }]);
    await follow();
    const [after] = await booked(till.ledger);
    expect(after._id).toBe(before._id);
    expect(after.txHash).not.toBe(before.txHash);
    expect(await revenue()).toBe(1);
  });
});
