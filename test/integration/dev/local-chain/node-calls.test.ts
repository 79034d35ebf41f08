import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Address, encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callJsonRpc, deployContracts, sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { type LocalChain, startLocalChain } from '../../../../src/dev/local-chain/local-chain.ts';
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
  it('that was the newest just now is answered from its state', async () => {
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

  it('counts an account back beyond the states that are kept', async () => {
    const [height, count] = [await rpc('eth_blockNumber'), await rpc('eth_getTransactionCount', deployer.address, 'latest')];
    await sendTransactions(chain.rpcUrl, deployer, [{ to: token, data: transfer(1n) }]);
    await mine(20);
    expect(await rpc('eth_getTransactionCount', deployer.address, height)).toBe(count);
  });

  it('long past is an error', async () => {
    const height = await rpc('eth_blockNumber');
    await mine(20);
    await expect(rpc('eth_getBalance', deployer.address, height)).rejects.toThrow('BlockOutOfRange');
    await expect(rpc('eth_getBalance', deployer.address, '0x99999')).rejects.toThrow('BlockOutOfRange');
  });
});
