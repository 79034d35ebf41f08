import { type Address, createPublicClient, type Hex, http, keccak256, type LocalAccount, parseEventLogs } from 'viem';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { reputationAbi } from '../../../../../src/chain/erc8004.ts';
import { fundGas, sendTransactionsForHashes } from '../../../../../src/dev/local-chain/contracts.ts';
import { FEEDBACK_FILE, FEEDBACK_TRANSACTION } from '../../../../../src/http/routes/feedback.ts';
import { demoWallets } from '../../../../support/auth/login.ts';
import { coinAbi, jobClient } from '../../../../support/commerce/job-client.ts';
import { payingFetch } from '../../../../support/commerce/payments.ts';
import { serveJobs } from '../../../../support/commerce/served-jobs.ts';
import { undocumented } from '../../../../support/http/reply-schema.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { type TestService, unresolvedService } from '../../../../support/service/service.ts';

let service: TestService;
let served: Served;
let buyer: LocalAccount;
let rpcUrl: string;

beforeAll(async () => {
  service = await unresolvedService(1);
  service.progress.complete();
  served = await serve(service);
  serveJobs(service);
  buyer = demoWallets(service).buyer;
  rpcUrl = service.infrastructure.rpcUrl;
  await fundGas(rpcUrl, [buyer.address]);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
});

const fetchFrom = (path: string) => fetch(`${served.url}${path}`);
// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
const get = async (path: string): Promise<any> => (await fetchFrom(path)).json();

/** `payment` of a bought answer. */
async function buyPremium(): Promise<{ feedbackPath: string; txHash: Hex; payee: Address }> {
  const response = await payingFetch(buyer)(`${served.url}/oracle/premium?horizon=7d`);
  return ((await response.json()) as { payment: { feedbackPath: string; txHash: Hex; payee: Address } }).payment;
}

/** Bytes of the file under a URI of this service, which may be served elsewhere in tests. */
async function fetchFile(uri: string): Promise<Uint8Array> {
  const { pathname, search } = new URL(uri);
  return new Uint8Array(await (await fetchFrom(pathname + search)).arrayBuffer());
}

async function submit({ to, data }: { to: Address; data: Hex }) {
  const [hash] = (await sendTransactionsForHashes(rpcUrl, buyer, [{ to, data }])) as [Hex];
  const { logs } = await createPublicClient({ transport: http(rpcUrl) }).getTransactionReceipt({ hash });
  const [{ address, args }] = parseEventLogs({ abi: reputationAbi, eventName: 'NewFeedback', logs });
  return { address, ...args };
}

describe('the feedback of a paid call', () => {
  it('is taken by the registry from the payer, with the hash of the served bytes and the proof of payment', async () => {
    const { feedbackPath, txHash, payee } = await buyPremium();
    const call = await get(`${feedbackPath}/transaction?value=-123&valueDecimals=1&tag2=oracle`);
    expect(undocumented(FEEDBACK_TRANSACTION, call)).toEqual([]);
    const { registries, agentId, chain } = await get('/api/svc/agent/identity');
    expect(call).toMatchObject({ from: buyer.address, transaction: { to: registries.reputation, chainId: Number(chain.split(':')[1]) } });

    const { address, ...event } = await submit(call.transaction);
    expect(address.toLowerCase()).toBe(registries.reputation.toLowerCase());
    expect(event).toMatchObject({
      agentId: BigInt(agentId),
      clientAddress: buyer.address,
      value: -123n,
      valueDecimals: 1,
      tag1: 'starred',
      tag2: 'oracle',
      feedbackURI: call.feedbackUri,
    });
    const bytes = await fetchFile(event.feedbackURI);
    expect(keccak256(bytes)).toBe(event.feedbackHash);
    const file = JSON.parse(new TextDecoder().decode(bytes));
    expect(undocumented(FEEDBACK_FILE, file)).toEqual([]);
    expect(file).toEqual({
      agentRegistry: `${chain}:${registries.identity}`,
      agentId,
      clientAddress: `${chain}:${buyer.address}`,
      createdAt: expect.stringMatching(/Z$/),
      value: -123,
      valueDecimals: 1,
      tag1: 'starred',
      tag2: 'oracle',
      proofOfPayment: { fromAddress: buyer.address, toAddress: payee, chainId: chain.split(':')[1], txHash },
    });
  });

  it('has the same bytes for the same rating, and others for another', async () => {
    const { feedbackPath } = await buyPremium();
    const read = async (query: string) => (await fetchFrom(`${feedbackPath}?${query}`)).text();
    const first = await read('value=7');
    expect(await read('tag1=starred&valueDecimals=0&value=7')).toBe(first);
    expect(await read('value=8')).not.toBe(first);
  });

  it('exists for the payer of a booked payment alone, and states no rating of its own', async () => {
    const { feedbackPath } = await buyPremium();
    const other = demoWallets(service).premium.address.toLowerCase();
    const ofAnother = feedbackPath.replace(/0x[0-9a-f]{40}$/, other);
    expect(await get(`${ofAnother}?value=1`)).toMatchObject({ status: 404, field: 'txHash' });
    expect(await get(feedbackPath)).toMatchObject({ status: 400, field: 'value' });
    for (const tag1 of ['', '<b>', 'a'.repeat(33)])
      expect(await get(`${feedbackPath}?value=1&tag1=${encodeURIComponent(tag1)}`)).toMatchObject({ status: 400, field: 'tag1' });
  });
});

describe('the feedback of a job', () => {
  it('proves the transfer from the escrow, and names the job of the client', async () => {
    const { jobs } = service.http;
    const { addresses } = service.http.chain;
    const world = { rpcUrl, contract: addresses.agentCommerce!, stablecoin: addresses.stablecoin, provider: jobs!.provider };
    const client = jobClient(world, buyer);
    const jobId = await client.create({ description: 'svc_market_context' });
    const reaches = (facts: object) =>
      vi.waitFor(
        async () => {
          const job = await get(`/api/svc/commerce/jobs/${jobId}`);
          expect(job).toMatchObject(facts);
          return job;
        },
        { timeout: 10_000, interval: 50 },
      );
    await reaches({ accepted: true, budget: { amount: '250000' } });
    await client.fund(jobId, 250_000n);
    await reaches({ state: 'SUBMITTED' });
    await client.complete(jobId);
    const { payment } = await reaches({ state: 'COMPLETED', payment: { amount: '250000' } });

    const file = await get(`${payment.feedbackPath}?value=1`);
    expect(undocumented(FEEDBACK_FILE, file)).toEqual([]);
    const { proofOfPayment, job } = file;
    expect(job).toBe(`job:${world.contract.toLowerCase()}:${jobId}`);
    expect(proofOfPayment).toMatchObject({ fromAddress: world.contract, toAddress: world.provider, txHash: payment.txHash });
    const { logs } = await createPublicClient({ transport: http(rpcUrl) }).getTransactionReceipt({ hash: payment.txHash });
    const transfers = parseEventLogs({ abi: coinAbi, eventName: 'Transfer', logs });
    expect(transfers.map(({ args }) => args)).toContainEqual({
      from: proofOfPayment.fromAddress,
      to: proofOfPayment.toAddress,
      value: 250_000n,
    });
  });
});
