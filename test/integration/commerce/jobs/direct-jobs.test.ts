import { type Address, type Hex, type LocalAccount, pad, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readCodeHashes } from '../../../../src/chain/erc8183.ts';
import type { JobDeps } from '../../../../src/commerce/jobs/processing.ts';
import { callJsonRpc } from '../../../../src/dev/local-chain/contracts.ts';
import { deployEvaluatorless } from '../../../support/commerce/evaluatorless-contract.ts';
import { type JobBench, jobBench } from '../../../support/commerce/job-bench.ts';
import { type JobClient, jobClient } from '../../../support/commerce/job-client.ts';

const PRICE = 1_000_000n;
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const BEACON_SLOT = '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50';

let bench: JobBench;
let payer: LocalAccount;
beforeAll(async () => {
  bench = await jobBench();
  payer = await bench.newAccount();
});
beforeEach(async () => {
  await bench.forgetJobs();
});
afterAll(() => bench?.stop());

const deploy = (payOnSubmit: boolean): Promise<Address> =>
  deployEvaluatorless({ rpcUrl: bench.local.rpcUrl, payer, stablecoin: bench.local.addresses.stablecoin, payOnSubmit });

async function readHashes(contract: Address): Promise<Hex[]> {
  return (await readCodeHashes(bench.chain, contract))!;
}

/** A provider at a contract that knows these hashes of code. */
function providerAt(contract: Address, codeHashes: readonly Hex[]): JobDeps {
  const direct = { codeHashes, maxMicros: PRICE, maxOpen: 3 };
  return bench.makeParts({ contract, policy: { evaluators: [], maxMicros: 0n, unpaidPauseMs: 3_600_000, direct } });
}

async function newClient(contract: Address): Promise<JobClient> {
  const { rpcUrl, addresses } = bench.local;
  return jobClient({ rpcUrl, contract, stablecoin: addresses.stablecoin, provider: bench.provider }, await bench.newAccount());
}

/** Created as the SDK of the marketplace does: no evaluator, no hook, the name of the offering as description. */
const create = (client: JobClient) => client.create({ evaluator: zeroAddress, description: 'svc_bitcoin_signal' });

async function fundedJob(provider: JobDeps, client: JobClient): Promise<bigint> {
  const jobId = await create(client);
  await bench.sweep(provider);
  await client.fund(jobId, PRICE);
  return jobId;
}

const setSlot = (contract: Address, slot: Hex, value: Address) =>
  callJsonRpc(bench.local.rpcUrl, 'anvil_setStorageAt', contract, slot, pad(value));

describe('a job without an evaluator', () => {
  it('is delivered, paid with the submission and booked, where the code of the contract is known', async () => {
    const contract = await deploy(true);
    const provider = providerAt(contract, await readHashes(contract));
    for (const client of [await newClient(contract), await newClient(contract)]) {
      const jobId = await fundedJob(provider, client);
      const before = await client.coins(bench.provider);
      await bench.sweep(provider, 3);
      const doc = await bench.store.find(contract, jobId);
      expect(doc).toMatchObject({ accepted: true, onChain: { state: 'COMPLETED' }, payment: { amountMicros: '1000000' } });
      expect((await client.coins(bench.provider)) - before).toBe(PRICE);
      expect(await bench.ledger.findByTransaction(doc!.payment!.txHash, client.address)).toMatchObject({ channel: 'agent-commerce' });
    }
  });

  it('is rejected where the code, or that of the implementation behind a proxy, is unknown', async () => {
    const [contract, implementation, other] = [await deploy(true), await deploy(true), await deploy(false)];
    const [known] = (await readHashes(contract)) as [Hex];
    const client = await newClient(contract);
    const reject = async (provider: JobDeps) => {
      const jobId = await create(client);
      await bench.sweep(provider);
      return (await bench.store.find(contract, jobId))!;
    };
    expect(await reject(providerAt(contract, [pad('0x1')]))).toMatchObject({
      accepted: false,
      reason: expect.stringContaining('none that is known'),
    });

    await setSlot(contract, IMPLEMENTATION_SLOT, other);
    expect(await readHashes(contract)).toEqual([known, ...(await readHashes(other))]);
    expect(await reject(providerAt(contract, [known]))).toMatchObject({ accepted: false });
    await setSlot(contract, IMPLEMENTATION_SLOT, implementation);
    expect(await reject(providerAt(contract, [known]))).toMatchObject({ accepted: true });
    await setSlot(contract, BEACON_SLOT, implementation);
    expect(await readCodeHashes(bench.chain, contract)).toBeNull();
    expect(await readCodeHashes(bench.chain, payer.address)).toBeNull();
  });

  it('is not delivered once the code behind the proxy has changed after its funding', async () => {
    const [contract, implementation, other] = [await deploy(true), await deploy(true), await deploy(false)];
    await setSlot(contract, IMPLEMENTATION_SLOT, implementation);
    const provider = providerAt(contract, await readHashes(contract));
    const jobId = await fundedJob(provider, await newClient(contract));
    await setSlot(contract, IMPLEMENTATION_SLOT, other);
    await bench.sweep(provider);
    expect(await bench.store.find(contract, jobId)).toMatchObject({
      accepted: false,
      delivery: null,
      reason: expect.stringContaining('no longer'),
    });
  });

  it('is the last one after a contract has not paid', async () => {
    const contract = await deploy(false);
    const provider = providerAt(contract, await readHashes(contract));
    const unpaid = await fundedJob(provider, await newClient(contract));
    await bench.sweep(provider, 3);
    expect(await bench.store.find(contract, unpaid)).toMatchObject({ onChain: { state: 'SUBMITTED' }, payment: null });
    const client = await newClient(contract);
    const next = await create(client);
    await bench.sweep(provider);
    expect(await bench.store.find(contract, next)).toMatchObject({ accepted: false, reason: expect.stringContaining('not paid') });
  });

  it('is accepted from new clients up to the limit of open ones', async () => {
    const contract = await deploy(true);
    const provider = providerAt(contract, await readHashes(contract));
    const client = await newClient(contract);
    const accepted: boolean[] = [];
    for (let count = 0; count < 4; count += 1) {
      const jobId = await create(client);
      await bench.sweep(provider);
      accepted.push((await bench.store.find(contract, jobId))!.accepted!);
    }
    expect(accepted).toEqual([true, true, true, false]);
  });
});
