import { type Hex, hashMessage, parseSignature, serializeCompactSignature, serializeSignature, signatureToCompactSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../../src/chain/client.ts';
import { isSignedBy } from '../../../src/chain/contracts.ts';
import { type TestChain, testChain } from '../../support/chain/chain.ts';
import { type WalletBehaviour, walletFactory } from '../../support/chain/contract-wallet.ts';
import { rpcProxy } from '../../support/chain/rpc-proxy.ts';

const owner = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
const message = 'a text';
const hash = hashMessage(message);

let test: TestChain;
let chain: Chain;
let wallets: Awaited<ReturnType<typeof walletFactory>>;
let signature: Hex;
beforeAll(async () => {
  test = await testChain();
  chain = await test.connect();
  wallets = await walletFactory(chain, test.rpcUrl, test.accounts.stranger);
  signature = await owner.signMessage({ message });
});
afterAll(() => test.stop());

describe('an EOA signature', () => {
  it('is verified without a chain read', async () => {
    const proxy = await rpcProxy(test.rpcUrl);
    const proxied = await test.connect({ rpcUrl: proxy.url });
    proxy.counts.clear();
    expect(await isSignedBy(proxied, { wallet: owner.address, hash, signature })).toBe(true);
    expect(await isSignedBy(proxied, { wallet: owner.address.toLowerCase() as Hex, hash, signature })).toBe(true);
    expect(proxy.counts.size).toBe(0);
    await proxy.close();
  });

  it('is valid with either encoding of its parity', async () => {
    const { r, s, yParity } = parseSignature(signature);
    expect(await isSignedBy(chain, { wallet: owner.address, hash, signature: serializeSignature({ r, s, yParity }) })).toBe(true);
    const bare: Hex = `${signature.slice(0, -2) as Hex}0${yParity}`;
    expect(await isSignedBy(chain, { wallet: owner.address, hash, signature: bare })).toBe(true);
  });

  it('is valid in the compact form (EIP-2098), for one of several hashes too, and for no other wallet or hash', async () => {
    const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
    const others = [hashMessage('another'), hashMessage('a third')];
    expect(await isSignedBy(chain, { wallet: owner.address, hash, signature: compact })).toBe(true);
    expect(await isSignedBy(chain, { wallet: owner.address, hash: [...others, hash], signature: compact })).toBe(true);
    expect(await isSignedBy(chain, { wallet: owner.address, hash: others, signature: compact })).toBe(false);
    expect(await isSignedBy(chain, { wallet: stranger.address, hash: [hash], signature: compact })).toBe(false);
  });

  it.each([
    ['of somebody else', async () => ({ wallet: owner.address, hash, signature: await stranger.signMessage({ message }) })],
    ['over another text', async () => ({ wallet: owner.address, hash: hashMessage('another'), signature })],
    ['of one byte', async () => ({ wallet: owner.address, hash, signature: '0x00' as Hex })],
    ['of zeros', async () => ({ wallet: owner.address, hash, signature: `0x${'00'.repeat(65)}` as Hex })],
    ['cut short', async () => ({ wallet: owner.address, hash, signature: signature.slice(0, -4) as Hex })],
    ['for the zero address', async () => ({ wallet: `0x${'0'.repeat(40)}` as Hex, hash, signature: `0x${'11'.repeat(64)}1b` as Hex })],
  ])('is not one: %s', async (_, signed) => {
    expect(await isSignedBy(chain, await signed())).toBe(false);
  });
});

describe('a contract wallet signature', () => {
  it('is valid when the contract accepts it', async () => {
    const { address: wallet, deploy } = await wallets(owner.address);
    await deploy();
    expect(await isSignedBy(chain, { wallet, hash, signature })).toBe(true);
    expect(await isSignedBy(chain, { wallet, hash: hashMessage('another'), signature })).toBe(false);
    expect(await isSignedBy(chain, { wallet, hash, signature: await stranger.signMessage({ message }) })).toBe(false);
  });

  it('is valid before deployment with ERC-6492, and deploys nothing', async () => {
    const { address: wallet, wrapped } = await wallets(stranger.address);
    const own = await stranger.signMessage({ message });
    expect(await isSignedBy(chain, { wallet, hash, signature: wrapped(own) })).toBe(true);
    expect(await isSignedBy(chain, { wallet, hash, signature: wrapped(signature) })).toBe(false);
    expect(await isSignedBy(chain, { wallet, hash, signature: own })).toBe(false);
    expect(await isSignedBy(chain, { wallet: owner.address, hash, signature: wrapped(own) })).toBe(false);
    expect(await chain.client.getCode({ address: wallet })).toBeUndefined();
  });

  it.each<WalletBehaviour>(['reverts', 'never ends', 'invalid', 'wrong answer'])('is none where the contract %s', async (behaviour) => {
    const { address: wallet, deploy, wrapped } = await wallets(owner.address, behaviour);
    expect(await isSignedBy(chain, { wallet, hash, signature: wrapped(signature) })).toBe(false);
    await deploy();
    expect(await isSignedBy(chain, { wallet, hash, signature })).toBe(false);
  });

  it('is checked from a caller that no account treats as a fee estimate', async () => {
    const { address: wallet, deploy } = await wallets(owner.address, 'trusts fee estimates');
    await deploy();
    expect(await isSignedBy(chain, { wallet, hash, signature: await stranger.signMessage({ message }) })).toBe(false);
    expect(await isSignedBy(chain, { wallet, hash, signature })).toBe(true);
  });
});

describe('a slow check', () => {
  it('times out and aborts its request', async () => {
    const proxy = await rpcProxy(test.rpcUrl);
    const proxied = await test.connect({ rpcUrl: proxy.url });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    proxy.hooks.onRequest = () => released.then(() => 'drop' as const);
    const asked = isSignedBy(proxied, { wallet: stranger.address, hash, signature }, 50);
    await expect(asked).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE', message: expect.stringContaining('within 50 ms') });
    release();
    await proxy.close();
    expect(proxy.counts.get('eth_call')).toBe(1);
  });

  it('uses no more gas than its limit', async () => {
    const proxy = await rpcProxy(test.rpcUrl);
    const proxied = await test.connect({ rpcUrl: proxy.url });
    const gas: unknown[] = [];
    proxy.hooks.onRequest = ({ method, params: [call] }) => {
      if (method === 'eth_call') gas.push(Number((call as { gas: Hex }).gas));
      return undefined;
    };
    const { address: wallet, deploy } = await wallets(stranger.address, 'never ends');
    await deploy();
    expect(await isSignedBy(proxied, { wallet, hash, signature })).toBe(false);
    expect(gas).toEqual([3_000_000]);
    await proxy.close();
  });
});

describe('an unreachable chain', () => {
  it('throws instead of rejecting the signature', async () => {
    const proxy = await rpcProxy(test.rpcUrl);
    const proxied = await test.connect({ rpcUrl: proxy.url });
    const asked = () => isSignedBy(proxied, { wallet: stranger.address, hash, signature });
    proxy.hooks.onRequest = () => 'drop';
    await expect(asked()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    proxy.hooks.onRequest = () => ({ error: { code: -32_005, message: 'limit exceeded' } });
    await expect(asked()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' });
    proxy.hooks.onRequest = undefined;
    expect(await asked()).toBe(false);
    await proxy.close();
  });
});
