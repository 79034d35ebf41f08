import {
  type Hex,
  hexToBigInt,
  hexToNumber,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
  type TransactionSerializableEIP1559,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSigner, openSigners, type SignerConfig } from '../../../../src/app/chain.ts';
import type { SignerSources } from '../../../../src/app/infrastructure.ts';
import { createRoleSigner, createWeb3SignerBackend, createWeb3SignerRpc, type SignerSource } from '../../../../src/chain/signers.ts';
import { CHAIN_ID, testSigner } from '../../../support/signers/signer-suite.ts';
import { type Answer, startWeb3Signer, type TestWeb3Signer } from '../../../support/signers/web3signer.ts';

const KEYS = Array.from({ length: 5 }, generatePrivateKey);
const [account, other] = KEYS.map((key) => privateKeyToAccount(key));
const CONFIG = { CHAIN_ID } as SignerConfig;
const TRANSACTION: TransactionSerializableEIP1559 = {
  ...{ type: 'eip1559', chainId: CHAIN_ID, nonce: 3, to: other!.address, value: 5n, data: '0xabcd' },
  ...{ gas: 50_000n, maxFeePerGas: 2_000n, maxPriorityFeePerGas: 7n },
};

let server: TestWeb3Signer;
beforeAll(async () => {
  server = await startWeb3Signer(KEYS, CHAIN_ID);
});
afterAll(() => server.close());
afterEach(() => {
  server.answer = null;
  server.calls.length = 0;
});

const open = (timeoutMs?: number) =>
  createRoleSigner('attester', createWeb3SignerBackend(createWeb3SignerRpc(server.url, timeoutMs), account!.address));
const unavailable = (cause: string) =>
  expect.objectContaining({
    code: 'SIGNER_UNAVAILABLE',
    retryable: true,
    cause: expect.objectContaining({ message: expect.stringContaining(cause) }),
  });

testSigner('a Web3Signer', async () => {
  const own = await startWeb3Signer(KEYS, CHAIN_ID);
  const source: SignerSource = { kind: 'web3signer', url: own.url, address: account!.address };
  return { signer: await openSigner(CONFIG, 'provider', source), address: account!.address, close: () => own.close() };
});

describe('a Web3Signer that lies', () => {
  it.each([
    ['chainId', { chainId: 1 }],
    ['nonce', { nonce: 4 }],
    ['to', { to: account!.address }],
    ['value', { value: 6n }],
    ['data', { data: '0xabce' }],
    ['gas', { gas: 50_001n }],
    ['maxFeePerGas', { maxFeePerGas: 2_001n }],
    ['maxPriorityFeePerGas', { maxPriorityFeePerGas: 8n }],
  ] as const)('gets no transaction with another %s accepted', async (field, change) => {
    server.answer = async () => ({ result: await account!.signTransaction({ ...TRANSACTION, ...change }) });
    await expect(open().account.signTransaction(TRANSACTION)).rejects.toEqual(unavailable(`another ${field}`));
  });

  it('gets no access list, legacy transaction, unsigned one or another wallet accepted', async () => {
    const accessList = [{ address: other!.address, storageKeys: [] }];
    const { chainId, nonce, to, data, gas } = TRANSACTION;
    const answers: [Promise<Hex>, string][] = [
      [account!.signTransaction({ ...TRANSACTION, accessList }), 'an access list'],
      [account!.signTransaction({ type: 'legacy', chainId, nonce, to, data, gas, gasPrice: 2_000n }), 'no EIP-1559'],
      [other!.signTransaction(TRANSACTION), 'not of the wallet'],
      [Promise.resolve('0x02c0'), 'cannot be read'],
    ];
    for (const [raw, words] of answers) {
      server.answer = async () => ({ result: await raw });
      await expect(open().account.signTransaction(TRANSACTION)).rejects.toEqual(unavailable(words));
    }
  });

  it('gets no signature of another message, another wallet or of another length accepted', async () => {
    const answers = [await account!.signMessage({ message: 'b' }), await other!.signMessage({ message: 'a' }), '0x1234', 7, null];
    for (const result of answers) {
      server.answer = () => ({ result });
      await expect(open().account.signMessage({ message: 'a' })).rejects.toEqual(unavailable('its '));
    }
  });
});

describe('a Web3Signer that answers with 64 bytes', () => {
  const toCompact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));

  it('has its signatures accepted, of either parity', async () => {
    // Half of all signatures have the parity in the first bit of `s` (EIP-2098).
    for (const message of Array.from({ length: 8 }, (_, index) => `message ${index}`)) {
      const signature = await account!.signMessage({ message });
      server.answer = () => ({ result: toCompact(signature) });
      expect(await open().account.signMessage({ message })).toBe(signature);
    }
  });

  it('has those of typed data accepted, and none of another wallet', async () => {
    const typed = {
      domain: { chainId: CHAIN_ID },
      types: { A: [{ name: 'b', type: 'uint256' }] },
      primaryType: 'A',
      message: { b: 1n },
    } as const;
    const [own, foreign] = await Promise.all([account!, other!].map((signer) => signer.signTypedData(typed)));
    server.answer = () => ({ result: toCompact(own!) });
    expect(await open().account.signTypedData(typed)).toBe(own);
    server.answer = () => ({ result: toCompact(foreign!) });
    await expect(open().account.signTypedData(typed)).rejects.toEqual(unavailable('not of the wallet'));
  });
});

describe('a Web3Signer that fails', () => {
  it('is asked again after a status of 429 or 5xx, twice', async () => {
    for (const status of [429, 500, 503]) {
      const statuses = [status, status];
      server.answer = () => (statuses.length > 0 ? { status: statuses.pop()!, body: 'busy' } : undefined);
      await open().account.signTransaction(TRANSACTION);
      expect(server.calls.splice(0)).toEqual(Array(3).fill('eth_signTransaction'));
    }
    server.answer = () => ({ status: 503, body: '' });
    await expect(open().account.signTransaction(TRANSACTION)).rejects.toEqual(unavailable('HTTP status 503'));
    expect(server.calls).toHaveLength(3);
  });

  it.each([
    ['an error', { error: { code: -32_000, message: 'No unlocked account matches the Sender' } }, 'error -32000'],
    ['no JSON', { status: 200, body: '<html>' }, 'no JSON-RPC'],
    ['a redirect', { status: 302, body: '' }, 'HTTP status 302'],
    ['nothing in time', 'silent', 'no answer within 50 ms'],
  ] as [string, Answer, string][])('is asked once when it answers %s', async (_what, answer, words) => {
    server.answer = () => answer;
    await expect(open(50).account.signTransaction(TRANSACTION)).rejects.toEqual(unavailable(words));
    expect(server.calls).toHaveLength(1);
  });
});

describe('the start', () => {
  const sources = (change: Partial<SignerSources> = {}): SignerSources => {
    const [attester, reporter, provider, facilitator] = KEYS.map(
      (key): SignerSource => ({ kind: 'web3signer', url: server.url, address: privateKeyToAccount(key).address }),
    );
    return { attester: attester!, reporter: reporter!, provider: provider!, facilitator: facilitator!, ...change };
  };
  const refusal = (field: string, words: string) =>
    expect.objectContaining({ code: 'CONFIG_INVALID', field, message: expect.stringContaining(words) });

  it('opens four roles of one Web3Signer', async () => {
    const signers = await openSigners(CONFIG, sources());
    expect(signers.provider.account.address).toBe(privateKeyToAccount(KEYS[2]!).address);
    expect(server.calls.filter((method) => method === 'eth_signTypedData')).toHaveLength(1);
  });

  it('spells a wallet as a key of this process does, whatever the settings have', async () => {
    const address = account!.address.toLowerCase() as Hex;
    const signer = await openSigner(CONFIG, 'attester', { kind: 'web3signer', url: server.url, address });
    expect(signer.account.address).toBe(account!.address);
  });

  it('signs nothing for the check that could be sent', async () => {
    const asked: Record<string, Hex>[] = [];
    server.answer = ({ method, params }) => {
      if (method === 'eth_signTransaction') asked.push(params[0] as Record<string, Hex>);
      return undefined;
    };
    await openSigners(CONFIG, sources());
    expect(asked).toHaveLength(4);
    for (const { from, to, value, nonce } of asked) {
      expect({ to, value: hexToBigInt(value!), nonce: hexToNumber(nonce!) }).toEqual({
        to: from,
        value: 0n,
        nonce: Number.MAX_SAFE_INTEGER,
      });
    }
  });

  it('names the provider when its signer has no typed data, and the role whose chain is another', async () => {
    server.answer = ({ method }) =>
      method === 'eth_signTypedData' ? { error: { code: -32_601, message: 'Method not found' } } : undefined;
    await expect(openSigners(CONFIG, sources())).rejects.toEqual(refusal('PROVIDER_SIGNER', 'eth_signTypedData: error -32601'));
    server.answer = null;
    const elsewhere = await startWeb3Signer(KEYS, 1);
    const reporter = { ...sources().reporter, url: elsewhere.url } as SignerSource;
    await expect(openSigners(CONFIG, sources({ reporter }))).rejects.toEqual(refusal('REPORTER_SIGNER', 'another chainId'));
    await elsewhere.close();
  });

  it('names a wallet in two roles, and a key whose address is another', async () => {
    const shared = { kind: 'key', privateKey: KEYS[0]! } as const;
    await expect(openSigners(CONFIG, sources({ provider: shared }))).rejects.toEqual(
      refusal('PROVIDER_SIGNER', 'has the wallet of the attester'),
    );
    const wrong = { kind: 'key', privateKey: KEYS[4]!, address: account!.address } as const;
    await expect(openSigners(CONFIG, sources({ facilitator: wrong }))).rejects.toEqual(
      refusal('FACILITATOR_ADDRESS', 'the wallet of the facilitator is'),
    );
  });

  it('can be repeated after a signer that does not answer', async () => {
    const reporter = { ...sources().reporter, url: 'http://127.0.0.1:9/' } as SignerSource;
    await expect(openSigners(CONFIG, sources({ reporter }))).rejects.toMatchObject({ code: 'SIGNER_UNAVAILABLE', retryable: true });
  });
});
