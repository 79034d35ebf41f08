import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  getContractAddress,
  type Hash,
  type Hex,
  http,
  parseAbi,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import type { PurchaseDoc, PurchaseRequest } from '../../../../src/commerce/purchases.ts';
import { readArtifact, sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { OracleError } from '../../../../src/errors.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { walletFactory } from '../../../support/chain/contract-wallet.ts';
import { type Buying, buyingBench, mined, signedRequest, tokenAbi, twiceCaller } from '../../../support/commerce/purchases.ts';
import { AUTHORIZATION_TYPES } from '../../../support/commerce/x402.ts';
import { type TestDatabase, testDatabase } from '../../../support/database/database.ts';

const OFFERING = 'svc_verified_track_record';
const PRICE = 500_000n;
const HERE = { address: '192.0.2.1' };
const ELSEWHERE = { address: '192.0.2.2' };

let chain: TestChain;
let connected: Chain;
let database: TestDatabase;
let bench: Buying;

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase()]);
  connected = await chain.connect();
  bench = await buyingBench(chain, database.db, connected);
});
afterAll(async () => {
  await Promise.all([chain.stop(), database.drop()]);
});

const asked = (txHash: Hash, change: Partial<PurchaseRequest> = {}): PurchaseRequest => ({
  offering: OFFERING,
  wallet: bench.buyer.address,
  txHash,
  ...change,
});
const refused = (code: string, field?: string) => expect.objectContaining({ code, ...(field === undefined ? {} : { field }) });
const ledgerOf = (txHash: Hash) => bench.ledger.payments.find({ txHash: txHash.toLowerCase() as Hash }).toArray();

/** Nothing was taken, and nothing is kept of it. */
async function expectNothingOf(txHash: Hash): Promise<void> {
  expect(await ledgerOf(txHash)).toEqual([]);
  expect(await bench.store.find(txHash)).toBeNull();
}

describe('a settled transfer', () => {
  it('buys a document once, with one ledger entry, for hash and wallet in any case', async () => {
    const txHash = await bench.pay(PRICE);
    const first = await bench.open().buy(asked(txHash, { ref: 'Some-Partner' }), HERE);
    expect(first).toMatchObject({ offering: OFFERING, again: false, payment: { amountMicros: PRICE, txHash, ref: 'some-partner' } });
    const shouted = asked(txHash.toUpperCase().replace('0X', '0x') as Hash, { wallet: bench.buyer.address.toLowerCase() as Address });
    const second = await bench.open().buy(shouted, HERE);
    expect(second).toEqual({ ...first, again: true });
    expect(await ledgerOf(txHash)).toMatchObject([
      {
        channel: 'purchase',
        offering: OFFERING,
        amountMicros: Number(PRICE),
        ref: 'some-partner',
        payer: bench.buyer.address.toLowerCase(),
      },
    ]);
  });

  it('is delivered again without a chain read at any later time', async () => {
    const txHash = await bench.pay(PRICE);
    const first = await bench.open().buy(asked(txHash), HERE);
    const dead = { ...connected, client: undefined } as unknown as Chain;
    const nextWeek = () => new Date(Date.now() + 7 * 86_400_000);
    expect(await bench.open({ chain: dead, now: nextWeek }).buy(asked(txHash), HERE)).toEqual({ ...first, again: true });
  });

  it('above the price is accepted and recorded with its amount', async () => {
    const txHash = await bench.pay(PRICE + 123n);
    await bench.open().buy(asked(txHash), HERE);
    expect(await ledgerOf(txHash)).toMatchObject([{ amountMicros: Number(PRICE + 123n) }]);
  });

  it('may be split in one transaction', async () => {
    const caller: Address = '0x00000000000000000000000000000000c0ffee01';
    await twiceCaller(chain, caller, bench.merchant.asset);
    await bench.mint(caller, PRICE);
    const half = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [bench.merchant.payee, PRICE / 2n] });
    const txHash = await bench.send(bench.buyer, caller, half);
    expect(await bench.open().buy(asked(txHash, { wallet: caller }), HERE)).toMatchObject({ payment: { amountMicros: PRICE } });
    await expect(bench.open().buy(asked(txHash), HERE)).rejects.toThrow(refused('INPUT_INVALID', 'wallet'));
  });

  it('composes one document for 20 concurrent calls in two processes', async () => {
    const txHash = await bench.pay(PRICE);
    const before = bench.composed();
    const processes = [bench.open(), bench.open()];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => processes[index % 2].buy(asked(txHash), HERE)));
    expect(bench.composed() - before).toBe(1);
    expect(new Set(answers.map(({ receipt, document }) => JSON.stringify([receipt, document]))).size).toBe(1);
    expect(await ledgerOf(txHash)).toHaveLength(1);
  });

  it.each(['after the ledger', 'in the document', 'after the document'])('survives a crash %s', async (death) => {
    const txHash = await bench.pay(PRICE);
    const dies = async (): Promise<never> => {
      throw new OracleError('STEP_WAITING', 'There is no forecast yet');
    };
    const dying = {
      'after the ledger': { compose: dies },
      'in the document': { ledger: { record: dies } },
      'after the document': { signReceipt: dies },
    }[death];
    await expect(bench.open(dying).buy(asked(txHash), HERE)).rejects.toThrow(refused('STEP_WAITING'));
    const twoDaysLater = () => new Date(Date.now() + 2 * 86_400_000);
    await bench.open({ now: twoDaysLater }).buy(asked(txHash), HERE);
    expect(await ledgerOf(txHash)).toHaveLength(1);
  });

  it('is recorded and delivered by a sweep, and returned unchanged to its buyer later', async () => {
    const txHash = await bench.pay(PRICE);
    const dies = () => Promise.reject(new OracleError('STEP_WAITING', 'There is no forecast yet'));
    const dying = bench.open({ ledger: { record: dies } });
    await expect(dying.buy(asked(txHash), HERE)).rejects.toThrow(refused('STEP_WAITING'));
    await dying.sweep();
    expect(await ledgerOf(txHash)).toHaveLength(0);
    const before = bench.composed();
    await bench.open().sweep();
    await bench.open().sweep();
    expect([await ledgerOf(txHash), bench.composed() - before]).toEqual([[expect.anything()], 1]);
    expect(await bench.open().buy(asked(txHash), HERE)).toMatchObject({ again: true });
  });

  it('is swept in turn: an undeliverable purchase does not block others', async () => {
    const dies = () => Promise.reject(new OracleError('STEP_WAITING', 'There is no forecast yet'));
    const dying = bench.open({ ledger: { record: dies } });
    const failing = async () => {
      const txHash = await bench.pay(PRICE);
      await expect(dying.buy(asked(txHash), HERE)).rejects.toThrow(refused('STEP_WAITING'));
      return txHash;
    };
    const purchases = database.db.collection<PurchaseDoc>('purchases');
    const pattern = (await purchases.findOneAndDelete({ _id: await failing() }))!;
    const others = Array.from({ length: 100 }, (_, index) => toHex(index + 1_000, { size: 32 }));
    await purchases.insertMany(others.map((_id) => ({ ...pattern, _id })));
    const last = await failing();
    await dying.sweep();
    await bench.open().sweep();
    expect(await ledgerOf(last)).toHaveLength(1);
    await purchases.deleteMany({ _id: { $in: others } });
    await bench.ledger.payments.deleteMany({ txHash: { $in: others } });
  });

  it('is continued after its lease holder crashed', async () => {
    const txHash = await bench.pay(PRICE);
    const hung = bench.open({ compose: () => new Promise(() => undefined) });
    void hung.buy(asked(txHash), HERE);
    await expect.poll(() => ledgerOf(txHash)).toHaveLength(1);
    // By the clock of the database its lease has run out.
    await database.db.collection('purchases').updateOne({ _id: txHash as never }, { $set: { composingAt: new Date(0) } });
    expect(await bench.open().buy(asked(txHash), HERE)).toMatchObject({ again: false });
    expect(await ledgerOf(txHash)).toHaveLength(1);
  });
});

describe('the lease of a purchase', () => {
  it('is neither released nor completed by a worker that has lost it', async () => {
    const txHash = await bench.pay(PRICE);
    await expect(bench.open({ compose: () => Promise.reject(new Error('down')) }).buy(asked(txHash), HERE)).rejects.toThrow('down');
    const late = await bench.store.acquireLease(txHash);
    await database.db.collection('purchases').updateOne({ _id: txHash as never }, { $set: { composingAt: new Date(0) } });
    const owner = await bench.store.acquireLease(txHash);
    await bench.store.releaseLease(late!);
    expect(await bench.store.acquireLease(txHash)).toBeNull();
    const delivery = (json: string) => ({ json, receipt: {} as never, deliveredAt: new Date(0) });
    expect(await bench.store.saveDelivery(late!, delivery('late'))).toMatchObject({ delivery: null, isOpen: true });
    expect(await bench.store.saveDelivery(owner!, delivery('owner'))).toMatchObject({ delivery: { json: 'owner' } });
    expect((await bench.store.saveDelivery(late!, delivery('late'))).delivery!.json).toBe('owner');
  });

  it('lost during composition yields the delivery of the current holder', async () => {
    const txHash = await bench.pay(PRICE);
    const [composing, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const compose = async () => {
      composing.resolve();
      await resumed.promise;
      return { document: { kind: 'late' }, forecastId: null, attestationUid: null };
    };
    const slow = bench.open({ compose }).buy(asked(txHash), HERE);
    await composing.promise;
    await database.db.collection('purchases').updateOne({ _id: txHash as never }, { $set: { composingAt: new Date(0) } });
    const owner = await bench.store.acquireLease(txHash);
    resumed.resolve();
    await bench.store.releaseLease(owner!);
    const first = await bench.open().buy(asked(txHash), HERE);
    expect((await slow).document).toEqual(first.document);
  });
});

describe('a transaction is no payment', () => {
  const buy = (txHash: Hash, change?: Partial<PurchaseRequest>) => bench.open().buy(asked(txHash, change), HERE);

  it('when it is unknown, reverted or moves nothing', async () => {
    const unknown = toHex(7, { size: 32 });
    await expect(buy(unknown)).rejects.toMatchObject({
      ...{ code: 'TRANSFER_UNCONFIRMED', field: 'txHash', retryable: true, retryAfterSeconds: 5 },
      message: expect.stringContaining('has not seen'),
    });
    const reverted = await bench.pay(10n ** 15n);
    await expect(buy(reverted)).rejects.toThrow(/reverted/);
    const nothing = await bench.send(bench.buyer, bench.merchant.payee, '0x');
    await expect(buy(nothing)).rejects.toThrow(refused('INPUT_INVALID', 'txHash'));
    for (const hash of [unknown, reverted, nothing]) await expectNothingOf(hash);
  });

  it('with another token, payee or payer', async () => {
    const { bytecode } = readArtifact('TestStablecoin');
    const nonce = await connected.client.getTransactionCount({ address: chain.deployer.address });
    await sendTransactions(chain.rpcUrl, chain.deployer, [{ data: bytecode }]);
    const coin = getContractAddress({ from: chain.deployer.address, nonce: BigInt(nonce) });
    await bench.mint(bench.buyer.address, PRICE, coin);
    const otherCoin = await bench.pay(PRICE, { coin });
    await expect(buy(otherCoin)).rejects.toThrow(refused('INPUT_INVALID', 'txHash'));
    const otherPayee = await bench.pay(PRICE, { to: chain.accounts.reporter.address });
    await expect(buy(otherPayee)).rejects.toThrow(refused('INPUT_INVALID', 'txHash'));
    await bench.mint(chain.accounts.stranger.address, PRICE);
    const otherPayer = await bench.pay(PRICE, { from: chain.accounts.stranger });
    await expect(buy(otherPayer)).rejects.toThrow(refused('INPUT_INVALID', 'wallet'));
    for (const hash of [otherCoin, otherPayee, otherPayer]) await expectNothingOf(hash);
    // Whoever did pay can still buy with it.
    expect(await buy(otherPayer, { wallet: chain.accounts.stranger.address })).toMatchObject({ again: false });
  });

  it('below the price: 402 with the missing amount', async () => {
    const txHash = await bench.pay(PRICE - 1n);
    await expect(buy(txHash)).rejects.toMatchObject({
      code: 'PAYMENT_REQUIRED',
      suggestedAction: expect.stringMatching(/0\.000001 USD are missing.*0\.50 USD in ONE new transaction.*unclaimed/),
      details: {
        paid: '499999',
        price: '500000',
        missing: '1',
        missingUsd: '0.000001',
        chain: 'eip155:84532',
        payee: bench.merchant.payee,
      },
    });
    await expectNothingOf(txHash);
  });

  it('when it is older than 24 hours at its first claim', async () => {
    const txHash = await bench.pay(PRICE);
    const at = (hours: number) => () => new Date(Date.now() + hours * 3_600_000);
    await expect(bench.open({ now: at(24.1) }).buy(asked(txHash), HERE)).rejects.toThrow(refused('INPUT_INVALID', 'txHash'));
    await expectNothingOf(txHash);
    await bench.open({ now: at(23.9) }).buy(asked(txHash), HERE);
  });

  it('when it has paid for another offering or wallet', async () => {
    const txHash = await bench.pay(PRICE);
    await buy(txHash);
    await expect(buy(txHash, { offering: 'svc_crowd_vs_oracle' })).rejects.toThrow(refused('INPUT_INVALID', 'offering'));
    await expect(buy(txHash, { wallet: chain.accounts.stranger.address })).rejects.toThrow(refused('INPUT_INVALID', 'wallet'));
    await expect(buy(txHash, { offering: 'svc_bitcoin_signal' })).rejects.toThrow(refused('INPUT_INVALID', 'offering'));
    expect(await ledgerOf(txHash)).toHaveLength(1);
  });

  it('when it carries an authorization for a request, which must not pay twice', async () => {
    const txHash = await authorizedTransfer();
    await expect(buy(txHash)).rejects.toThrow(/signed for requests/);
    await expectNothingOf(txHash);
  });

  it('from a contract of another channel, or the zero address', async () => {
    const txHash = await bench.mint(bench.merchant.payee, PRICE);
    await expect(buy(txHash, { wallet: zeroAddress })).rejects.toThrow(refused('INPUT_INVALID', 'wallet'));
    const paid = await bench.pay(PRICE);
    const purchases = bench.open({ excludedBuyers: [bench.buyer.address.toLowerCase()] });
    await expect(purchases.buy(asked(paid), HERE)).rejects.toThrow(refused('INPUT_INVALID', 'wallet'));
    await expectNothingOf(paid);
  });

  it('while the chain is unreachable, and nothing is stored', async () => {
    const gone = { ...connected, client: createPublicClient({ transport: http('http://127.0.0.1:1', { retryCount: 0 }) }) };
    const txHash = await bench.pay(PRICE);
    await expect(bench.open({ chain: gone }).buy(asked(txHash), HERE)).rejects.toThrow(refused('CHAIN_UNREACHABLE'));
    await expectNothingOf(txHash);
  });
});

/** An EIP-3009 payment of the price, as a facilitator sends it. */
async function authorizedTransfer(): Promise<Hash> {
  const { buyer, merchant } = bench;
  const message = { from: buyer.address, to: merchant.payee, value: PRICE, validAfter: 0n, validBefore: 2n ** 40n, nonce: zeroHash };
  const domain = { ...merchant.domain, chainId: merchant.chainId, verifyingContract: merchant.asset };
  const signature = await buyer.signTypedData({ domain, types: AUTHORIZATION_TYPES, primaryType: 'TransferWithAuthorization', message });
  const abi = parseAbi([
    'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  ]);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const;
  return bench.send(
    chain.accounts.facilitator,
    merchant.asset,
    encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args }),
  );
}

describe('a delivery goes to', () => {
  let txHash: Hash;
  beforeEach(async () => {
    txHash = await bench.pay(PRICE);
  });

  it('the first claimant address without a signature', async () => {
    await bench.open().buy(asked(txHash), HERE);
    await expect(bench.open().buy(asked(txHash), ELSEWHERE)).rejects.toThrow(refused('PAYMENT_REQUIRED', 'signature'));
    await bench.open().buy(await signedRequest(asked(txHash), bench.buyer), ELSEWHERE);
    // From now on a signature is needed, also from there.
    await expect(bench.open().buy(asked(txHash), HERE)).rejects.toThrow(refused('PAYMENT_REQUIRED', 'signature'));
    await bench.open().buy(await signedRequest(asked(txHash), bench.buyer), HERE);
  });

  it('the paying wallet from any address with a signature', async () => {
    const request = await signedRequest(asked(txHash), bench.buyer);
    const first = await bench.open({ signatures: 'required' }).buy(request, HERE);
    expect(await bench.open({ signatures: 'required' }).buy(request, ELSEWHERE)).toEqual({ ...first, again: true });
    await expect(bench.open().buy(asked(txHash), HERE)).rejects.toThrow(refused('PAYMENT_REQUIRED', 'signature'));
    const stored = await database.db.collection('purchases').findOne({ _id: txHash as never });
    expect(JSON.stringify(stored)).not.toContain(request.signature!.slice(2, 40));
  });

  it('signed claims only where required, checked before any chain read', async () => {
    const asking = bench.open({ signatures: 'required' }).buy(asked(txHash), HERE);
    await expect(asking).rejects.toMatchObject({
      ...{ code: 'PAYMENT_REQUIRED', field: 'signature', suggestedAction: expect.stringMatching(/^Do not pay again/) },
      details: { signMessage: `Buy svc offering: ${OFFERING}:${txHash}`, signScheme: 'EIP-191' },
    });
    await expectNothingOf(txHash);
  });

  it('no claim with a signature of another key, offering or transfer', async () => {
    const outsider = privateKeyToAccount(generatePrivateKey());
    const { signature: byOutsider } = await signedRequest(asked(txHash), outsider);
    const { signature: ofOffering } = await signedRequest(asked(txHash, { offering: 'svc_alpha_brief' }), bench.buyer);
    const { signature: ofTransfer } = await signedRequest(asked(toHex(1, { size: 32 })), bench.buyer);
    for (const signature of [byOutsider, ofOffering, ofTransfer, '0x00' as Hex]) {
      await expect(bench.open().buy(asked(txHash, { signature }), HERE)).rejects.toThrow(refused('UNAUTHENTICATED', 'signature'));
    }
    await expectNothingOf(txHash);
  });

  it('a contract wallet by the signature of its owner (EIP-1271)', async () => {
    const newWallet = await walletFactory(connected, chain.rpcUrl, chain.deployer);
    const wallet = await newWallet(bench.buyer.address);
    await wallet.deploy();
    await bench.mint(wallet.address, PRICE);
    await chain.rpc('anvil_impersonateAccount', wallet.address);
    await chain.rpc('anvil_setBalance', wallet.address, '0xde0b6b3a7640000');
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [bench.merchant.payee, PRICE] });
    const paid = await mined(
      connected,
      await chain.rpc<Hash>('eth_sendTransaction', { from: wallet.address, to: bench.merchant.asset, data }),
    );
    const request = await signedRequest(asked(paid, { wallet: wallet.address }), bench.buyer);
    const required = bench.open({ signatures: 'required' });
    const outsider = await signedRequest(request, privateKeyToAccount(generatePrivateKey()));
    await expect(required.buy(outsider, HERE)).rejects.toThrow(refused('UNAUTHENTICATED', 'signature'));
    const first = await required.buy(request, HERE);
    // Seen before: the chain is not asked about it again.
    const dead = { ...connected, client: undefined } as unknown as Chain;
    expect(await bench.open({ signatures: 'required', chain: dead }).buy(request, ELSEWHERE)).toEqual({ ...first, again: true });
  });
});

describe('confirmations', () => {
  it('are awaited, and a transfer removed by a reorganisation does not count', async () => {
    const deep = await chain.connect({ confirmations: 3 });
    const purchases = bench.open({ chain: deep });
    await chain.automine(false);
    const back = await chain.snapshot();
    try {
      const txHash = await bench.pay(PRICE, { isMined: false });
      const waiting = (confirmations: number) => ({ code: 'TRANSFER_UNCONFIRMED', details: { confirmations, required: 3 } });
      await expect(purchases.buy(asked(txHash), HERE)).rejects.toMatchObject(waiting(0));
      await chain.mine();
      await expect(purchases.buy(asked(txHash), HERE)).rejects.toMatchObject(waiting(1));
      await chain.mine();
      await expect(purchases.buy(asked(txHash), HERE)).rejects.toMatchObject(waiting(2));
      await back();
      await chain.rpc('anvil_dropAllTransactions');
      await chain.mine(5);
      await expect(purchases.buy(asked(txHash), HERE)).rejects.toMatchObject(waiting(0));
      await expectNothingOf(txHash);
      const kept = await bench.pay(PRICE, { isMined: false });
      await chain.mine(3);
      expect(await purchases.buy(asked(kept), HERE)).toMatchObject({ again: false });
    } finally {
      await chain.automine(true);
    }
  });

  it('of a block that is no longer canonical do not count', async () => {
    const txHash = await bench.pay(PRICE);
    const reorganised = await chain.connect();
    const { client } = reorganised;
    const real = client.getBlock.bind(client);
    client.getBlock = (async (options: never) => ({ ...((await real(options)) as object), hash: zeroHash })) as never;
    await expect(bench.open({ chain: reorganised }).buy(asked(txHash), HERE)).rejects.toThrow(refused('TRANSFER_UNCONFIRMED'));
    await expectNothingOf(txHash);
  });
});
