import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  type LocalAccount,
  maxUint256,
  stringToBytes,
  zeroAddress,
  zeroHash,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { verifyTypedData } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { composeJobs } from '../../../../../src/app/commerce.ts';
import { createChain } from '../../../../../src/chain/client.ts';
import { callJsonRpc, fundGas } from '../../../../../src/dev/local-chain/contracts.ts';
import { DELIVERY, JOB_REPLY, jobRoutes } from '../../../../../src/http/routes/jobs.ts';
import { OFFERINGS_REPLY } from '../../../../../src/http/routes/offerings.ts';
import { createApp } from '../../../../../src/http/server.ts';
import { walletFactory } from '../../../../support/chain/contract-wallet.ts';
import { commerceAbi, type JobClient, type JobWorld, jobClient } from '../../../../support/commerce/job-client.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve, serveApp } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
let watching: Promise<void>;
let world: JobWorld;

beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  served = await serve(service);
  watching = service.watchJobs!();
  const { jobs } = service.http;
  const { addresses } = service.http.chain;
  world = {
    rpcUrl: service.infrastructure.rpcUrl,
    contract: addresses.agentCommerce!,
    stablecoin: addresses.stablecoin,
    provider: jobs!.provider,
  };
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
  await watching;
});

async function newAccount(): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await fundGas(world.rpcUrl, [account.address]);
  return account;
}

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  body: any;
  text: string;
}

async function ask(path: string, body?: object): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${served.url}${path}`, init);
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) };
}

const jobPath = (jobId: bigint) => `/api/svc/commerce/jobs/${jobId}`;
const jobOf = async (jobId: bigint) => (await ask(jobPath(jobId))).body;
const inTime = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 10_000, interval: 50 });
const reaches = (jobId: bigint, facts: object) => inTime(async () => expect(await jobOf(jobId)).toMatchObject(facts));

/** A job that was delivered. */
async function deliveredJob(client: JobClient, description: string, evaluator: Address = client.address): Promise<bigint> {
  const jobId = await client.create({ description, evaluator });
  await reaches(jobId, { accepted: true });
  await inTime(async () => expect((await client.job(jobId)).budget).toBeGreaterThan(0n));
  await client.fund(jobId, (await client.job(jobId)).budget);
  await reaches(jobId, { state: 'SUBMITTED', deliverable: { path: `${jobPath(jobId)}/deliverable` } });
  return jobId;
}

interface Fetching {
  wallet?: Address;
  timestamp?: number;
  message?: string;
}

/** Fetches what a job has delivered, as a wallet. */
async function fetchAs(signer: LocalAccount, jobId: bigint, { wallet = signer.address, timestamp = Date.now(), message }: Fetching = {}) {
  const text = message ?? `Fetch svc job: ${getAddress(world.contract)}:${jobId}:${timestamp}`;
  return ask(`${jobPath(jobId)}/deliverable`, { wallet, timestamp, signature: await signer.signMessage({ message: text }) });
}

describe('a job from offer to receipt', () => {
  let account: LocalAccount;
  let evaluator: LocalAccount;
  let client: JobClient;
  let jobId: bigint;
  beforeAll(async () => {
    [account, evaluator] = [await newAccount(), await newAccount()];
    client = jobClient(world, account);
    jobId = await deliveredJob(client, '{"offering":"svc_bitcoin_signal"}', evaluator.address);
  });

  it('is offered with contract, provider and instructions', async () => {
    const { body } = await ask('/api/svc/commerce/offerings?channel=agent-commerce');
    expect(undocumented(OFFERINGS_REPLY, body)).toEqual([]);
    expect(body.channels).toEqual([{ channel: 'agent-commerce', open: true, reason: null }]);
    const { contract, provider: payee, stablecoin: asset } = world;
    for (const { howToPay } of body.offerings) expect(howToPay).toMatchObject({ contract, payee, asset, chain: 'eip155:84532' });
  });

  it('is publicly visible without its deliverable', async () => {
    const { body, text } = await ask(jobPath(jobId));
    expect(undocumented(JOB_REPLY, body)).toEqual([]);
    expect(body).toMatchObject({
      ...{
        state: 'SUBMITTED',
        accepted: true,
        reason: null,
        waitingFor: null,
        offering: 'svc_bitcoin_signal',
        receipt: null,
        payment: null,
      },
      ...{ price: { amount: '1000000', usd: '1.00' }, budget: { amount: '1000000' } },
      ...{ client: account.address, evaluator: evaluator.address, provider: world.provider },
    });
    const forecast = await service.pipeline.record.forecasts.findOne({ horizonDays: 7 }, { sort: { day: -1 } });
    for (const secret of [forecast!.values!.pUp, forecast!.values!.confidence, 'direction', 'salt', 'document']) {
      expect(text).not.toContain(String(secret));
    }
  });

  it.each(['client', 'evaluator'])('delivers the exact bytes to the %s, with their hash and values as committed on chain', async (who) => {
    const { status, text, body } = await fetchAs(who === 'client' ? account : evaluator, jobId);
    expect(status).toBe(200);
    const { deliverable } = await jobOf(jobId);
    expect(keccak256(stringToBytes(text))).toBe(deliverable.hash);
    expect(undocumented(DELIVERY, body)).toEqual([]);
    expect(body).toMatchObject({ job: { jobId: jobId.toString(), client: account.address }, offering: 'svc_bitcoin_signal' });
    const forecast = await service.pipeline.record.forecasts.findOne({ horizonDays: 7 }, { sort: { day: -1 } });
    expect(body).toMatchObject({ forecastId: forecast!._id, attestationUid: forecast!.attestation!.uid });
    expect(text).toContain(`"direction":"${forecast!.values!.direction}"`);
  });

  it.each([
    ['lower case', (contract: string) => contract.toLowerCase()],
    ['upper case', (contract: string) => `0x${contract.slice(2).toUpperCase()}`],
  ])('delivers for a text with the contract in %s', async (_, spell) => {
    const timestamp = Date.now();
    const message = `Fetch svc job: ${spell(world.contract)}:${jobId}:${timestamp}`;
    expect((await fetchAs(account, jobId, { timestamp, message })).status).toBe(200);
  });

  it('delivers to no other wallet', async () => {
    const stranger = await newAccount();
    const now = Date.now();
    const contract = getAddress(world.contract);
    const refused: [string, Promise<Answer>, string][] = [
      ['another wallet', fetchAs(stranger, jobId), 'wallet'],
      ['another signer', fetchAs(stranger, jobId, { wallet: account.address }), 'signature'],
      ['an old time', fetchAs(account, jobId, { timestamp: now - 5.1 * 60_000 }), 'timestamp'],
      ['a time to come', fetchAs(account, jobId, { timestamp: now + 5.1 * 60_000 }), 'timestamp'],
      ['another job', fetchAs(account, jobId, { timestamp: now, message: `Fetch svc job: ${contract}:${jobId + 1n}:${now}` }), 'signature'],
      ['a login', fetchAs(account, jobId, { timestamp: now, message: `Verify svc balance: ${account.address}:${now}` }), 'signature'],
      ['the provider', fetchAs(stranger, jobId, { wallet: world.provider }), 'wallet'],
    ];
    for (const [label, answer, field] of refused) {
      const { status, body, text } = await answer;
      expect([status, body.code, body.field], label).toEqual([401, 'UNAUTHENTICATED', field]);
      expect(text, label).not.toContain('svc_bitcoin_signal');
    }
  });

  it('is recorded on completion, with a receipt of the delivery', async () => {
    const evaluating = jobClient(world, evaluator);
    const { transactionHash } = await evaluating.complete(jobId);
    await reaches(jobId, { state: 'COMPLETED', payment: { txHash: transactionHash, amount: '1000000', usd: '1.00' } });
    const { receipt, deliverable } = await jobOf(jobId);
    // Signers may sign differently each time: the receipt is signed once.
    const rows = service.database.db.collection('agent_jobs');
    expect(await rows.findOne({ jobId: String(jobId) })).toMatchObject({ receipt: { signature: receipt.signature } });
    await rows.updateOne({ jobId: String(jobId) }, { $set: { 'receipt.signature': '0x01' } });
    expect((await jobOf(jobId)).receipt.signature).toBe('0x01');
    const { domain, types, primaryType, message, signature } = receipt;
    const signed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
    expect(await verifyTypedData({ address: world.provider, domain, types, primaryType, message: signed, signature })).toBe(true);
    expect(message).toMatchObject({ payer: account.address, payee: world.provider, answerHash: deliverable.hash, txHash: transactionHash });
    const revenue = await ask('/api/svc/revenue');
    const ofJobs = revenue.body.byChannel.find(({ channel }: { channel: string }) => channel === 'agent-commerce');
    expect(ofJobs.usdMicros).toBe((await client.coins(world.provider)).toString());
  });
});

describe('other jobs', () => {
  it('deliver nothing once rejected', async () => {
    const [account, evaluator] = [await newAccount(), await newAccount()];
    const jobId = await deliveredJob(jobClient(world, account), 'svc_market_context', evaluator.address);
    expect((await fetchAs(account, jobId)).status).toBe(200);
    await jobClient(world, evaluator).reject(jobId);
    await reaches(jobId, { state: 'REJECTED' });
    for (const signer of [account, evaluator]) {
      const { status, body, text } = await fetchAs(signer, jobId);
      expect([status, body.code, body.detail]).toEqual([404, 'NOT_FOUND', expect.stringContaining('was rejected')]);
      expect(text).not.toContain('svc_market_context');
    }
    // The next unknown evaluator would have to wait.
    await service.database.db.collection('agent_commerce_turns').deleteMany({});
  });

  it('of a contract wallet deliver to its signer (EIP-1271)', async () => {
    const owner = await newAccount();
    const chain = await createChain({
      ...{ rpcUrl: world.rpcUrl, chainId: 84532, confirmations: 1, pollingIntervalMs: 5, addresses: service.http.chain.addresses },
    });
    const contractWallet = await (await walletFactory(chain, world.rpcUrl, owner))(owner.address);
    await contractWallet.deploy();
    const from = contractWallet.address;
    await fundGas(world.rpcUrl, [from]);
    await callJsonRpc(world.rpcUrl, 'anvil_impersonateAccount', from);
    const client = jobClient(world, owner);
    const { timestamp } = await chain.client.getBlock();
    const args = [world.provider, from, timestamp + 3_600n, 'svc_market_context', zeroAddress] as const;
    const data = encodeFunctionData({ abi: commerceAbi, functionName: 'createJob', args });
    const hash = await callJsonRpc<Hex>(world.rpcUrl, 'eth_sendTransaction', { from, to: world.contract, data, gas: '0xf4240' });
    await chain.client.waitForTransactionReceipt({ hash });
    const jobId = await chain.client.readContract({ address: world.contract, abi: commerceAbi, functionName: 'jobCounter' });

    await reaches(jobId, { accepted: true, client: from });
    expect(await fetchAs(owner, jobId, { wallet: from })).toMatchObject({ status: 503, body: { code: 'STEP_WAITING', retryable: true } });
    expect(await fetchAs(await newAccount(), jobId, { wallet: from })).toMatchObject({ status: 401, body: { field: 'signature' } });

    const paid = await deliveredJob(client, 'svc_market_context', from);
    const { status, text } = await fetchAs(owner, paid, { wallet: from });
    expect(status).toBe(200);
    expect(keccak256(stringToBytes(text))).toBe((await jobOf(paid)).deliverable.hash);
    const completion = encodeFunctionData({ abi: commerceAbi, functionName: 'complete', args: [paid, zeroHash, '0x'] });
    await callJsonRpc(world.rpcUrl, 'eth_sendTransaction', { from, to: world.contract, data: completion, gas: '0xf4240' });
    await reaches(paid, { state: 'COMPLETED', payment: { amount: '250000' } });
    expect((await fetchAs(owner, paid, { wallet: from })).text).toBe(text);
  });

  it('that are rejected state the reason', async () => {
    const client = jobClient(world, await newAccount());
    const jobId = await client.create({ description: 'the signal, please' });
    await reaches(jobId, { accepted: false, reason: expect.stringContaining('description'), price: null, offering: null });
    const { body } = await ask(jobPath(jobId));
    expect(undocumented(JOB_REPLY, body)).toEqual([]);
    expect(body.next).toContain('The client rejects the job');
  });

  it('return 503 with Retry-After while unconfirmed, and 404 for other providers', async () => {
    const late = { ...service.http, jobs: { ...service.http.jobs!, find: async () => null } };
    const app = await serveApp(createApp(jobRoutes(late), service.appOptions));
    onTestFinished(() => app.close());
    const client = jobClient(world, await newAccount());
    const ours = await client.create({ description: 'x' });
    const other = await client.create({ description: 'x', provider: (await newAccount()).address });
    const answer = await fetch(`${app.url}${jobPath(ours)}`);
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '2']);
    expect(await answer.json()).toMatchObject({ code: 'TRANSACTION_UNCONFIRMED', retryable: true, field: 'jobId' });
    expect((await fetch(`${app.url}${jobPath(other)}`)).status).toBe(404);
  });

  it('return 404 for an unknown id, and 400 for a malformed one', async () => {
    expect(await ask(jobPath(10n ** 30n))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', field: 'jobId' } });
    expect(await fetchAs(await newAccount(), 10n ** 30n)).toMatchObject({ status: 404 });
    expect(await ask(jobPath(maxUint256 + 1n))).toMatchObject({ status: 404, body: { code: 'NOT_FOUND', field: 'jobId' } });
    for (const id of ['x', '-1', '01', '1'.repeat(79)]) {
      expect(await ask(`/api/svc/commerce/jobs/${id}`)).toMatchObject({ status: 400, body: { field: 'jobId' } });
    }
  });

  it('deliver crowd and market documents too', async () => {
    const account = await newAccount();
    const jobId = await deliveredJob(jobClient(world, account), 'svc_crowd_vs_oracle');
    expect((await fetchAs(account, jobId)).body).toMatchObject({
      offering: 'svc_crowd_vs_oracle',
      document: { kind: 'crowd_vs_oracle' },
    });
  });
});

describe('without a usable contract', () => {
  it.each([
    ['none is set', () => null, 'No agent commerce contract is set'],
    ['nothing answers there', () => world.provider, 'No agent commerce contract answers'],
    ['the address is another contract', () => world.stablecoin, 'No agent commerce contract answers'],
  ])('the channel is closed with a reason: %s', async (_, contract, reason) => {
    const { infrastructure, http } = service;
    const addresses = { ...infrastructure.contracts, agentCommerce: contract() };
    const chain = await createChain({ rpcUrl: world.rpcUrl, chainId: 84532, confirmations: 1, pollingIntervalMs: 5, addresses });
    const jobs = await composeJobs({ ...service, chain }, http.commerce.ledger);
    expect(jobs).toEqual({ service: null, watch: null, closedChannels: { 'agent-commerce': expect.stringContaining(reason) } });
  });
});

describe('without known evaluators, and none other allowed', () => {
  it('the channel is closed with a reason, and earlier jobs are still served', async () => {
    const { config, http } = service;
    const chain = await createChain({
      ...{ rpcUrl: world.rpcUrl, chainId: 84532, confirmations: 1, pollingIntervalMs: 5, addresses: http.chain.addresses },
    });
    const compose = (own: typeof config) => composeJobs({ ...service, config: own, chain }, http.commerce.ledger);
    const jobs = await compose({ ...config, AGENT_COMMERCE_MAX_USD: 0 });
    expect(jobs.closedChannels).toEqual({ 'agent-commerce': expect.stringContaining('No evaluator is known') });
    expect(jobs).toMatchObject({ service: { contract: world.contract }, watch: expect.any(Function) });

    const listed = { ...config, AGENT_COMMERCE_MAX_USD: 0, AGENT_COMMERCE_EVALUATORS: [world.provider] };
    expect((await compose(listed)).closedChannels).toEqual({});
  });
});
