import { randomBytes } from 'node:crypto';
import { encodeFunctionData, type Hex, numberToHex, parseAbi, parseSignature } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EAS_ADDRESS } from '../../../../src/chain/addresses.ts';
import { readStablecoin } from '../../../../src/chain/stablecoin.ts';
import { sendTransactions } from '../../../../src/dev/local-chain/contracts.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { AUTHORIZATION_TYPES } from '../../../support/commerce/x402.ts';
import { testService } from '../../../support/service/service.ts';

const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function version() view returns (string)',
  'function eip712Domain() view returns (bytes1, string name, string version, uint256 chainId, address verifyingContract, bytes32, uint256[])',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

let chain: TestChain;
beforeAll(async () => {
  chain = await testChain();
  const data = encodeFunctionData({ abi, functionName: 'mint', args: [chain.accounts.stranger.address, 1_000_000n] });
  await sendTransactions(chain.rpcUrl, chain.deployer, [{ to: chain.addresses.stablecoin, data }]);
});
afterAll(() => chain.stop());

/** An ERC-3009 authorization of 250,000 units by another wallet to the provider, with the domain of USDC on Base. */
async function authorize() {
  const { stablecoin } = chain.addresses;
  const now = BigInt(Math.floor(Date.now() / 1000));
  const message = {
    from: chain.accounts.stranger.address,
    to: chain.accounts.provider.address,
    value: 250_000n,
    validAfter: now - 600n,
    validBefore: now + 600n,
    nonce: `0x${randomBytes(32).toString('hex')}` as Hex,
  };
  const domain = { name: 'USDC', version: '2', chainId: 84532, verifyingContract: stablecoin } as const;
  const request = { domain, types: AUTHORIZATION_TYPES, primaryType: 'TransferWithAuthorization', message } as const;
  const signature = await chain.accounts.stranger.signTypedData(request);
  const { from, to, value, validAfter, validBefore, nonce } = message;
  return { args: [from, to, value, validAfter, validBefore, nonce] as const, nonce, signature };
}

async function settle(data: Hex): Promise<void> {
  await sendTransactions(chain.rpcUrl, chain.accounts.facilitator, [{ to: chain.addresses.stablecoin, data }]);
}

describe('the stablecoin of the local chain', () => {
  it('matches USDC on Base Sepolia', async () => {
    const { client } = await chain.connect();
    const call = { address: chain.addresses.stablecoin, abi } as const;
    expect(await client.readContract({ ...call, functionName: 'decimals' })).toBe(6);
    expect(await client.readContract({ ...call, functionName: 'version' })).toBe('2');
    const [, name, version, chainId] = await client.readContract({ ...call, functionName: 'eip712Domain' });
    expect([name, version, chainId]).toEqual(['USDC', '2', 84532n]);
  });

  it('executes an authorization by signature bytes and by signature parts, each once', async () => {
    const { client } = await chain.connect();
    const call = { address: chain.addresses.stablecoin, abi } as const;
    const [one, other] = await Promise.all([authorize(), authorize()]);
    const { r, s, yParity } = parseSignature(other.signature);
    const functionName = 'transferWithAuthorization';
    await settle(encodeFunctionData({ abi, functionName, args: [...one.args, one.signature] }));
    await settle(encodeFunctionData({ abi, functionName, args: [...other.args, 27 + yParity, r, s] }));
    const again = settle(encodeFunctionData({ abi, functionName, args: [...one.args, one.signature] }));
    await expect(again).rejects.toMatchObject({ code: 'CHAIN_REVERTED' });
    expect(await client.readContract({ ...call, functionName: 'balanceOf', args: [chain.accounts.provider.address] })).toBe(500_000n);
    const used = { ...call, functionName: 'authorizationState' } as const;
    expect(await client.readContract({ ...used, args: [chain.accounts.stranger.address, one.nonce] })).toBe(true);
  });

  it('rejects a signature of another key', async () => {
    const { client } = await chain.connect();
    const { args } = await authorize();
    const forged = numberToHex(1, { size: 65 });
    const data = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...args, forged] });
    await expect(client.call({ to: chain.addresses.stablecoin, data })).rejects.toThrow();
  });
});

describe('readStablecoin', () => {
  it('returns the EIP-712 domain of a coin with six decimals', async () => {
    expect(await readStablecoin(await chain.connect(), chain.addresses.stablecoin)).toEqual({ name: 'USDC', version: '2' });
  });

  it('rejects other decimals, and an address without a token', async () => {
    const connected = await chain.connect();
    for (const address of [chain.addresses.gateToken, chain.addresses.eas, chain.accounts.stranger.address]) {
      await expect(readStablecoin(connected, address)).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'STABLECOIN_ADDRESS' });
    }
  });
});

it('startup fails when the payee is a contract of the service', async () => {
  await expect(testService(0, { PAYEE_ADDRESS: EAS_ADDRESS })).rejects.toMatchObject({ code: 'CONFIG_INVALID', field: 'PAYEE_ADDRESS' });
});
