import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex, numberToHex, zeroAddress, zeroHash } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EAS_ADDRESS, SCHEMA_REGISTRY_ADDRESS } from '../../../../src/chain/addresses.ts';
import { easAbi, schemaRegistryAbi } from '../../../../src/chain/eas/abi.ts';
import { EAS_SCHEMAS, getSchemaUid } from '../../../../src/chain/eas/attestation-schemas.ts';
import { deployContracts } from '../../../../src/dev/local-chain/contracts/deploy.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts/send-transactions.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/json-rpc.ts';
import { type LocalChain, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
import { listAttestationSlots } from '../../../../src/dev/local-chain/rpc/attestation-slots.ts';
import { deriveAttestationUid } from '../../../../src/verify/attestation-uid.ts';
import { removeFolder } from '../../../support/docs/folders.ts';

const deployer = privateKeyToAccount(generatePrivateKey());
const transfer = (value: bigint) => encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [`0x${'7'.repeat(40)}`, value] });

let stateDir: string;
let chain: LocalChain;
let token: Address;
beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'local-chain-'));
  chain = await startLocalChain({ stateDir });
  token = (await deployContracts(chain.rpcUrl, deployer)).gateToken;
});
afterAll(async () => {
  await chain.stop();
  await removeFolder(stateDir);
});

const rpc = <T = Hex>(method: string, ...params: unknown[]) => callJsonRpc<T>(chain.rpcUrl, method, ...params);
const mine = async (blocks: number) => {
  for (let block = 0; block < blocks; block++) await rpc('evm_mine');
};

describe('a gas estimate', () => {
  it('suffices for the transaction, and little less does not', async () => {
    const call = { from: deployer.address, to: token, data: transfer(1n) };
    const gas = Number(await rpc('eth_estimateGas', call));
    expect(gas).toBeGreaterThan(21_000);
    expect(gas).toBeLessThan(80_000);
    await expect(rpc('eth_call', { ...call, gas: numberToHex(gas) }, 'pending')).resolves.toBeDefined();
    await expect(rpc('eth_call', { ...call, gas: numberToHex(Math.floor(gas * 0.9)) }, 'pending')).rejects.toThrow();
  });

  it('of a call that reverts is the error of the node', async () => {
    const call = { from: `0x${'8'.repeat(40)}`, to: token, data: transfer(1n) };
    await expect(rpc('eth_estimateGas', call)).rejects.toMatchObject({
      code: 'CHAIN_REVERTED',
      message: expect.stringContaining('reverted'),
    });
  });
});

describe('a read at a block', () => {
  it('that was the newest just now is answered', async () => {
    const height = await rpc('eth_blockNumber');
    await mine(2);
    expect(Number(await rpc('eth_getBalance', deployer.address, height))).toBeGreaterThan(0);
    expect(await rpc('eth_getCode', token, height)).not.toBe('0x');
  });

  it('counts the transactions up to it', async () => {
    const height = await rpc('eth_blockNumber');
    const count = Number(await rpc('eth_getTransactionCount', deployer.address, 'latest'));
    await sendTransactions(chain.rpcUrl, deployer, [
      { to: token, data: transfer(1n) },
      { to: token, data: transfer(2n) },
    ]);
    const counts = await Promise.all(
      [0, 1, 2].map((later) => rpc('eth_getTransactionCount', deployer.address, numberToHex(Number(height) + later))),
    );
    expect(counts.map(Number)).toEqual([count, count + 1, count + 2]);
  });

  it('long past is an error', async () => {
    const height = await rpc('eth_blockNumber');
    await mine(9);
    await expect(rpc('eth_getBalance', deployer.address, height)).rejects.toThrow('BlockOutOfRange');
    await expect(rpc('eth_getBalance', deployer.address, '0x99999')).rejects.toThrow('BlockOutOfRange');
  });
});

describe('an attestation, whose new slots are set before its estimate', () => {
  const schema = getSchemaUid('prediction');
  const item = { recipient: zeroAddress, expirationTime: 0n, revocable: false, refUID: zeroHash, value: 0n };
  const contents: Hex[] = [`0x${'01'.repeat(256)}`, `0x${'02'.repeat(33)}`, `0x${'03'.repeat(32)}`];
  const args = [[{ schema, data: contents.map((data) => ({ ...item, data })) }]] as const;
  const request = { from: deployer.address, to: EAS_ADDRESS, data: encodeFunctionData({ abi: easAbi, functionName: 'multiAttest', args }) };
  /** As the service does: not through the endpoint of other programs. */
  const call = async <T = Hex>(method: string, ...params: unknown[]): Promise<T> => {
    const response = await chain.fetch(chain.rpcUrl, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
    return ((await response.json()) as { result: T }).result;
  };
  const readContent = async (data: Hex, time: number) => {
    const uid = deriveAttestationUid({ ...item, schema, attester: deployer.address, time: BigInt(time), data });
    const input = encodeFunctionData({ abi: easAbi, functionName: 'getAttestation', args: [uid] });
    const output = await call('eth_call', { to: EAS_ADDRESS, data: input }, 'latest');
    return decodeFunctionResult({ abi: easAbi, functionName: 'getAttestation', data: output }).data;
  };
  const readContents = (time: number) => Promise.all(contents.map((data) => readContent(data, time)));

  beforeAll(async () => {
    const fields = [EAS_SCHEMAS.prediction, zeroAddress, false] as const;
    const data = encodeFunctionData({ abi: schemaRegistryAbi, functionName: 'register', args: fields });
    await sendTransactions(chain.rpcUrl, deployer, [{ to: SCHEMA_REGISTRY_ADDRESS, data }]);
  });

  it('takes those slots and no others', async () => {
    const time = Math.floor((await chain.readLastBlockMs()) / 1000) + 60;
    await chain.setNextBlockTime(time * 1000, { attestsAlone: true });
    const { accessList } = await call<{ accessList: { address: Address; storageKeys: Hex[] }[] }>(
      'eth_createAccessList',
      request,
      'pending',
    );
    const touched = accessList.find(({ address }) => address === EAS_ADDRESS)!.storageKeys;
    expect(touched.length).toBeGreaterThan(3 * 8);
    expect([...touched].sort()).toEqual(listAttestationSlots(request, time).sort());
  });

  it('is kept when the same is estimated again at the time of its block', async () => {
    const time = Math.floor((await chain.readLastBlockMs()) / 1000) + 120;
    await chain.setNextBlockTime(time * 1000, { attestsAlone: true });
    const gas = await call('eth_estimateGas', request);
    const nonce = Number(await call('eth_getTransactionCount', deployer.address, 'latest'));
    const fees = { maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 0n };
    const fields = { type: 'eip1559', chainId: chain.chainId, gas: (BigInt(gas) * 12n) / 10n, nonce, ...fees } as const;
    await call('eth_sendRawTransaction', await deployer.signTransaction({ ...fields, to: EAS_ADDRESS, data: request.data }));
    expect(await readContents(time)).toEqual(contents);
    await chain.setNextBlockTime(time * 1000, { attestsAlone: true });
    expect(Number(await call('eth_estimateGas', request))).toBeGreaterThan(0);
    expect(await readContents(time)).toEqual(contents);
  });
});
