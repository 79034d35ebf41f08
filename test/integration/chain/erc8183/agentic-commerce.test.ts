import { type BaseError, ContractFunctionRevertedError, keccak256, type LocalAccount, stringToHex, zeroAddress, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployContracts } from '../../../../src/dev/local-chain/contracts.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { commerceAbi, type JobClient, jobClient } from '../../../support/commerce/job-client.ts';

const PRICE = 1_000_000n;
const HASH = keccak256(stringToHex('delivered'));
const HOUR = 3_600;
const STATES = ['Open', 'Funded', 'Submitted', 'Completed', 'Rejected', 'Expired'] as const;

let chain: TestChain;
let parties: Record<'client' | 'provider' | 'evaluator' | 'stranger', JobClient>;
let accounts: Record<keyof typeof parties, LocalAccount>;

beforeAll(async () => {
  chain = await testChain();
  const { attester: client, provider, reporter: evaluator, stranger } = chain.accounts;
  accounts = { client, provider, evaluator, stranger };
  const { agentCommerce: contract, stablecoin } = chain.addresses;
  const world = { rpcUrl: chain.rpcUrl, contract: contract!, stablecoin, provider: provider.address };
  const party = (who: keyof typeof parties) => jobClient(world, accounts[who]);
  parties = { client: party('client'), provider: party('provider'), evaluator: party('evaluator'), stranger: party('stranger') };
});
afterAll(() => chain?.stop());

/** A job in a state, by its legal way there. */
async function jobIn(state: (typeof STATES)[number]): Promise<bigint> {
  const { client, provider, evaluator } = parties;
  const id = await client.create({ evaluator: evaluator.address });
  if (state === 'Open') return id;
  if (state === 'Rejected') {
    await client.reject(id);
    return id;
  }
  await provider.call('setBudget', [id, PRICE, '0x']);
  await client.fund(id, PRICE);
  if (state === 'Expired') {
    await chain.rpc('evm_increaseTime', HOUR + 1);
    await parties.stranger.call('claimRefund', [id]);
    return id;
  }
  if (state === 'Funded') return id;
  await provider.call('submit', [id, HASH, '0x']);
  if (state === 'Completed') await evaluator.complete(id);
  return id;
}

/** The name of the error that a call reverts with; null when it would succeed. */
async function revertOf(who: keyof typeof parties, functionName: string, args: unknown[]): Promise<string | null> {
  const { client } = await chain.connect();
  const call = { address: chain.addresses.agentCommerce!, abi: commerceAbi, functionName, args, account: accounts[who] };
  try {
    await client.simulateContract(call as unknown as Parameters<typeof client.simulateContract>[0]);
    return null;
  } catch (error) {
    const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError);
    return (reverted as ContractFunctionRevertedError).data?.errorName ?? 'unnamed';
  }
}

const CALLS: Record<string, (id: bigint) => unknown[]> = {
  setProvider: (id) => [id, accounts.stranger.address],
  setBudget: (id) => [id, PRICE, '0x'],
  fund: (id) => [id, PRICE, '0x'],
  submit: (id) => [id, HASH, '0x'],
  complete: (id) => [id, zeroHash, '0x'],
  reject: (id) => [id, zeroHash, '0x'],
  claimRefund: (id) => [id],
};

/** Who may do what in which state; everything else reverts. Funding an open job needs a budget, a refund the expiry. */
const ALLOWED: Record<(typeof STATES)[number], string[]> = {
  Open: ['client setBudget', 'provider setBudget', 'client reject'],
  Funded: ['provider submit', 'evaluator reject'],
  Submitted: ['evaluator complete', 'evaluator reject'],
  Completed: [],
  Rejected: [],
  Expired: [],
};

describe('the job contract of the local chain', () => {
  it.each(STATES)('rejects in the state %s every call that the ERC does not allow', async (state) => {
    const id = await jobIn(state);
    const { status } = await parties.client.job(id);
    expect(STATES[status]).toBe(state);
    const possible: string[] = [];
    for (const who of Object.keys(parties) as (keyof typeof parties)[]) {
      for (const [name, args] of Object.entries(CALLS)) {
        if ((await revertOf(who, name, args(id))) === null) possible.push(`${who} ${name}`);
      }
    }
    expect(possible.toSorted()).toEqual(ALLOWED[state].toSorted());
  });

  it('rejects a job without an evaluator, an expiry within five minutes, and an unknown job', async () => {
    const { timestamp } = await (await chain.connect()).client.getBlock();
    const create = (evaluator: string, expiry: bigint) => [accounts.provider.address, evaluator, timestamp + expiry, 'x', zeroAddress];
    expect(await revertOf('client', 'createJob', create(zeroAddress, 3_600n))).toBe('ZeroAddress');
    expect(await revertOf('client', 'createJob', create(accounts.evaluator.address, 290n))).toBe('ExpiryTooShort');
    expect(await revertOf('client', 'createJob', create(accounts.evaluator.address, 400n))).toBeNull();
    for (const [name, args] of Object.entries(CALLS)) expect(await revertOf('client', name, args(999n))).toBe('InvalidJob');
  });

  it('accepts only the agreed budget', async () => {
    const { client, provider } = parties;
    const id = await client.create({ provider: zeroAddress });
    expect(await revertOf('client', 'fund', [id, PRICE, '0x'])).toBe('ProviderNotSet');
    expect(await revertOf('client', 'setProvider', [id, zeroAddress])).toBe('ZeroAddress');
    await client.call('setProvider', [id, provider.address]);
    expect(await revertOf('client', 'fund', [id, 0n, '0x'])).toBe('ZeroBudget');
    await provider.call('setBudget', [id, PRICE, '0x']);
    expect(await revertOf('client', 'fund', [id, PRICE - 1n, '0x'])).toBe('BudgetMismatch');
  });

  it('pays the provider on completion, and refunds the client on rejection and after expiry', async () => {
    const { client, provider, evaluator } = parties;
    const before = await client.coins(provider.address);
    const held = await client.coins(chain.addresses.agentCommerce!);
    await jobIn('Completed');
    expect((await client.coins(provider.address)) - before).toBe(PRICE);

    const refunds = await client.coins(client.address);
    await evaluator.reject(await jobIn('Submitted'));
    const waiting = await jobIn('Submitted');
    expect(await revertOf('stranger', 'claimRefund', [waiting])).toBe('NotExpired');
    await chain.rpc('evm_increaseTime', HOUR + 1);
    await parties.stranger.call('claimRefund', [waiting]);
    expect((await client.coins(client.address)) - refunds).toBe(2n * PRICE);
    expect(await client.coins(chain.addresses.agentCommerce!)).toBe(held);
  });

  it('is deployed once to a local chain of an earlier version', async () => {
    const { agentCommerce } = chain.addresses;
    const code = await chain.rpc<string>('eth_getCode', agentCommerce, 'latest');
    await chain.rpc('anvil_setCode', agentCommerce, '0x');
    await chain.rpc('anvil_setNonce', agentCommerce, '0x0');
    expect(await deployContracts(chain.rpcUrl, chain.deployer)).toEqual(chain.addresses);
    expect(await chain.rpc('eth_getCode', agentCommerce, 'latest')).toBe(code);
    const nonce = await chain.rpc('eth_getTransactionCount', chain.deployer.address, 'latest');
    await deployContracts(chain.rpcUrl, chain.deployer);
    expect(await chain.rpc('eth_getTransactionCount', chain.deployer.address, 'latest')).toBe(nonce);
  });
});
