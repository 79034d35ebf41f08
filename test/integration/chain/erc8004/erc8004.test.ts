import { type Address, encodeFunctionData, type Hex, keccak256, parseAbi, stringToHex, toEventSelector, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/client.ts';
import {
  createReporter,
  ensureIdentity,
  readIdentity,
  readReputation,
  reputationAbi,
  updateAgentUri,
} from '../../../../src/chain/erc8004.ts';
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

/** Rejections of the registries that are published on Base, version 2.0.0, in their order. */
describe('a call that the published registries reject is rejected with the same reason', () => {
  const LARGEST = 10n ** 38n;
  const identity = parseAbi([
    'error ERC721NonexistentToken(uint256 tokenId)',
    'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
    'struct Metadata { string metadataKey; bytes metadataValue; }',
    'function register(string agentURI, Metadata[] metadata) returns (uint256)',
    'function setAgentURI(uint256 agentId, string newURI)',
    'function setMetadata(uint256 agentId, string metadataKey, bytes metadataValue)',
    'function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes signature)',
    'function unsetAgentWallet(uint256 agentId)',
    'function getAgentWallet(uint256 agentId) view returns (address)',
    'function isAuthorizedOrOwner(address spender, uint256 agentId) view returns (bool)',
    'function transferFrom(address from, address to, uint256 tokenId)',
    'function approve(address to, uint256 tokenId)',
    'function setApprovalForAll(address operator, bool approved)',
  ]);
  const reputation = parseAbi([
    'error ERC721NonexistentToken(uint256 tokenId)',
    'function giveFeedback(uint256 agentId, int128 value, uint8 valueDecimals, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)',
    'function revokeFeedback(uint256 agentId, uint64 feedbackIndex)',
    'function appendResponse(uint256 agentId, address clientAddress, uint64 feedbackIndex, string responseURI, bytes32 responseHash)',
    'function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) view returns (int128, uint8, string, string, bool)',
  ]);
  const UNKNOWN = 999n;
  let agentId: bigint;
  /** The owner, one approved for the agent, one for all agents of the owner, one who has given feedback twice, and one who is none of them. */
  let callers: Record<'owner' | 'approved' | 'operator' | 'client' | 'outsider', Address>;

  beforeAll(async () => {
    const wallets = { owner: await newWallet(), client: await newWallet() };
    const [approved, operator, outsider] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()).address);
    callers = { owner: wallets.owner.address, client: wallets.client.address, approved, operator, outsider };
    const send = (by: 'owner' | 'client', key: string, data: Hex) =>
      wallets[by].send({ key, to: chain.addresses[by === 'owner' ? 'identityRegistry' : 'reputationRegistry'], data });
    const registration = encodeFunctionData({ abi: identity, functionName: 'register', args: ['http://strict.example', []] });
    const { logs } = await send('owner', 'strict', registration);
    agentId = BigInt(logs.find(({ topics }) => topics[0] === toEventSelector('Registered(uint256,string,address)'))!.topics[1]!);
    await send('owner', 'approve', encodeFunctionData({ abi: identity, functionName: 'approve', args: [approved, agentId] }));
    await send('owner', 'operator', encodeFunctionData({ abi: identity, functionName: 'setApprovalForAll', args: [operator, true] }));
    for (const key of ['kept', 'revoked']) {
      const args = [agentId, 1n, 0, '', '', '', '', feedbackHash] as const;
      await send('client', key, encodeFunctionData({ abi: reputation, functionName: 'giveFeedback', args }));
    }
    await send('client', 'revoke', encodeFunctionData({ abi: reputation, functionName: 'revokeFeedback', args: [agentId, 2n] }));
  });

  type Caller = keyof typeof callers;
  const inSeconds = async (seconds: number) => (await chain.client.getBlock()).timestamp + BigInt(seconds);
  const onIdentity = (account: Caller, call: object): Promise<unknown> =>
    chain.client.simulateContract({
      address: chain.addresses.identityRegistry,
      abi: identity,
      account: callers[account],
      ...call,
    } as never);
  const onReputation = (account: Caller, call: object): Promise<unknown> =>
    chain.client.simulateContract({
      address: chain.addresses.reputationRegistry,
      abi: reputation,
      account: callers[account],
      ...call,
    } as never);

  const setUri = (by: Caller, id = agentId) => onIdentity(by, { functionName: 'setAgentURI', args: [id, 'http://x.example'] });
  const setMetadata = (by: Caller, id = agentId, key = 'key') => onIdentity(by, { functionName: 'setMetadata', args: [id, key, '0x01'] });
  const unsetWallet = (by: Caller, id = agentId) => onIdentity(by, { functionName: 'unsetAgentWallet', args: [id] });
  const setWallet = async (by: Caller, seconds: number, { id = agentId, wallet = callers.outsider } = {}) =>
    onIdentity(by, { functionName: 'setAgentWallet', args: [id, wallet, await inSeconds(seconds), `0x${'11'.repeat(65)}`] });
  const register = (key: string) =>
    onIdentity('outsider', { functionName: 'register', args: ['', [{ metadataKey: key, metadataValue: '0x' }]] });
  const give = (by: Caller, value: bigint, decimals = 0, id = agentId) =>
    onReputation(by, { functionName: 'giveFeedback', args: [id, value, decimals, '', '', '', '', feedbackHash] });
  const revoke = (by: Caller, index: bigint) => onReputation(by, { functionName: 'revokeFeedback', args: [agentId, index] });
  const respond = (index: bigint, uri: string) =>
    onReputation('outsider', { functionName: 'appendResponse', args: [agentId, callers.client, index, uri, feedbackHash] });
  const read = (index: bigint) => onReputation('outsider', { functionName: 'readFeedback', args: [agentId, callers.client, index] });

  it.each<[string, string, () => Promise<unknown>]>([
    ['a URI set by an outsider', 'Not authorized', () => setUri('outsider')],
    ['a URI of an unknown agent', 'ERC721NonexistentToken', () => setUri('owner', UNKNOWN)],
    ['metadata set by an outsider', 'Not authorized', () => setMetadata('outsider')],
    ['the reserved key set by an outsider', 'Not authorized', () => setMetadata('outsider', agentId, 'agentWallet')],
    ['the reserved key', 'reserved key', () => setMetadata('owner', agentId, 'agentWallet')],
    ['the reserved key at registration', 'reserved key', () => register('agentWallet')],
    ['metadata of an unknown agent', 'ERC721NonexistentToken', () => setMetadata('owner', UNKNOWN)],
    ['a wallet set by an outsider', 'Not authorized', () => setWallet('outsider', 60, { wallet: zeroAddress })],
    ['a wallet of an unknown agent', 'ERC721NonexistentToken', () => setWallet('owner', 60, { id: UNKNOWN })],
    ['the zero address as wallet', 'bad wallet', () => setWallet('owner', -60, { wallet: zeroAddress })],
    ['a deadline in the past', 'expired', () => setWallet('owner', -60)],
    ['a deadline too far ahead', 'deadline too far', () => setWallet('owner', 3_600)],
    ['a signature by another wallet', 'invalid wallet sig', () => setWallet('owner', 60)],
    ['a wallet unset by an outsider', 'Not authorized', () => unsetWallet('outsider')],
    ['a wallet unset of an unknown agent', 'ERC721NonexistentToken', () => unsetWallet('owner', UNKNOWN)],
    [
      'a transfer by an outsider',
      'ERC721InsufficientApproval',
      () => onIdentity('outsider', { functionName: 'transferFrom', args: [callers.owner, callers.outsider, agentId] }),
    ],
    ['feedback with 19 decimals', 'too many decimals', () => give('owner', LARGEST + 1n, 19)],
    ['feedback above 1e38', 'value too large', () => give('owner', LARGEST + 1n)],
    ['feedback below -1e38', 'value too large', () => give('outsider', -LARGEST - 1n, 18)],
    ['feedback by the owner', 'Self-feedback not allowed', () => give('owner', 1n)],
    ['feedback by the approved', 'Self-feedback not allowed', () => give('approved', 1n)],
    ['feedback by an operator', 'Self-feedback not allowed', () => give('operator', 1n)],
    ['feedback for an unknown agent', 'ERC721NonexistentToken', () => give('outsider', 1n, 0, UNKNOWN)],
    ['revoking index 0', 'index must be > 0', () => revoke('client', 0n)],
    ['revoking what was not given', 'index out of bounds', () => revoke('client', 3n)],
    ['revoking the feedback of others', 'index out of bounds', () => revoke('outsider', 1n)],
    ['revoking twice', 'Already revoked', () => revoke('client', 2n)],
    ['a response to index 0', 'index must be > 0', () => respond(0n, '')],
    ['a response without a URI', 'Empty URI', () => respond(3n, '')],
    ['a response to what was not given', 'index out of bounds', () => respond(3n, 'http://x.example')],
    ['reading index 0', 'index must be > 0', () => read(0n)],
    ['reading what was not given', 'index out of bounds', () => read(3n)],
  ])('%s: %s', async (_, reason, send) => {
    await expect(send()).rejects.toThrow(reason);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a URI set by the approved', () => setUri('approved')],
    ['metadata set by an operator', () => setMetadata('operator')],
    ['a wallet unset by the owner', () => unsetWallet('owner')],
    ['feedback of 1e38', () => give('outsider', LARGEST)],
    ['feedback of -1e38 with 18 decimals', () => give('outsider', -LARGEST, 18)],
    ['a response by anyone', () => respond(1n, 'http://x.example')],
    ['a response to revoked feedback', () => respond(2n, 'http://x.example')],
    ['reading revoked feedback', () => read(2n)],
  ])('unlike %s, which they accept', async (_, send) => {
    await expect(send()).resolves.toBeDefined();
  });

  it('unlike a wallet with code whose key has signed (EIP-7702), which they accept', async () => {
    const signer = privateKeyToAccount(generatePrivateKey());
    const deadline = await inSeconds(60);
    const signature = await signer.signTypedData({
      domain: {
        name: 'ERC8004IdentityRegistry',
        version: '1',
        chainId: chain.chainId,
        verifyingContract: chain.addresses.identityRegistry,
      },
      types: {
        AgentWalletSet: [
          { name: 'agentId', type: 'uint256' },
          { name: 'newWallet', type: 'address' },
          { name: 'owner', type: 'address' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'AgentWalletSet',
      message: { agentId, newWallet: signer.address, owner: callers.owner, deadline },
    });
    const call = { functionName: 'setAgentWallet', args: [agentId, signer.address, deadline, signature] };
    await expect(onIdentity('owner', call)).resolves.toBeDefined();
    await expect(onIdentity('owner', { ...call, stateOverride: [{ address: signer.address, code: '0x5f5ffd' }] })).resolves.toBeDefined();
  });

  it('and what they answer for others is the same', async () => {
    const call = { address: chain.addresses.identityRegistry, abi: identity } as const;
    const isAuthorized = (spender: Address) =>
      chain.client.readContract({ ...call, functionName: 'isAuthorizedOrOwner', args: [spender, agentId] });
    const { owner, approved, operator, outsider } = callers;
    expect(await Promise.all([owner, approved, operator, outsider].map(isAuthorized))).toEqual([true, true, true, false]);
    expect(await chain.client.readContract({ ...call, functionName: 'getAgentWallet', args: [UNKNOWN] })).toBe(zeroAddress);
  });
});
