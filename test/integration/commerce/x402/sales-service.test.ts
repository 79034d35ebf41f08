import type { VerifyResponse } from '@x402/core/types';
import { encodeFunctionData, isAddressEqual, parseAbi, parseSignature, recoverTypedDataAddress, toHex, verifyTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../../../src/chain/journal.ts';
import { createWallet } from '../../../../src/chain/wallet.ts';
import { createSalesGate } from '../../../../src/commerce/offerings.ts';
import { createX402ReceiptSigner } from '../../../../src/commerce/receipt-signer.ts';
import { createReceiptSigner, hashDocument, toX402ReceiptTypedData } from '../../../../src/commerce/receipts.ts';
import type { ClaimDoc } from '../../../../src/commerce/x402/claims.ts';
import { createLocalFacilitator } from '../../../../src/commerce/x402/local-facilitator.ts';
import type { SaleResult } from '../../../../src/commerce/x402/sales.ts';
import type { Facilitator } from '../../../../src/commerce/x402/settlement.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { OracleError } from '../../../../src/errors.ts';
import { sendTogether } from '../../../support/chain/batcher.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { walletFactory } from '../../../support/chain/contract-wallet.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { type SignedPayment, type Signing, signPayment, type TillBench, tillBench } from '../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';
import { accountOfSigner } from '../../../support/signers/failing-account.ts';

const PRICE = 1_000n;
const tokenAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transfer(address to, uint256 value) returns (bool)',
]);

let chain: TestChain;
let database: TestDatabase;
let bench: TillBench;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  bench = await tillBench({ chain, db: database.db, connected: await chain.connect() });
});
afterAll(() => Promise.all([chain.stop(), database.drop()]));
// Many tests have settlements of the one buyer fail.
afterEach(() => database.db.collection('x402_failed_settlements').deleteMany({}));

const pay = (change: Partial<Signing> = {}) => signPayment({ account: bench.buyer, requirements: bench.requirements, ...change });
const payeeBalance = () => bench.balance(bench.requirements.payTo as `0x${string}`);
const booked = async () => {
  const docs = await bench.ledger.payments.find().toArray();
  return docs.reduce((sum, { amountMicros }) => sum + BigInt(amountMicros.toString()), 0n);
};

/** What a piece of work brought in, made and wrote down. */
async function during<T>(work: () => Promise<T>): Promise<{ result: T; earned: bigint; made: number }> {
  const before = { balance: await payeeBalance(), made: bench.made() };
  const result = await work();
  return { result, earned: (await payeeBalance()) - before.balance, made: bench.made() - before.made };
}

const codeOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return error instanceof OracleError ? error.code : error;
};

describe('during the replay of history', () => {
  it('returns no quote and processes no payment; the same payment is valid afterwards', async () => {
    const replay = { isAhead: true };
    const sales = await bench.another({ requireOpen: createSalesGate(() => replay.isAhead) });
    // Good in a replay too, whatever the clock of the chain.
    const payment = await pay({ change: { validAfter: '0' } });
    const refused = await during(async () => [
      await codeOf(sales.sell(bench.call(null))),
      await codeOf(sales.sell(bench.call(payment))),
      await codeOf((async () => sales.getQuote(bench.call(null)))()),
    ]);
    expect(refused).toEqual({ result: Array(3).fill('STEP_WAITING'), earned: 0n, made: 0 });
    replay.isAhead = false;
    expect(await codeOf(sales.sell(bench.call(null)))).toBe('PAYMENT_REQUIRED');
    expect(await during(() => sales.sell(bench.call(payment)))).toMatchObject({ earned: PRICE, made: 1, result: { isAgain: false } });
  });
});

describe('a payment', () => {
  it('buys one answer, with a receipt that binds both', async () => {
    const { result, earned, made } = await during(async () => bench.sales.sell(bench.call(await pay(), { ref: 'partner' })));
    expect([earned, made]).toEqual([PRICE, 1]);
    const { payment, receipt, body } = result as Required<SaleResult>;
    expect(payment).toMatchObject({ payer: bench.buyer.address.toLowerCase(), amountMicros: PRICE });
    expect(isAddressEqual(receipt!.signer, chain.accounts.provider.address)).toBe(true);
    expect(receipt!.message).toMatchObject({
      amount: '1000',
      answerHash: hashDocument(body),
      txHash: payment!.txHash,
      forecastId: '2026-01-01:7d',
    });
    const { message, signature, signer, ...typed } = receipt!;
    const right = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
    expect(await verifyTypedData({ ...typed, message: right, address: signer, signature })).toBe(true);
    expect(await verifyTypedData({ ...typed, message: { ...right, amount: 1n }, address: signer, signature })).toBe(false);
    expect(await bench.ledger.payments.findOne({ txHash: payment!.txHash })).toMatchObject({ channel: 'x402', ref: 'partner' });
  });

  it('buys a receipt of the x402 extension for the same sale, by the same signer', async () => {
    const { payment, receipt, x402Receipt } = await bench.sales.sell(bench.call(await pay()));
    const { payload, signature } = x402Receipt!;
    const { payer, txHash, resource, settledAt } = receipt!.message;
    expect(payload).toEqual({
      version: 1,
      network: bench.requirements.network,
      resourceUrl: resource,
      payer,
      issuedAt: Number(settledAt),
      transaction: txHash,
    });
    expect(payment!.txHash).toBe(txHash);
    expect(await recoverTypedDataAddress({ ...toX402ReceiptTypedData(payload), signature })).toBe(receipt!.signer);
  });

  it('is required when there is none', async () => {
    const { earned, made } = await during(async () => {
      await expect(bench.sales.sell(bench.call(null))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'payment_required' });
    });
    expect([earned, made]).toEqual([0n, 0]);
  });

  const BAD: [string, Partial<Signing> | ((payment: SignedPayment) => unknown), string][] = [
    ['in another token', { change: { asset: '0x00000000000000000000000000000000000000ee' } }, 'invalid_exact_evm_signature'],
    ['of too little', { change: { value: '999' } }, 'amount_mismatch'],
    ['of too much', { change: { value: '1001' } }, 'amount_mismatch'],
    ['to somebody else', { change: { to: '0x00000000000000000000000000000000000000aa' } }, 'recipient_mismatch'],
    ['signed for another chain', { change: { chainId: '8453' } }, 'invalid_exact_evm_signature'],
    ['that has expired', { change: { validBefore: '1700000000' } }, 'expired'],
    ['that is not valid yet', { change: { validAfter: '4000000000', validBefore: '4100000000' } }, 'not_yet_valid'],
    ['that is good for days', { change: { validBefore: '4100000000' } }, 'valid_too_long'],
    ['of somebody who did not sign', { change: { from: '0x00000000000000000000000000000000000000bb' } }, 'invalid_exact_evm_signature'],
    ['of a wallet without money', { account: privateKeyToAccount(generatePrivateKey()) }, 'insufficient_balance'],
    ['that names another chain', (payment) => ({ ...payment, accepted: { ...payment.accepted, network: 'eip155:1' } }), 'invalid_network'],
    [
      'that names another token',
      (payment) => ({ ...payment, accepted: { ...payment.accepted, asset: payment.accepted.payTo } }),
      'invalid_asset',
    ],
    ['that names another price', (payment) => ({ ...payment, accepted: { ...payment.accepted, amount: '1' } }), 'amount_mismatch'],
    [
      'that accepts another validity',
      (payment) => ({ ...payment, accepted: { ...payment.accepted, maxTimeoutSeconds: 86_400 } }),
      'invalid_payment_requirements',
    ],
    ['of another scheme', (payment) => ({ ...payment, accepted: { ...payment.accepted, scheme: 'upto' } }), 'unsupported_scheme'],
    ['of no form', () => 'garbage', 'invalid_payload'],
    ['of another version', (payment) => ({ ...payment, x402Version: 3 }), 'invalid_x402_version'],
  ];
  for (const [what, change, reason] of BAD) {
    it(`${what} is rejected without a charge`, async () => {
      const payment = typeof change === 'function' ? change(await pay()) : await pay(change);
      let refusals = 0;
      const countRejection = async () => void refusals++;
      const { earned, made } = await during(async () => {
        const sold = bench.sales.sell(bench.call(payment, { countRejection }));
        await expect(sold).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: expect.stringContaining(reason) });
      });
      expect([earned, made]).toEqual([0n, 0]);
      // What is seen without asking the chain is not counted as such.
      expect(refusals).toBe(/signature|balance/.test(reason) ? 1 : 0);
    });
  }

  it('is matched whatever the case of the addresses that it accepts', async () => {
    const payment = await pay();
    const { asset, payTo, ...accepted } = payment.accepted;
    const spelled = { ...accepted, asset: asset.toLowerCase(), payTo: payTo.toLowerCase() };
    expect((await during(() => bench.sales.sell(bench.call({ ...payment, accepted: spelled })))).earned).toBe(PRICE);
  });

  it('of a contract wallet is accepted', async () => {
    const connected = await chain.connect();
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await (await walletFactory(connected, chain.rpcUrl, chain.deployer))(owner.address);
    await wallet.deploy();
    await bench.mint(wallet.address, PRICE);
    const payment = await pay({ account: owner, change: { from: wallet.address } });
    // Not 65 bytes, as contract wallets' signatures mostly are.
    payment.payload.signature = `${payment.payload.signature}00` as `0x${string}`;
    const sold = await codeOf(bench.sales.sell(bench.call(payment)));
    const plain = await pay({ account: owner, change: { from: wallet.address } });
    const { earned } = await during(() => bench.sales.sell(bench.call(plain)));
    expect([sold, earned]).toEqual(['PAYMENT_REQUIRED', PRICE]);
  });

  it('is valid on a chain whose latest block is older than the signature', async () => {
    const { client } = await chain.connect();
    const { timestamp } = await client.getBlock();
    const validAfter = timestamp + 1n;
    // By the node's own clock, which a snapshot that was taken back leaves behind that of this machine.
    const isValid = async () => (await client.getBlock({ blockTag: 'pending' })).timestamp > validAfter;
    await expect.poll(isValid, { timeout: 10_000 }).toBe(true);
    const { earned } = await during(async () => bench.sales.sell(bench.call(await pay({ change: { validAfter: String(validAfter) } }))));
    expect(earned).toBe(PRICE);
  });

  it('is rejected after its payer cancelled the authorization on chain', async () => {
    const cancelAbi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)']);
    const payment = await pay();
    const { nonce } = payment.payload.authorization as { nonce: `0x${string}` };
    const signature = await bench.buyer.signTypedData({
      domain: { name: 'USDC', version: '2', chainId: chain.chainId, verifyingContract: chain.addresses.stablecoin },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: bench.buyer.address, nonce },
    });
    const { r, s, yParity } = parseSignature(signature);
    const args = [bench.buyer.address, nonce, 27 + yParity, r, s] as const;
    const cancelling: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        const data = encodeFunctionData({ abi: cancelAbi, functionName: 'cancelAuthorization', args });
        await sendTransactions(chain.rpcUrl, chain.accounts.stranger, [{ to: chain.addresses.stablecoin, data }]);
        return bench.facilitator.settle(...settled);
      },
    };
    const other = await bench.another({ facilitator: cancelling });
    const { earned } = await during(async () => expect(await codeOf(other.sell(bench.call(payment)))).toBe('PAYMENT_REQUIRED'));
    expect(earned).toBe(0n);
  });
});

describe('a payment that is being verified', () => {
  const stateOf = async ({ payload }: SignedPayment) => (await bench.claims.find(idOf(payload.authorization)))?.state;

  it('is verified again by the next request when its process crashes', async () => {
    const payment = await pay({ account: privateKeyToAccount(generatePrivateKey()) });
    const verdict = Promise.withResolvers<VerifyResponse>();
    const other = await bench.another({ facilitator: { ...bench.facilitator, verify: () => verdict.promise } });
    const crashed = codeOf(other.sell(bench.call(payment)));
    await expect.poll(() => stateOf(payment)).toBe('OPEN');
    await database.db.collection('x402_payments').updateOne({ state: 'OPEN' }, { $set: { heldUntil: new Date(0), holder: 'dead' } });
    const reason = expect.stringContaining('balance');
    await expect(bench.sales.sell(bench.call(payment))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason });
    expect(await stateOf(payment)).toBeUndefined();
    verdict.resolve({ isValid: false, invalidReason: 'expired' });
    expect(await crashed).toBe('PAYMENT_REQUIRED');
  });

  it('is rejected once for each of eight identical requests, and leaves no claim', async () => {
    const payment = await pay({ account: privateKeyToAccount(generatePrivateKey()) });
    let verified = 0;
    const verify: Facilitator['verify'] = (...query) => {
      verified += 1;
      return bench.facilitator.verify(...query);
    };
    const other = await bench.another({ facilitator: { ...bench.facilitator, verify } });
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(other.sell(bench.call(payment)))));
    expect(codes).toEqual(Array(8).fill('PAYMENT_REQUIRED'));
    expect(verified).toBe(8);
    expect(await stateOf(payment)).toBeUndefined();
  });

  it('gets no answer from a facilitator that rejects what the chain accepts, and stays valid', async () => {
    const payment = await pay();
    const verdict = Promise.withResolvers<VerifyResponse>();
    const facilitator = { ...bench.facilitator, simulatesSettlement: false, verify: () => verdict.promise };
    const other = await bench.another({ facilitator });
    const { earned } = await during(async () => {
      const sold = other.sell(bench.call(payment));
      await expect.poll(() => stateOf(payment)).toBe('PREPARED');
      verdict.resolve({ isValid: false, invalidReason: 'invalid_payer' });
      await expect(sold).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'invalid_payer' });
    });
    expect([earned, await stateOf(payment)]).toEqual([0n, undefined]);
    expect((await during(() => bench.sales.sell(bench.call(payment)))).earned).toBe(PRICE);
  });
});

describe('concurrent requests', () => {
  it('return one answer with one settlement for 50 identical payments over two processes', async () => {
    const payment = await pay();
    const other = await bench.another();
    const { result, earned, made } = await during(() =>
      Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? bench.sales : other).sell(bench.call(payment)))),
    );
    expect([earned, made]).toEqual([PRICE, 1]);
    expect(new Set(result.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(new Set(result.map(({ payment }) => payment!.txHash)).size).toBe(1);
    expect(result.filter(({ isAgain }) => !isAgain)).toHaveLength(1);
  });

  it('are all served for 50 different payments over two processes', async () => {
    const payments = await Promise.all(Array.from({ length: 50 }, () => pay()));
    const other = await bench.another();
    const { result, earned, made } = await during(() =>
      Promise.all(payments.map((payment, i) => (i % 2 === 0 ? bench.sales : other).sell(bench.call(payment)))),
    );
    expect([earned, made]).toEqual([50n * PRICE, 50]);
    expect(new Set(result.map(({ payment }) => payment!.txHash)).size).toBe(50);
  });
});

describe('while a signer does not answer', () => {
  it('keeps a settled payment whose receipt is not signed: the same request later returns the answer, at no further cost', async () => {
    const signer = accountOfSigner('provider', chain.accounts.provider);
    const sales = await bench.another({ signReceipt: createReceiptSigner(signer.account, chain.chainId) });
    const payment = await pay();
    const before = await booked();
    signer.isDown = true;
    const first = await during(() => sales.sell(bench.call(payment)).catch((error: OracleError) => error));
    expect(first).toMatchObject({ earned: PRICE, made: 1, result: { code: 'SIGNER_UNAVAILABLE', retryable: true } });
    expect((first.result as OracleError).suggestedAction).toContain('not charged twice');
    expect((await booked()) - before).toBe(PRICE);
    // A sweep does not give up on it either.
    await sales.sweep();
    signer.isDown = false;
    const second = await during(() => sales.sell(bench.call(payment)));
    expect(second).toMatchObject({ earned: 0n, made: 0, result: { receipt: { signer: chain.accounts.provider.address } } });
    expect((await booked()) - before).toBe(PRICE);
  });

  it('delivers a paid answer without its x402 receipt, and adds one receipt to later deliveries', async () => {
    const signer = accountOfSigner('provider', chain.accounts.provider);
    const sales = await bench.another({ signX402Receipt: createX402ReceiptSigner(signer.account, bench.requirements.network) });
    const payment = await pay();
    signer.isDown = true;
    const first = await sales.sell(bench.call(payment));
    const second = await sales.sell(bench.call(payment));
    signer.isDown = false;
    const [third, fourth] = await Promise.all([sales.sell(bench.call(payment)), sales.sell(bench.call(payment))]);
    expect([first.x402Receipt, second]).toEqual([null, { ...first, isAgain: true }]);
    expect(third).toEqual({ ...second, x402Receipt: { ...third.x402Receipt, format: 'eip712' } });
    expect([fourth, await bench.sales.findSaleResult(first.payment!.txHash, bench.buyer.address)]).toEqual([third, third]);
  });

  it('sends no payment that is not signed, and settles the same payment later', async () => {
    const signer = accountOfSigner('facilitator', chain.accounts.facilitator);
    const connected = await chain.connect();
    const journal = await openJournal(database.db);
    const wallet = createWallet({ chain: connected, journal, role: 'facilitator', account: signer.account });
    const gasBudget = { currencyUsd: null, maxCents: 10 };
    const facilitator = createLocalFacilitator({ ...bench, chain: connected, wallet, gasBudget });
    const sales = await bench.another({ facilitator });
    const payment = await pay();
    signer.isDown = true;
    const first = await during(() => sales.sell(bench.call(payment)).catch((error: OracleError) => error));
    expect(first).toMatchObject({ earned: 0n, made: 1, result: { code: 'SIGNER_UNAVAILABLE', retryable: true } });
    signer.isDown = false;
    expect(await during(() => sales.sell(bench.call(payment)))).toMatchObject({ earned: PRICE, made: 0 });
  });
});

describe('a repeated payment', () => {
  it('returns the same answer to the same client only', async () => {
    const payment = await pay();
    const first = await bench.sales.sell(bench.call(payment));
    const { result, earned, made } = await during(() => bench.sales.sell(bench.call(payment)));
    expect([earned, made]).toEqual([0n, 0]);
    expect(result).toEqual({ ...first, isAgain: true });
    const elsewhere = bench.sales.sell(bench.call(payment, { address: '198.51.100.7' }));
    await expect(elsewhere).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'payment_used' });
  });

  it('returns the same answer to any address with its identifier, which is rejected with another payment', async () => {
    const paymentId = `order_${generatePrivateKey().slice(2)}`;
    const payment = await pay({ paymentId });
    const { body } = await bench.sales.sell(bench.call(payment));
    expect((await bench.sales.sell(bench.call(payment, { address: '198.51.100.7' }))).body).toEqual(body);
    const { earned } = await during(async () => {
      expect(await codeOf(bench.sales.sell(bench.call(await pay({ paymentId }))))).toBe('CONFLICT');
    });
    expect(earned).toBe(0n);
    const { extensions: _, ...without } = payment;
    const guessed = { ...without, extensions: { 'payment-identifier': { info: { required: false, id: 'guessed_0123456789' } } } };
    expect(await codeOf(bench.sales.sell(bench.call(guessed, { address: '198.51.100.7' })))).toBe('PAYMENT_REQUIRED');
  });

  it('is rejected for another request', async () => {
    const payment = await pay();
    await bench.sales.sell(bench.call(payment));
    expect(await codeOf(bench.sales.sell(bench.call(payment, { input: { horizon: '2d' } })))).toBe('CONFLICT');
  });

  it('is found by its wallet and transaction', async () => {
    const sold = await bench.sales.sell(bench.call(await pay()));
    expect(await bench.sales.findSaleResult(sold.payment!.txHash, bench.buyer.address)).toEqual({ ...sold, isAgain: true });
    expect(await bench.sales.findSaleResult(sold.payment!.txHash, chain.accounts.stranger.address)).toBeNull();
  });
});

describe('failures', () => {
  it('a failing handler charges nothing, and the payment stays valid', async () => {
    const payment = await pay();
    const { earned } = await during(async () => {
      const answer = () => Promise.reject(new OracleError('STEP_WAITING', 'There is no forecast yet'));
      expect(await codeOf(bench.sales.sell(bench.call(payment, { answer })))).toBe('STEP_WAITING');
    });
    expect(earned).toBe(0n);
    expect((await during(() => bench.sales.sell(bench.call(payment)))).earned).toBe(PRICE);
  });

  it('a process that crashes between settlement and answer loses neither', async () => {
    const payment = await pay();
    const dying: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        await bench.facilitator.settle(...settled);
        // Nothing of this process comes after it.
        await database.db
          .collection('x402_payments')
          .updateOne({ state: 'PREPARED' }, { $set: { heldUntil: new Date(0), holder: 'dead' } });
        throw new Error('killed');
      },
    };
    const other = await bench.another({ facilitator: dying });
    const { earned, made } = await during(async () => {
      await expect(other.sell(bench.call(payment))).rejects.toThrow('killed');
      const sold = await bench.sales.sell(bench.call(payment));
      expect(sold.payment).toMatchObject({ amountMicros: PRICE });
    });
    expect([earned, made]).toEqual([PRICE, 1]);
  });

  it('a sweep finishes claims without a retry: paid ones are recorded, unpaid ones discarded', async () => {
    const paid = await pay();
    const unpaid = await pay();
    const lost = (settles: boolean): Facilitator => ({
      ...bench.facilitator,
      async settle(...settled) {
        if (settles) await bench.facilitator.settle(...settled);
        throw new OracleError('TRANSACTION_UNCONFIRMED', 'nobody knows');
      },
    });
    const { earned } = await during(async () => {
      const [one, two] = [await bench.another({ facilitator: lost(true) }), await bench.another({ facilitator: lost(false) })];
      expect(await codeOf(one.sell(bench.call(paid)))).toBe('TRANSACTION_UNCONFIRMED');
      expect(await codeOf(two.sell(bench.call(unpaid)))).toBe('TRANSACTION_UNCONFIRMED');
      await bench.sales.sweep();
    });
    expect(earned).toBe(PRICE);
    const states = await Promise.all([paid, unpaid].map(({ payload }) => bench.claims.find(idOf(payload.authorization))));
    expect(states.map((claim) => claim?.state)).toEqual(['SETTLED', 'PREPARED']);
    // It can still be settled: the payer who comes back has his answer, and pays once.
    expect((await during(() => bench.sales.sell(bench.call(unpaid)))).earned).toBe(PRICE);
    expect((await during(() => bench.sales.sell(bench.call(paid)))).earned).toBe(0n);
  });

  it('a settlement that times out and is mined later is answered then, paid once', async () => {
    const payment = await pay();
    const slow = await bench.another({ waitMs: 300, chain: await chain.connect({ confirmations: 3 }) });
    const { earned, made } = await during(async () => {
      expect(await codeOf(slow.sell(bench.call(payment)))).toBe('TRANSACTION_UNCONFIRMED');
      await chain.mine(3);
      expect((await slow.sell(bench.call(payment))).payment).not.toBeNull();
    });
    expect([earned, made]).toEqual([PRICE, 1]);
  });

  it('a payment that a third party has sent to the chain first is accepted', async () => {
    const payment = await pay();
    const early: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        await sendTransactions(chain.rpcUrl, chain.accounts.stranger, [{ to: chain.addresses.stablecoin, data: transferOf(payment) }]);
        return bench.facilitator.settle(...settled);
      },
    };
    const other = await bench.another({ facilitator: early });
    const { result, earned } = await during(() => other.sell(bench.call(payment)));
    expect([earned, result.payment?.amountMicros]).toEqual([PRICE, PRICE]);
  });

  it('a transfer that reverts is no payment, and reveals nothing', async () => {
    const poor = privateKeyToAccount(generatePrivateKey());
    await bench.mint(poor.address, PRICE);
    const payment = await pay({ account: poor });
    const spent: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        await chain.rpc('anvil_setBalance', poor.address, '0xde0b6b3a7640000');
        const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [chain.accounts.stranger.address, PRICE] });
        await sendTransactions(chain.rpcUrl, poor, [{ to: chain.addresses.stablecoin, data }]);
        return bench.facilitator.settle(...settled);
      },
    };
    const other = await bench.another({ facilitator: spent });
    const { earned } = await during(async () => {
      const unsettledOf = poor.address.toLowerCase();
      await expect(other.sell(bench.call(payment))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', unsettledOf });
    });
    expect(earned).toBe(0n);
    // It can be sent again, by him as by anybody who has it, as long as it is good.
    await bench.mint(poor.address, PRICE);
    const again = await during(() => bench.sales.sell(bench.call(payment)));
    expect([again.earned, again.made]).toEqual([PRICE, 0]);
  });

  it('a rejected payment that a third party sends to the chain later is recorded and answered', async () => {
    const payment = await pay();
    const refusing: Facilitator = refusingTo('out_of_gas');
    const other = await bench.another({ facilitator: refusing });
    const { earned, made } = await during(async () => {
      expect(await codeOf(other.sell(bench.call(payment)))).toBe('PAYMENT_REQUIRED');
      await sendTransactions(chain.rpcUrl, chain.accounts.stranger, [{ to: chain.addresses.stablecoin, data: transferOf(payment) }]);
      await bench.sales.sweep();
      expect((await bench.sales.sell(bench.call(payment))).isAgain).toBe(true);
    });
    expect([earned, made]).toEqual([PRICE, 1]);
  });

  it('several authorizations in one transaction each pay for their own request only', async () => {
    const payments = await Promise.all([pay(), pay(), pay()]);
    // The payer signs two of the nonces again, to pay himself nothing, and has all three used at once.
    const [first, ...others] = payments;
    const again = others.map(({ payload }) => pay({ change: { nonce: payload.authorization.nonce, to: bench.buyer.address, value: '0' } }));
    const calls = [first!, ...(await Promise.all(again))].map((payment) => ({ to: chain.addresses.stablecoin, data: transferOf(payment) }));
    const stealing: Facilitator = {
      ...bench.facilitator,
      async settle(_payment, { network }) {
        return { success: true, transaction: await sendTogether(chain.rpcUrl, chain.accounts.stranger, calls), network };
      },
    };
    const { result, earned } = await during(async () => {
      const other = await bench.another({ facilitator: stealing, waitMs: 2_000 });
      const sold = await other.sell(bench.call(first!));
      const stolen = await Promise.all(others.map((payment) => codeOf(bench.sales.sell(bench.call(payment)))));
      return { sold, stolen };
    });
    expect([earned, result.sold.payment?.amountMicros]).toEqual([PRICE, PRICE]);
    expect(result.stolen).toEqual(['PAYMENT_REQUIRED', 'PAYMENT_REQUIRED']);
  });

  it('a payment that was signed for sending before is not reported as rejected', async () => {
    const payment = await pay();
    await chain.automine(false);
    const slow = await bench.another({ waitMs: 200 });
    expect(await codeOf(slow.sell(bench.call(payment)))).toBe('TRANSACTION_UNCONFIRMED');
    // Another process: the library finds no use for the payment any more, and the transaction is still on its way.
    const other = await bench.another({ waitMs: 200 });
    expect(await codeOf(other.sell(bench.call(payment)))).toBe('TRANSACTION_UNCONFIRMED');
    await chain.automine(true);
    await chain.mine();
    expect((await bench.sales.sell(bench.call(payment))).payment).not.toBeNull();
  });

  it('a payer whose signature check costs more gas than the price is rejected', async () => {
    const connected = await chain.connect();
    const journal = await openJournal(database.db);
    const wallet = createWallet({ chain: connected, journal, role: 'facilitator', account: chain.accounts.facilitator });
    const request = { key: 'too dear', to: chain.addresses.stablecoin, data: transferOf(await pay()) };
    await expect(wallet.send({ ...request, bounds: { maxGas: 50_000n, maxCostWei: null, runsForeignCode: false } })).rejects.toMatchObject({
      code: 'CHAIN_REVERTED',
    });
    expect(await wallet.isPending('too dear')).toBe(false);
  });

  it('claims that cannot be finished do not block others', async () => {
    const payment = await pay();
    const lost: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        await bench.facilitator.settle(...settled);
        throw new OracleError('TRANSACTION_UNCONFIRMED', 'nobody knows');
      },
    };
    await codeOf((await bench.another({ facilitator: lost })).sell(bench.call(payment)));
    const claims = database.db.collection<ClaimDoc>('x402_payments');
    const _id = idOf(payment.payload.authorization);
    const claim = (await claims.findOne({ _id }))!;
    await claims.insertMany(Array.from({ length: 110 }, (_, index) => likeClaim(claim, index)));
    await bench.sales.sweep();
    await bench.sales.sweep();
    expect((await bench.claims.find(_id))?.state).toBe('SETTLED');
    await claims.deleteMany({ _id: new RegExp(`^${_id}.`) });
  });

  it('a node whose logs lag behind costs no payer an answer', async () => {
    const proxy = await rpcProxy(chain.rpcUrl, {
      onRequest: ({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined),
    });
    const over = await chain.connect({ rpcUrl: proxy.url });
    const lost: Facilitator = {
      ...bench.facilitator,
      async settle(...settled) {
        await bench.facilitator.settle(...settled);
        throw new OracleError('TRANSACTION_UNCONFIRMED', 'nobody knows');
      },
    };
    const payment = await pay();
    expect(await codeOf((await bench.another({ facilitator: lost })).sell(bench.call(payment)))).toBe('TRANSACTION_UNCONFIRMED');
    const behind = await bench.another({ chain: over, waitMs: 300 });
    await behind.sweep();
    expect(await codeOf(behind.sell(bench.call(payment)))).toBe('TRANSACTION_UNCONFIRMED');
    await proxy.close();
    expect((await bench.sales.sell(bench.call(payment))).payment).not.toBeNull();
  });

  it('a rejected payment keeps its identifier, which is free for another payment', async () => {
    const paymentId = `refused_${generatePrivateKey().slice(2)}`;
    const payment = await pay({ paymentId });
    const refusing: Facilitator = refusingTo('insufficient_funds');
    const other = await bench.another({ facilitator: refusing });
    expect(await codeOf(other.sell(bench.call(payment)))).toBe('PAYMENT_REQUIRED');
    expect((await bench.sales.sell(bench.call(await pay({ paymentId })))).isAgain).toBe(false);
    const { earned } = await during(() => bench.sales.sell(bench.call(payment, { address: '198.51.100.7' })));
    expect(earned).toBe(PRICE);
  });

  it('an unreachable chain is reported as such, not as an invalid payment, which is valid later', async () => {
    const proxy = await rpcProxy(chain.rpcUrl);
    const over = await chain.connect({ rpcUrl: proxy.url, requestTimeoutMs: 500 });
    const sales = await bench.another({ chain: over });
    const payment = await pay();
    proxy.hooks.onRequest = () => 'drop';
    const { earned } = await during(async () => expect(await codeOf(sales.sell(bench.call(payment)))).toBe('CHAIN_UNREACHABLE'));
    expect(earned).toBe(0n);
    proxy.hooks.onRequest = undefined;
    expect((await during(() => sales.sell(bench.call(payment)))).earned).toBe(PRICE);
    await proxy.close();
  });
});

describe('the gas of a settlement', () => {
  /** Dollars of a unit of gas money at which a settlement costs more than the 0.1 cents of an answer, and less than 10 cents. */
  const DEAR = 100;
  const OUT_OF_REACH = 1_000_000;

  /** A second process whose gas is worth something. */
  async function valuedAt(currencyUsd: number) {
    const connected = await chain.connect();
    const journal = await openJournal(database.db);
    const wallet = createWallet({ chain: connected, journal, role: 'facilitator', account: chain.accounts.facilitator });
    return bench.another({
      facilitator: createLocalFacilitator({ ...bench, chain: connected, wallet, gasBudget: { currencyUsd, maxCents: 10 } }),
    });
  }

  const facilitatorNonce = () => chain.rpc('eth_getTransactionCount', chain.accounts.facilitator.address, 'latest');

  it('is limited to the price for a contract wallet, and to the budget for an EOA', async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    const wallet = await (await walletFactory(await chain.connect(), chain.rpcUrl, chain.deployer))(owner.address);
    await wallet.deploy();
    await bench.mint(wallet.address, PRICE);
    const sales = await valuedAt(DEAR);
    const ofContract = await pay({ account: owner, change: { from: wallet.address } });
    const before = await facilitatorNonce();
    await expect(sales.sell(bench.call(ofContract))).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'settlement_too_costly' });
    expect(await facilitatorNonce()).toBe(before);
    expect((await during(async () => sales.sell(bench.call(await pay())))).earned).toBe(PRICE);
    expect((await during(() => bench.sales.sell(bench.call(ofContract)))).earned).toBe(PRICE);
  });

  it('above the budget makes an EOA wait, with its payment unused', async () => {
    const payment = await pay();
    const sales = await valuedAt(OUT_OF_REACH);
    const counted: unknown[] = [];
    const countRejection = async () => void counted.push(1);
    await expect(sales.sell(bench.call(payment, { countRejection }))).rejects.toMatchObject({
      code: 'STEP_WAITING',
      retryAfterSeconds: 60,
    });
    expect(counted).toEqual([]);
    expect((await during(() => bench.sales.sell(bench.call(payment)))).earned).toBe(PRICE);
  });

  it('from an empty wallet fails without blaming the payer', async () => {
    const connected = await chain.connect();
    const journal = await openJournal(database.db);
    const wallet = createWallet({ chain: connected, journal, role: 'facilitator', account: privateKeyToAccount(generatePrivateKey()) });
    const facilitator = createLocalFacilitator({
      deployments: bench.deployments,
      chain: connected,
      wallet,
      gasBudget: { currencyUsd: null, maxCents: 10 },
      log: bench.log,
    });
    const sales = await bench.another({ facilitator });
    await expect(sales.sell(bench.call(await pay()))).rejects.toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: 'The chain does not answer: the status of the payment is unknown',
    });
  });
});

describe('failed settlements', () => {
  const refusing = (): Facilitator => refusingTo('settlement_failed');
  const failures = () => database.db.collection<{ _id: string }>('x402_failed_settlements');

  it('of one payer, three in a day, are rejected in every process before a chain read', async () => {
    const other = await bench.another({ facilitator: refusing() });
    for (let times = 0; times < 3; times++) expect(await codeOf(other.sell(bench.call(await pay())))).toBe('PAYMENT_REQUIRED');
    const proxy = await rpcProxy(chain.rpcUrl);
    const sales = await bench.another({ chain: await chain.connect({ rpcUrl: proxy.url }) });
    proxy.counts.clear();
    const sold = sales.sell(bench.call(await pay(), { address: '198.51.100.9' }));
    await expect(sold).rejects.toMatchObject({ code: 'RATE_LIMITED', details: { policy: 'unsettled-payer', limit: 3 } });
    expect([...proxy.counts]).toEqual([]);
    await proxy.close();
  });

  it('of one address, 20 in a day, are rejected for all payers', async () => {
    const at = new Date(Date.now() - 3_600_000);
    const of = (index: number) => ({ _id: `failed:${index}`, payer: `0x${String(index).padStart(40, '0')}`, address: '192.0.2.1', at });
    await failures().insertMany(Array.from({ length: 20 }, (_, index) => of(index)));
    const error = await bench.sales.sell(bench.call(await pay())).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RATE_LIMITED', details: { policy: 'unsettled-address', limit: 20 } });
    expect((error as OracleError).retryAfterSeconds).toBeGreaterThan(22 * 3_600);
    expect((error as OracleError).retryAfterSeconds).toBeLessThanOrEqual(23 * 3_600);
    expect(await codeOf(bench.sales.sell(bench.call(await pay(), { address: '192.0.2.2' })))).toBeNull();
  });

  it('count once a payment, until it is settled', async () => {
    const payment = await pay();
    const other = await bench.another({ facilitator: refusing() });
    expect(await codeOf(other.sell(bench.call(payment)))).toBe('PAYMENT_REQUIRED');
    expect(await codeOf(other.sell(bench.call(payment)))).toBe('PAYMENT_REQUIRED');
    expect(await failures().countDocuments()).toBe(1);
    expect((await during(() => bench.sales.sell(bench.call(payment)))).earned).toBe(PRICE);
    expect(await failures().countDocuments()).toBe(0);
  });
});

it('concurrent payments of a wallet with funds for one get one answer', async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  await bench.mint(account.address, PRICE);
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const { promise: isMaking, resolve: making } = Promise.withResolvers<void>();
  const answer = async () => {
    making();
    await goOn;
    return { body: { signal: 'BUY' }, forecastId: null, attestationUid: null };
  };
  const { result, earned, made } = await during(async () => {
    const first = bench.sales.sell(bench.call(await pay({ account }), { answer }));
    await isMaking;
    const second = bench.sales.sell(bench.call(await pay({ account })));
    await expect(second).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED', reason: 'insufficient_balance' });
    resolve();
    return first;
  });
  expect([earned, made, result.body]).toEqual([PRICE, 0, { signal: 'BUY' }]);
});

it('the ledger equals the chain to the unit', async () => {
  expect(await booked()).toBe(await payeeBalance());
});

/** Rejects each settlement before anything is sent. */
function refusingTo(errorReason: string): Facilitator {
  return { ...bench.facilitator, settle: async (_payment, { network }) => ({ success: false, errorReason, transaction: '', network }) };
}

function idOf({ from, nonce }: { from: string; nonce: string }): string {
  return `${chain.chainId}:${chain.addresses.stablecoin}:${from}:${nonce}`.toLowerCase();
}

/** A stored claim as one of another payment, which nobody has sent. */
function likeClaim({ _id, payload, ...claim }: ClaimDoc, index: number): ClaimDoc {
  const nonce = toHex(index, { size: 32 });
  const { signature, authorization } = payload.payload;
  const other = { ...payload, payload: { signature, authorization: { ...authorization, nonce } } };
  return { ...claim, _id: `${_id}${index}`, nonce, payload: other };
}

function transferOf({ payload: { authorization, signature } }: SignedPayment) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { r, s, v, yParity } = parseSignature(signature);
  const times = [BigInt(validAfter), BigInt(validBefore)] as const;
  const args = [from, to, BigInt(value), ...times, nonce, Number(v ?? 27 + yParity), r, s] as never;
  return encodeFunctionData({ abi: tokenAbi, functionName: 'transferWithAuthorization', args });
}
