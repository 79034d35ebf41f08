import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Address, type Hex, keccak256, stringToHex, verifyTypedData, zeroAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readCodeHashes } from '../../../../src/chain/erc8183.ts';
import { createMarketplace, type PostDeliveriesDeps, postDeliveries } from '../../../../src/commerce/jobs/jobs.ts';
import { deployEvaluatorless } from '../../../support/commerce/evaluatorless-contract.ts';
import { type JobBench, jobBench } from '../../../support/commerce/job-bench.ts';
import { jobClient } from '../../../support/commerce/job-client.ts';
import { listenOnLoopback } from '../../../support/network/loopback-server.ts';

const PRICE = 1_000_000n;

let bench: JobBench;
let server: { url: string; close(): Promise<void> };
/** Deliverables by job, as the marketplace has them. */
let taken: Record<string, string[]>;
let logins: number;
let isDown: boolean;
let token: string;

interface Login {
  walletAddress: Address;
  signature: Hex;
  issuedAt: number;
  chainId: number;
}

/** As the server of the ACP SDK v2 checks it. */
function isAgent({ walletAddress, signature, issuedAt, chainId }: Login): Promise<boolean> {
  const types = ['address wallet', 'uint256 chainId', 'uint256 issuedAt'].map((field) => {
    const [type, name] = field.split(' ') as [string, string];
    return { name, type };
  });
  return verifyTypedData({
    address: walletAddress,
    domain: { name: 'ACP', version: '1', chainId },
    types: { AgentAuth: types },
    primaryType: 'AgentAuth',
    message: { wallet: walletAddress, chainId: BigInt(chainId), issuedAt: BigInt(issuedAt) },
    signature,
  });
}

async function answer(request: IncomingMessage): Promise<{ status: number; body?: object }> {
  const body = await json(request);
  if (isDown) return { status: 503 };
  if (request.url === '/auth/agent') {
    if (!(await isAgent(body as Login))) return { status: 401 };
    logins += 1;
    token = `token-${logins}`;
    return { status: 200, body: { data: { token } } };
  }
  const [, chainId, jobId] = /^\/jobs\/(\d+)\/(\d+)\/deliverable$/.exec(request.url!)!;
  if (request.headers.authorization !== `Bearer ${token}`) return { status: 401 };
  expect(Number(chainId)).toBe(bench.chain.chainId);
  taken[jobId!] = [...(taken[jobId!] ?? []), (body as { deliverable: string }).deliverable];
  return { status: 201, body: {} };
}

beforeAll(async () => {
  bench = await jobBench();
  server = await listenOnLoopback(
    createServer(async (request, response) => {
      const { status, body } = await answer(request);
      response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
    }),
  );
});
beforeEach(async () => {
  [taken, logins, isDown, token] = [{}, 0, false, ''];
  bench.clock.aheadMs = 0;
  await bench.forgetJobs();
});
afterAll(async () => {
  await server?.close();
  await bench?.stop();
});

async function paidOnSubmit(payOnSubmit: boolean) {
  const { local, chain, store, parts } = bench;
  const { rpcUrl, addresses } = local;
  const payer = await bench.newAccount();
  const contract = await deployEvaluatorless({ rpcUrl, payer, stablecoin: addresses.stablecoin, payOnSubmit });
  const direct = { codeHashes: (await readCodeHashes(chain, contract))!, maxMicros: PRICE, maxOpen: 3 };
  const provider = bench.makeParts({ contract, policy: { evaluators: [], maxMicros: 0n, unpaidPauseMs: 0, direct } });
  const client = jobClient({ rpcUrl, contract, stablecoin: addresses.stablecoin, provider: bench.provider }, payer);
  const jobId = await client.create({ evaluator: zeroAddress, description: 'svc_bitcoin_signal' });
  await bench.sweep(provider);
  await client.fund(jobId, PRICE);
  await bench.sweep(provider, 3);
  const account = local.accounts.provider;
  const marketplace = createMarketplace({ url: server.url, chainId: chain.chainId, account, now: provider.now });
  const posting: PostDeliveriesDeps = { contract, store, marketplace, log: parts.log, now: provider.now };
  const find = async () => (await store.find(contract, jobId))!;
  return { jobId: jobId.toString(), posting, find };
}

describe('a delivery at the marketplace', () => {
  it('is posted once, with the text whose hash is on chain, after a login that the provider signs', async () => {
    const { jobId, posting, find } = await paidOnSubmit(true);
    await postDeliveries(posting);
    await postDeliveries(posting);
    expect(taken).toEqual({ [jobId]: [expect.any(String)] });
    // What a buyer with the SDK compares.
    expect(keccak256(stringToHex(taken[jobId]![0]!))).toBe((await find()).delivery!.hash);
    expect(logins).toBe(1);
  });

  it('is posted after an outage, which has not held up the job, and after its token has expired', async () => {
    isDown = true;
    const { jobId, posting, find } = await paidOnSubmit(true);
    await postDeliveries(posting);
    expect(await find()).toMatchObject({ onChain: { state: 'COMPLETED' }, posting: { attempts: 1, postedAt: null } });
    const sent = await bench.sent();
    isDown = false;
    await postDeliveries(posting);
    expect(taken).toEqual({});
    bench.clock.aheadMs = 60_000;
    await postDeliveries(posting);
    expect(taken[jobId]).toHaveLength(1);
    expect(await bench.sent()).toBe(sent);

    token = 'another';
    await bench.store.jobs.updateMany({}, { $unset: { posting: '' } });
    await postDeliveries(posting);
    expect([taken[jobId]!.length, logins]).toEqual([2, 2]);
    expect(new Set(taken[jobId]).size).toBe(1);
  });

  it('is not posted for a job without an evaluator that the contract has not paid', async () => {
    const { posting, find } = await paidOnSubmit(false);
    await postDeliveries(posting);
    expect(await find()).toMatchObject({ onChain: { state: 'SUBMITTED' } });
    expect([taken, logins]).toEqual([{}, 0]);
  });
});
