import { type Address, encodeFunctionData, keccak256, parseAbi, stringToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import { reputationAbi } from '../../../../src/chain/erc8004/abi.ts';
import { ensureIdentity, readIdentity, updateAgentUri } from '../../../../src/chain/erc8004/identity.ts';
import { createReporter, readReputation } from '../../../../src/chain/erc8004/reputation.ts';
import { REACHED } from '../../../support/clock/trusted-time.ts';
import { startWalletBench, type WalletBench } from '../tx/wallet-bench.ts';

const feedbackHash = keccak256(stringToHex('evidence'));

let bench: WalletBench;
let chain: Chain;
beforeAll(async () => {
  bench = await startWalletBench();
  chain = await bench.chain.connect();
});
afterAll(() => bench.stop());

const newWallet = async () => bench.wallet((await bench.newAccount()).account);

async function newReporter(agentId: number, role: 'attester' | 'reporter' = 'reporter') {
  const wallet = await bench.wallet((await bench.newAccount()).account, { role });
  return createReporter({ chain, wallet, agentId: async () => agentId });
}

describe('the first agent of a registry', () => {
  it('has id 0, is registered once, and updates its URI', async () => {
    const wallet = await newWallet();
    const first = await ensureIdentity(chain, { agentUri: 'http://one.example/registration.json', wallet });
    expect(first).toMatchObject({ agentId: 0, owner: wallet.address, agentWallet: wallet.address, registeredAt: expect.any(Date) });
    expect(await ensureIdentity(chain, { agentUri: first.agentUri, wallet })).toEqual(first);
    expect(await bench.mined(wallet.address)).toHaveLength(1);
    for (const agentUri of ['http://two.example', 'http://three.example', 'http://two.example']) {
      const found = await ensureIdentity(chain, { agentUri, wallet });
      expect(await updateAgentUri(chain, wallet, found, agentUri)).toEqual({ ...first, agentUri });
    }
    expect(await readIdentity(chain, 0)).toMatchObject({ agentUri: 'http://two.example' });
    expect(await bench.mined(wallet.address)).toHaveLength(4);
  });

  it('is found by its configured id, unless another wallet owns it', async () => {
    const outsider = await newWallet();
    const request = { agentUri: 'http://two.example', wallet: outsider, agentId: 0 };
    await expect(ensureIdentity(chain, request)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('receives feedback from a second wallet', async () => {
    const reporter = await newReporter(0);
    expect(await readReputation(chain, 0, reporter.address)).toEqual({
      total: 0,
      positive: 0,
      averageScore: null,
      reporter: reporter.address,
    });
    for (const [index, outcome] of (['WIN', 'LOSS', 'WIN'] as const).entries()) {
      const sent = await reporter.report(`feedback:${index}`, { outcome, endpoint: 'http://one.example', feedbackHash }, REACHED);
      expect(sent).toEqual({ txHash: expect.stringMatching(/^0x/), at: expect.any(Date), feedbackHash });
    }
    const other = { outcome: 'WIN', endpoint: 'http://one.example', feedbackHash: keccak256('0x') } as const;
    expect(await reporter.report('feedback:2', other, REACHED)).toMatchObject({ feedbackHash });
    // 20000 / 3, truncated to two decimals.
    expect(await readReputation(chain, 0, reporter.address)).toMatchObject({ total: 3, positive: 2, averageScore: 66.66 });
  });
});

describe('the registries', () => {
  it('reject feedback by the owner', async () => {
    const owner = await bench.wallet((await bench.newAccount()).account, { role: 'provider' });
    const { agentId } = await ensureIdentity(chain, { agentUri: 'http://self.example', wallet: owner });
    const reporter = createReporter({ chain, wallet: owner, agentId: async () => agentId });
    await expect(reporter.report('self', { outcome: 'WIN', endpoint: '', feedbackHash }, REACHED)).rejects.toMatchObject({
      code: 'CHAIN_REVERTED',
      cause: expect.objectContaining({ message: expect.stringContaining('Self-feedback not allowed') }),
    });
  });

  it('reject a summary without clients', async () => {
    const call = { address: chain.addresses.reputationRegistry, abi: reputationAbi, functionName: 'getSummary' } as const;
    await expect(chain.client.readContract({ ...call, args: [0n, [] as Address[], '', ''] })).rejects.toThrow('clientAddresses required');
  });

  it('clear the declared wallet when an agent is transferred', async () => {
    const owner = await bench.wallet((await bench.newAccount()).account, { role: 'facilitator' });
    const { agentId } = await ensureIdentity(chain, { agentUri: 'http://sold.example', wallet: owner });
    const buyer = bench.chain.accounts.stranger.address;
    const abi = parseAbi(['function transferFrom(address from, address to, uint256 id)']);
    const data = encodeFunctionData({ abi, args: [owner.address, buyer, BigInt(agentId)] });
    await owner.send({ key: 'sold', to: chain.addresses.identityRegistry, data });
    expect(await readIdentity(chain, agentId)).toMatchObject({ owner: buyer, agentWallet: null });
  });

  it('revert for an unknown agent', async () => {
    await expect(readIdentity(chain, 999)).rejects.toMatchObject({
      code: 'CHAIN_REVERTED',
      message: 'Reading agent 999 reverted',
    });
  });
});
