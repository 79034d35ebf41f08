import { encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { schemaRegistryAbi } from '../../../../src/chain/eas/schemas.ts';
import { rpcProxy } from '../../../support/chain/rpc-proxy.ts';
import { accountOfSigner } from '../../../support/signers/failing-account.ts';
import { freshAddress, startWalletBench, until, type WalletBench } from './wallet-bench.ts';

let bench: WalletBench;
beforeAll(async () => {
  bench = await startWalletBench();
});
afterAll(() => bench.stop());
afterEach(async () => {
  await bench.chain.automine(true);
  await bench.chain.mine();
});

const register = (schema: string) =>
  encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: [schema, zeroAddress, false] });

describe('a wallet', () => {
  it('sends a transaction and returns it as mined', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account);
    const to = freshAddress();
    const sent = await wallet.send({ key: 'plain', to, data: '0x', value: 5n });
    expect(sent).toMatchObject({ key: 'plain', from: account.address, to, nonce: 0, gasUsed: 21_000, logs: [] });
    const block = await bench.chain.rpc<{ hash: Hex; timestamp: Hex }>('eth_getBlockByNumber', `0x${sent.blockNumber.toString(16)}`, false);
    expect(sent.blockHash).toBe(block.hash);
    expect(sent.at.getTime()).toBe(Number(block.timestamp) * 1000);
    expect(sent.effectiveGasPrice).toBeGreaterThan(0n);
    expect(await bench.balance(to)).toBe(5n);
  });

  it('has one effect per key for repeated and concurrent calls', async () => {
    const { account } = await bench.newAccount();
    const [one, other] = await Promise.all([bench.wallet(account), bench.wallet(account)]);
    const request = { key: 'same', to: freshAddress(), data: '0x', value: 1n } as const;
    const sent = await Promise.all([one, other, one, other].map((wallet) => wallet.send(request)));
    expect(new Set(sent.map(({ hash }) => hash)).size).toBe(1);
    expect(await one.send(request)).toEqual(sent[0]);
    expect(await bench.mined(account.address)).toEqual([sent[0].hash]);
  });

  it('uses nonces without gaps for concurrent keys', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account);
    const send = (index: number) => wallet.send({ key: `burst:${index}`, to: freshAddress(), data: '0x', value: 1n });
    const sent = await Promise.all(Array.from({ length: 10 }, (_, index) => send(index)));
    expect(sent.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('reserves no nonce for a call that would revert', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account);
    const call = { key: 'reverts', to: bench.chain.addresses.eas, data: '0x12345678' } as const;
    await expect(wallet.send(call)).rejects.toMatchObject({
      code: 'CHAIN_REVERTED',
      message: expect.stringContaining('Transaction reverts'),
    });
    expect(await bench.journal.find('84532:attester:reverts')).toBeNull();
    expect((await wallet.send({ key: 'next', to: freshAddress(), data: '0x' })).nonce).toBe(0);
  });

  it('uses no nonce while its signer does not answer, and sends under the same key afterwards', async () => {
    const signer = accountOfSigner('attester', (await bench.newAccount()).account);
    const wallet = await bench.wallet(signer.account);
    signer.isDown = true;
    const request = { key: 'unsigned', to: freshAddress(), data: '0x', value: 1n } as const;
    await expect(wallet.send(request)).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', retryable: true });
    expect(await bench.journal.find('84532:attester:unsigned')).toBeNull();
    signer.isDown = false;
    expect((await wallet.send({ key: 'signed', to: freshAddress(), data: '0x' })).nonce).toBe(0);
    expect((await wallet.send(request)).nonce).toBe(1);
    expect(await bench.balance(request.to)).toBe(1n);
  });

  it('returns the same error for a key whose transaction reverted on chain', async () => {
    const [one, other] = await Promise.all([bench.newAccount(), bench.newAccount()]);
    const bothSigned = async () => (await bench.rows.countDocuments({ key: /^rival/ })) === 2;
    const proxy = await rpcProxy(bench.chain.rpcUrl, {
      // Until then neither call's gas estimate knows of the other.
      onRequest: ({ method }) =>
        method === 'eth_sendRawTransaction' ? until(bothSigned, 'both are signed').then(() => undefined) : undefined,
    });
    const call = { to: bench.chain.addresses.schemaRegistry, data: register('bool rivals') } as const;
    const sends = [one, other].map(async ({ account }, index) => {
      const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
      return wallet.send({ key: `rival:${index}`, ...call });
    });
    const outcomes = await Promise.allSettled(sends);
    const loser = outcomes.findIndex(({ status }) => status === 'rejected');
    expect(outcomes[loser]).toMatchObject({ reason: { code: 'CHAIN_REVERTED', retryable: false } });
    expect(outcomes[1 - loser].status).toBe('fulfilled');
    const { account } = [one, other][loser];
    await expect((await bench.wallet(account)).send({ key: `rival:${loser}`, ...call })).rejects.toMatchObject({ code: 'CHAIN_REVERTED' });
    expect(await bench.mined(account.address)).toHaveLength(1);
    await proxy.close();
  });

  it('waits for the confirmation depth', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { chain: { confirmations: 3 } });
    let done = false;
    const sending = wallet.send({ key: 'deep', to: freshAddress(), data: '0x' }).finally(() => {
      done = true;
    });
    await until(async () => (await bench.mined(account.address)).length === 1, 'mined');
    await bench.chain.mine();
    await new Promise((pause) => setTimeout(pause, 100));
    expect(done).toBe(false);
    await bench.chain.mine();
    expect((await sending).nonce).toBe(0);
  });
});

describe('a wallet after a failure', () => {
  it('throws CHAIN_UNREACHABLE, and continues with the same transaction on retry', async () => {
    const { account } = await bench.newAccount();
    const proxy = await rpcProxy(bench.chain.rpcUrl);
    const wallet = await bench.wallet(account, { chain: { rpcUrl: `${proxy.url}/v2/secret-access-key` } });
    proxy.hooks.onRequest = ({ method }) => (method === 'eth_sendRawTransaction' ? 'drop' : undefined);
    const call = { key: 'down', to: freshAddress(), data: '0x', value: 1n } as const;
    const error = await wallet.send(call).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'CHAIN_UNREACHABLE', retryable: true });
    expect(`${error.message} ${error.stack} ${error.cause.message} ${error.cause.stack}`).not.toContain('secret-access-key');
    const reserved = await bench.journal.find('84532:attester:down');
    proxy.hooks.onRequest = undefined;
    expect((await wallet.send(call)).hash).toBe(reserved?.attempts[0].hash);
    expect(await bench.balance(call.to)).toBe(1n);
    await proxy.close();
  });

  it('tolerates a failed request during a wait', async () => {
    const { account } = await bench.newAccount();
    let failures = 3;
    const proxy = await rpcProxy(bench.chain.rpcUrl, {
      onRequest: ({ method }) => (method === 'eth_getTransactionReceipt' && failures-- > 0 ? 'drop' : undefined),
    });
    const wallet = await bench.wallet(account, { chain: { rpcUrl: proxy.url } });
    expect((await wallet.send({ key: 'hiccup', to: freshAddress(), data: '0x' })).nonce).toBe(0);
    await proxy.close();
  });

  it('throws after its timeout without abandoning the transaction', async () => {
    const { account } = await bench.newAccount();
    const wallet = await bench.wallet(account, { timeoutMs: 100 });
    const call = { key: 'slow', to: freshAddress(), data: '0x', value: 1n } as const;
    await bench.chain.automine(false);
    await expect(wallet.send(call)).rejects.toMatchObject({ code: 'TRANSACTION_UNCONFIRMED', retryable: true });
    await bench.chain.automine(true);
    await bench.chain.mine();
    await wallet.send(call);
    expect(await bench.mined(account.address)).toHaveLength(1);
  });

  it('aborts the wait at shutdown', async () => {
    const { account } = await bench.newAccount();
    const stop = new AbortController();
    const wallet = await bench.wallet(account, { signal: stop.signal });
    await bench.chain.automine(false);
    const sending = wallet.send({ key: 'stopped', to: freshAddress(), data: '0x' });
    const refused = expect(sending).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await until(async () => (await bench.journal.find('84532:attester:stopped')) !== null, 'reserved');
    stop.abort();
    await refused;
    await bench.chain.automine(true);
    await bench.chain.mine();
  });

  it('reports missing funds for gas, and sends after funding', async () => {
    const { account } = await bench.newAccount();
    await bench.chain.rpc('anvil_setBalance', account.address, '0x1');
    const wallet = await bench.wallet(account);
    const call = { key: 'poor', to: freshAddress(), data: '0x' } as const;
    await expect(wallet.send(call)).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringMatching(/insufficient/i) });
    await bench.chain.rpc('anvil_setBalance', account.address, '0xde0b6b3a7640000');
    expect((await wallet.send(call)).nonce).toBe(0);
  });

  it('stores no private key in the journal', async () => {
    const { account, key } = await bench.newAccount();
    await (await bench.wallet(account)).send({ key: 'secret', to: freshAddress(), data: '0x' });
    expect(JSON.stringify(await bench.rows.find().toArray())).not.toContain(key.slice(2));
  });
});
