import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { type CallToolResult, Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import canonicalize from 'canonicalize';
import { createLocalJWKSet, flattenedVerify, type JSONWebKeySet } from 'jose';
import {
  type Address,
  createWalletClient,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  getAddress,
  type Hash,
  type Hex,
  http,
  isAddressEqual,
  keccak256,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  publicActions,
  stringToBytes,
  stringToHex,
  verifyTypedData,
  zeroAddress,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** DATA_DIR/demo.json, which `npm start` writes for trying the service on its local chain. */
interface DemoFile {
  rpcUrl: string;
  chainId: number;
  contracts: { eas: Address; stablecoin: Address; agentCommerce: Address | null };
  wallets: { buyer: { address: Address; privateKey: Hex } };
}

/** No single answer may cost more than this, whatever a service asks for: 0.05 USD. */
const MAX_UNITS_PER_CALL = 50_000n;

type Chain = ReturnType<typeof chainOf>;

/** An agent with a wallet, and without an account anywhere. */
export interface Agent {
  /** The service that it deals with. */
  service: string;
  account: PrivateKeyAccount;
  /** Of `account`, for clients that take a key. */
  privateKey: Hex;
  chain: Chain;
  chainId: number;
  contracts: DemoFile['contracts'];
  /** Signs payments that come with a request. */
  payer: x402Client;
  /** What it has paid so far, in units of the stablecoin (6 decimals). */
  spent: bigint;
}

export async function createAgent({ service, dataDir }: { service: string; dataDir: string }): Promise<Agent> {
  const { rpcUrl, chainId, contracts, wallets } = await readDemoFile(dataDir);
  const account = privateKeyToAccount(wallets.buyer.privateKey);
  return {
    ...{ service, account, privateKey: wallets.buyer.privateKey, chainId, contracts, spent: 0n },
    chain: chainOf(rpcUrl, account),
    payer: payerOf(account, contracts.stablecoin),
  };
}

async function readDemoFile(dataDir: string): Promise<DemoFile> {
  const path = join(dataDir, 'demo.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as DemoFile;
  } catch {
    throw new StepFailed(`${path} cannot be read`, 'Run npm start first, or name its folder with --data-dir.');
  }
}

function chainOf(rpcUrl: string, account: PrivateKeyAccount) {
  return createWalletClient({ account, transport: http(rpcUrl), pollingInterval: 100, cacheTime: 0 }).extend(publicActions);
}

/** The payer rejects unknown coins, and amounts above its limit. */
function payerOf(account: PrivateKeyAccount, asset: Address): x402Client {
  const client = registerExactEvmScheme(new x402Client(), { signer: account });
  const limit = { asset, maxAmountPerPayment: MAX_UNITS_PER_CALL.toString() };
  return client.setSpendControls({
    allowedAssets: [
      { ...limit, network: 'eip155:*' },
      { ...limit, network: 'base-sepolia' as `${string}:${string}` },
    ],
  });
}

/** Units of the stablecoin that the agent holds. */
function balanceOf({ chain, account, contracts }: Agent): Promise<bigint> {
  return chain.readContract({ address: contracts.stablecoin, abi: erc20Abi, functionName: 'balanceOf', args: [account.address] });
}

/** Sends a transaction and waits until it is in a block. */
async function send({ chain }: Agent, what: string, { to, data }: { to: Address; data: Hex }): Promise<Hash> {
  const hash = await chain.sendTransaction({ to, data, chain: null });
  const { status } = await chain.waitForTransactionReceipt({ hash });
  if (status !== 'success')
    throw new StepFailed(`${what} failed on chain (${hash})`, 'Look at the transaction; is there enough ETH and USDC?');
  return hash;
}

/** A step that did not go as it should, with what to do about it. */
export class StepFailed extends Error {
  readonly hint: string;

  constructor(problem: string, hint: string) {
    super(problem);
    this.hint = hint;
  }
}

// The reader of the output has closed it, as `| head` does.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));

let steps = 0;

export function beginStep(title: string): void {
  steps += 1;
  print(`\n${steps}. ${title}`);
}

/** Prints an action or its result. */
export function narrate(text: string): void {
  print(`   ${text}`);
}

/** Something that was checked and holds; otherwise the step has failed. */
export function check(holds: boolean, what: string, hint = 'What the service says does not hold. Do not rely on it.'): asserts holds {
  if (!holds) throw new StepFailed(`This does not hold: ${what}`, hint);
  print(`   ✓ ${what}`);
}

/** Units of a stablecoin with six decimals, as dollars. */
export function usd(units: bigint | string): string {
  return `${formatUnits(BigInt(units), 6)} USD`;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Terms {
  /** Whose signature receipts carry. */
  seller: Address;
  payee: Address;
}

interface PriceList {
  payee: Address;
  resources: { resource: string; title: string; price: { amount: string; usd: string } }[];
  receipt: { signer: Address };
  realMoney: boolean;
}

/** What the header PAYMENT-REQUIRED of a 402 holds. */
interface PaymentRequired {
  accepts: { amount: string; asset: Address; payTo: Address }[];
}

/** Prices are in one document, and in the 402 of a request without payment. */
export async function readPrice({ service, contracts }: Agent): Promise<Terms> {
  beginStep('Read the price');
  const { resources, payee, receipt, realMoney } = await ask<PriceList>(`${service}/.well-known/x402.json`);
  for (const { resource, price, title } of resources) narrate(`${new URL(resource).pathname}: ${price.usd} USD (${title})`);
  const unpaid = await reach(`${service}/oracle`);
  check(unpaid.status === 402, 'GET /oracle answers 402 Payment Required');
  const [terms] = requiredBy(unpaid).accepts;
  const listed = resources.find(({ resource }) => new URL(resource).pathname === '/oracle');
  check(
    terms?.amount === listed?.price.amount && terms?.payTo === payee,
    `it asks for the same ${listed?.price.usd} USD, to ${short(payee)}`,
  );
  check(terms.asset.toLowerCase() === contracts.stablecoin.toLowerCase(), 'in the stablecoin that this wallet holds');
  narrate(realMoney ? 'This is real money.' : 'This chain is a local one: its money is worth nothing.');
  return { seller: receipt.signer, payee };
}

function requiredBy({ headers }: Response): PaymentRequired {
  const header = headers.get('payment-required');
  return header === null ? { accepts: [] } : JSON.parse(Buffer.from(header, 'base64').toString());
}

/** What the service says when it does not answer (RFC 9457). */
interface Problem {
  detail?: string;
  suggestedAction?: string;
}

/** Longest wait that is worth it. */
const MAX_WAIT_SECONDS = 60;

/** Asks for JSON; the caller names the members it reads. What the service refuses ends the step with the service's own words. */
export async function ask<Answer>(url: string, init?: RequestInit): Promise<Answer> {
  return answerOf<Answer>(url, await reach(url, init));
}

async function answerOf<Answer>(url: string, response: Response): Promise<Answer> {
  const body: unknown = await response.json().catch(() => ({}));
  if (response.ok) return body as Answer;
  const { detail, suggestedAction } = body as Problem;
  throw new StepFailed(`${url} answers ${response.status}: ${detail ?? response.statusText}`, suggestedAction ?? 'Look at its log.');
}

/** Sends a request, and names the remedy if the service is not reachable. */
async function reach(url: string, init?: RequestInit): Promise<Response> {
  try {
    return await patientFetch(url, init);
  } catch {
    throw new StepFailed(`No service answers at ${url}`, 'Run npm start first, or name the address of the service with --url.');
  }
}

/** `fetch` for every client here: it waits where the service says that it was asked too often. */
const patientFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const seconds = Number(response.headers.get('retry-after'));
  if (response.status !== 429 || !(seconds > 0 && seconds <= MAX_WAIT_SECONDS)) return response;
  narrate(`(the service allows so many requests a minute: waiting ${seconds} s)`);
  await delay(seconds * 1_000);
  return fetch(input, init);
};

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** What a sold answer brings along: EIP-712 typed data, signed by the seller. */
export interface Receipt {
  domain: { name: string; version: string; chainId: number };
  types: { Receipt: { name: string; type: string }[] };
  message: { payer: Address; payee: Address; amount: string; answerHash: Hash; attestationUid: Hash; txHash: Hash; settledAt: string };
  signature: Hex;
  signer: Address;
}

/** The seller's signature, what it was given for, and the money on chain: then the agent has paid. */
export async function checkReceipt(
  agent: Agent,
  receipt: Receipt,
  { answer, seller }: { answer: unknown; seller: Address },
): Promise<void> {
  const { domain, types, message, signature, signer } = receipt;
  const typed = { ...message, amount: BigInt(message.amount), settledAt: BigInt(message.settledAt) };
  const isSigned = await verifyTypedData({ address: signer, domain, types, primaryType: 'Receipt', message: typed, signature });
  check(isSigned && isAddressEqual(signer, seller), `the receipt is signed by the seller ${short(seller)}`);
  check(isAddressEqual(message.payer, agent.account.address), 'it names this wallet as the payer');
  check(keccak256(stringToBytes(canonicalize(answer)!)) === message.answerHash, 'its answerHash is the hash of the answer');
  await checkPaid(agent, message);
}

/** What a transaction has moved from the agent to a payee. */
async function checkPaid(
  agent: Agent,
  { txHash, payee, amount }: { txHash: Hash; payee: Address; amount: string | bigint },
): Promise<void> {
  const { logs } = await agent.chain.getTransactionReceipt({ hash: txHash });
  const coins = logs.filter(({ address }) => isAddressEqual(address, agent.contracts.stablecoin));
  const moved = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', args: { from: agent.account.address, to: payee }, logs: coins });
  const paid = moved.reduce((sum, { args }) => sum + args.value, 0n);
  check(paid === BigInt(amount), `${usd(paid)} went to ${short(payee)} in ${short(txHash)}`);
  agent.spent += paid;
}

function short(hex: string): string {
  return `${hex.slice(0, 6)}…${hex.slice(-4)}`;
}

/** What the buyer holds and what the service has earned, in units. */
interface Money {
  buyer: bigint;
  payments: number;
  revenue: bigint;
}

export async function countMoney(agent: Agent): Promise<Money> {
  const [buyer, revenue] = await Promise.all([
    balanceOf(agent),
    ask<{ payments: number; usdMicros: string }>(`${agent.service}/api/svc/revenue`),
  ]);
  return { buyer, payments: revenue.payments, revenue: BigInt(revenue.usdMicros) };
}

/** An answer to an anonymous request may be that old. */
const MAX_ANSWER_AGE_MS = 1_000;

/** The wallet's balance, the receipts and the service's ledger agree to the unit. */
export async function compareMoney(agent: Agent, before: Money): Promise<Money> {
  beginStep('Compare the books');
  await delay(MAX_ANSWER_AGE_MS);
  const after = await countMoney(agent);
  narrate(`the buyer held ${usd(before.buyer)}, and has ${usd(after.buyer)} left`);
  narrate(`the service had earned ${usd(before.revenue)} in ${before.payments} payments; now ${usd(after.revenue)} in ${after.payments}`);
  check(before.buyer - after.buyer === agent.spent, `the wallet is short of exactly what was bought: ${usd(agent.spent)}`);
  const earned = after.revenue - before.revenue;
  check(earned >= agent.spent, 'all of it stands in the ledger of the service');
  if (earned > agent.spent) narrate(`(others have paid ${usd(earned - agent.spent)} meanwhile)`);
  else check(true, 'to the unit');
  return after;
}

interface Card {
  name: string;
  version: string;
  skills: { id: string }[];
  signatures: { protected: string; signature: string }[];
}

/** Reads the agent card and verifies its signature. */
export async function findCard({ service }: Agent): Promise<void> {
  beginStep('Find the service and verify its card');
  const { signatures, ...card } = await ask<Card>(`${service}/.well-known/agent-card.json`);
  narrate(`${card.name} ${card.version}: ${card.skills.map(({ id }) => id).join(', ')}`);
  const payload = Buffer.from(canonicalize(card)!).toString('base64url');
  const keys = createLocalJWKSet(await ask<JSONWebKeySet>(`${service}/.well-known/agent-card-jwks.json`));
  const isSigned = await flattenedVerify({ ...signatures[1], payload }, keys).then(
    () => true,
    () => false,
  );
  check(isSigned, 'the card is signed by a key of the service');
}

const PAYMENTS = 'https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2';

/** What messages of the service say of a payment. */
interface PaymentMetadata {
  'x402.payment.status'?: string;
  'x402.payment.required'?: Parameters<Agent['payer']['createPaymentPayload']>[0];
  'x402.payment.receipts'?: { success: boolean; transaction: string }[];
  'bitcoin-signal-oracle/receipt'?: { receipt: Receipt };
}

/** The same agent to agent: a task for everybody, and one that waits until it is paid for. */
export async function askA2a(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Ask over A2A');
  const client = await connect(agent.service);
  const free = await sendTask(client, [data({ skill: 'get_market_context', input: {} })]);
  check(free.status?.state === TaskState.TASK_STATE_COMPLETED, `get_market_context, free: ${textOf(free).split('\n')[0]}`);
  const asked = await sendTask(client, [data({ skill: 'predict_btc_direction', input: { horizon: '7d' } })]);
  const required = metadataOf(asked)['x402.payment.required'];
  const waits = asked.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED && required !== undefined;
  check(waits, 'predict_btc_direction waits with INPUT_REQUIRED and the terms', JSON.stringify(asked.status).slice(0, 500));
  const payment = await agent.payer.createPaymentPayload(required);
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payment };
  const paid = await sendTask(client, [words('Here is the payment.')], { taskId: asked.id, contextId: asked.contextId, metadata });
  const paymentMetadata = metadataOf(paid);
  const isPaid = paid.status?.state === TaskState.TASK_STATE_COMPLETED && paymentMetadata['x402.payment.status'] === 'payment-completed';
  check(isPaid, `the same task is paid and completed: ${textOf(paid).split('\n')[0]}`, JSON.stringify(paid.status).slice(0, 500));
  const [settled] = paymentMetadata['x402.payment.receipts']!;
  const { receipt } = paymentMetadata['bitcoin-signal-oracle/receipt']!;
  check(settled.success && settled.transaction === receipt.message.txHash, 'its receipt names the settlement');
  await checkReceipt(agent, receipt, { answer: dataOf(paid), seller });
}

/** From the address alone: the card says where and how. Payments are an extension, which a client has to ask for. */
function connect(service: string): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) =>
    patientFetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'A2A-Extensions': PAYMENTS } });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  return new ClientFactory({ ...ClientFactoryOptions.default, transports }).createFromUrl(service);
}

async function sendTask(client: Client, parts: Part[], more: Partial<Message> = {}): Promise<Task> {
  const empty = { contextId: '', taskId: '', metadata: undefined, extensions: [], referenceTaskIds: [] };
  const message = { ...empty, messageId: randomUUID(), role: Role.ROLE_USER, parts, ...more };
  return (await client.sendMessage({ tenant: '', message, configuration: undefined, metadata: undefined })) as Task;
}

function data(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: 'application/json' };
}

function metadataOf({ status }: Task): PaymentMetadata {
  return status?.message?.metadata ?? {};
}

function words(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

function dataOf({ artifacts }: Task): unknown {
  return artifacts[0].parts.find(({ content }) => content?.$case === 'data')?.content?.value;
}

function textOf({ artifacts }: Task): string {
  const text = artifacts[0]?.parts.find(({ content }) => content?.$case === 'text')?.content?.value;
  return typeof text === 'string' ? text : '';
}

const WANTED = 'svc_market_context';
const PATIENCE_MS = 60_000;

const abi = parseAbi([
  'function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)',
  'function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)',
  'function complete(uint256 jobId, bytes32 reason, bytes optParams)',
  'event JobCreated(uint256 indexed jobId, address indexed client, address indexed provider, address evaluator, uint256 expiredAt, address hook)',
]);

interface Order {
  contract: Address;
  jobId: bigint;
  price: bigint;
}

/** What the service says of a job. */
interface Job {
  accepted: boolean | null;
  /** Why it is refused. */
  reason: string | null;
  budget: { amount: string };
  deliverable: { hash: Hash } | null;
  payment: { amount: string; txHash: Hash } | null;
}

/** Hires the service by an ERC-8183 contract, which holds the money until the work is accepted. */
export async function openJob(agent: Agent): Promise<void> {
  beginStep('Open an agent commerce job: ERC-8183');
  const { title, price, payee: provider, contract } = await findOffering(agent, 'agent-commerce', WANTED);
  const order = { contract: contract!, price, jobId: await createJob(agent, contract!, provider) };
  narrate(`job ${order.jobId} for "${title}" at ${short(order.contract)}, evaluated by ourselves`);
  const offered = await until(agent, order, 'the price', ({ accepted, budget }) => accepted === true && budget.amount !== '0');
  check(offered.budget.amount === price.toString(), `the provider takes it on for the listed ${usd(price)}`);
  await fund(agent, order);
  const { deliverable } = await until(agent, order, 'the delivery', (job) => job.deliverable !== null);
  await fetchDelivery(agent, order, deliverable!.hash);
  await complete(agent, order);
  const { payment } = await until(agent, order, 'the payment', (job) => job.payment !== null);
  check(payment!.amount === price.toString(), `accepted: ${usd(price)} released to the provider in ${short(payment!.txHash)}`);
}

async function createJob(agent: Agent, contract: Address, provider: Address): Promise<bigint> {
  const { chain, account } = agent;
  const { timestamp } = await chain.getBlock();
  const seconds = BigInt(Math.floor(Date.now() / 1_000));
  const expiredAt = (timestamp > seconds ? timestamp : seconds) + 3_600n;
  const args = [provider, account.address, expiredAt, JSON.stringify({ offering: WANTED }), zeroAddress] as const;
  const hash = await send(agent, 'createJob', { to: contract, data: encodeFunctionData({ abi, functionName: 'createJob', args }) });
  const { logs } = await chain.getTransactionReceipt({ hash });
  return parseEventLogs({ abi, eventName: 'JobCreated', logs })[0].args.jobId;
}

/** The contract takes the price into escrow. */
async function fund(agent: Agent, { contract, jobId, price }: Order): Promise<void> {
  const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, price] });
  await send(agent, 'approve', { to: agent.contracts.stablecoin, data: allowance });
  const data = encodeFunctionData({ abi, functionName: 'fund', args: [jobId, price, '0x'] });
  await checkPaid(agent, { txHash: await send(agent, 'fund', { to: contract, data }), payee: contract, amount: price });
}

async function complete(agent: Agent, { contract, jobId }: Order): Promise<void> {
  const args = [jobId, keccak256(stringToHex('as ordered')), '0x'] as const;
  await send(agent, 'complete', { to: contract, data: encodeFunctionData({ abi, functionName: 'complete', args }) });
}

/** The bytes are for client and evaluator only: the wallet signs for them. Their hash is on chain. */
async function fetchDelivery({ service, account }: Agent, { contract, jobId }: Order, hash: Hash): Promise<void> {
  const timestamp = Date.now();
  const signature = await account.signMessage({ message: `Fetch svc job: ${getAddress(contract)}:${jobId}:${timestamp}` });
  const url = `${service}/api/svc/commerce/jobs/${jobId}/deliverable`;
  const response = await reach(url, post({ wallet: account.address, timestamp, signature }));
  if (!response.ok) await answerOf(url, response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  narrate(`${Math.ceil(bytes.length / 1_024)} kB delivered to the client of the job`);
  check(keccak256(bytes) === hash, `whose keccak256 is what the job says on chain, ${short(hash)}`);
}

/** Asks what became of the job, every second. */
async function until({ service }: Agent, { jobId }: Order, what: string, holds: (job: Job) => boolean): Promise<Job> {
  const url = `${service}/api/svc/commerce/jobs/${jobId}`;
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await delay(1_000)) {
    const response = await reach(url);
    // Its block is not deep enough yet.
    if (response.status === 503) continue;
    const job = await answerOf<Job>(url, response);
    if (job.accepted === false) throw new StepFailed(`The provider refuses the job: ${job.reason}`, 'Create another one.');
    if (holds(job)) return job;
  }
  throw new StepFailed(`Waited a minute for ${what}`, `Look at ${url}: "next" says what is to come.`);
}

const WANTED_DOCUMENT = 'svc_verified_track_record';

interface Delivery {
  title: string;
  document: object;
  receipt: Receipt;
  /** Whether it was delivered before. */
  again: boolean;
}

/** Buys a document by a plain transfer, whose hash proves the payment. */
export async function buyDocument(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Buy a document by a transfer');
  const { title, price, payee } = await findOffering(agent, 'purchase', WANTED_DOCUMENT);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payee, price] });
  const txHash = await send(agent, 'The transfer', { to: agent.contracts.stablecoin, data });
  narrate(`${title}: ${usd(price)} sent to ${short(payee)} in ${short(txHash)}`);
  const { account, service } = agent;
  const signature = await account.signMessage({ message: `Buy svc offering: ${WANTED_DOCUMENT}:${txHash}` });
  const order = { offering: WANTED_DOCUMENT, txHash, wallet: account.address, signature };
  const bought = await ask<Delivery>(`${service}/api/svc/commerce/purchase`, post(order));
  narrate(`delivered: "${bought.title}", ${Math.ceil(JSON.stringify(bought.document).length / 1_024)} kB`);
  await checkReceipt(agent, bought.receipt, { answer: bought.document, seller });
  const again = await ask<Delivery>(`${service}/api/svc/commerce/purchase`, post(order));
  check(
    again.again && again.receipt.signature === bought.receipt.signature,
    'the same transaction gets the same delivery again, and nothing else',
  );
}

interface Wanted {
  title: string;
  /** Units of the stablecoin. */
  price: bigint;
  payee: Address;
  /** Of a job. */
  contract: Address | null;
}

interface Offerings {
  offerings: { name: string; title: string; open: boolean; price: { amount: string }; howToPay: Pick<Wanted, 'payee' | 'contract'> }[];
  channels: { reason: string | null }[];
}

/** An offering as the price list has it. */
async function findOffering({ service }: Agent, channel: string, wanted: string): Promise<Wanted> {
  const { offerings, channels } = await ask<Offerings>(`${service}/api/svc/commerce/offerings?channel=${channel}`);
  const offering = offerings.find(({ name }) => name === wanted);
  if (offering?.open) return { title: offering.title, price: BigInt(offering.price.amount), ...offering.howToPay };
  throw new StepFailed(`${wanted} cannot be bought by ${channel} now`, channels[0]?.reason ?? 'Look at the list of offerings.');
}

const eas = parseAbi([
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
]);
const OPENING = parseAbiParameters(
  'bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents',
);
const PREDICTION = parseAbiParameters('uint64, uint32, uint16, uint64, uint64, bytes32 commitment, bytes32, bytes32');

/** Compares the bought forecast with the commitment on chain, made before the outcome was known. */
export async function checkForecast({ chain, contracts }: Agent, sold: SoldForecast): Promise<void> {
  beginStep('Check on chain that this is what was committed');
  const { attestationUid, opening, receipt } = sold;
  if (attestationUid === null) return narrate('It is minutes old and not on chain yet: forecasts are committed at 21:38 UTC.');
  check(receipt.message.attestationUid === attestationUid, `the receipt names the attestation ${short(attestationUid)}`);
  const { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents } = opening;
  narrate(
    `sold: ${sold.signal} (${signal}), ${sold.direction} (${direction}), confidence ${confidenceBps / 100} %, BTC at ${btcPriceCents / 100} USD`,
  );
  const opened = keccak256(encodeAbiParameters(OPENING, [salt, signal, direction, confidenceBps, pUpBps, BigInt(btcPriceCents)]));
  const { time, data } = await chain.readContract({
    address: contracts.eas,
    abi: eas,
    functionName: 'getAttestation',
    args: [attestationUid],
  });
  const [, , , windowOpensAt, , commitment] = decodeAbiParameters(PREDICTION, data);
  check(commitment === opened, `the sold values and salt hash to the commitment on chain, ${short(commitment)}`);
  check(time < windowOpensAt, `which was there at ${isoOf(time)}, before its window opened at ${isoOf(windowOpensAt)}`);
}

function isoOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1_000).toISOString().slice(0, 16).replace('T', ' ');
}

/** A forecast that was paid for, with what opens its commitment. */
interface SoldForecast {
  signal: 'BUY' | 'SELL' | 'HOLD';
  direction: 'UP' | 'DOWN';
  horizon: string;
  date: string;
  /** Null for some minutes after it was made. */
  attestationUid: Hash | null;
  opening: { salt: Hex; signal: number; direction: number; confidenceBps: number; pUpBps: number; btcPriceCents: number };
  payment: { txHash: Hash };
  receipt: Receipt;
}

/** Pays with the request itself (x402): a signature goes along, and the service settles it. Returns the premium answer. */
export async function payRequests(agent: Agent, terms: Terms): Promise<SoldForecast> {
  beginStep('Pay with the request: x402');
  const paidFetch = wrapFetchWithPayment(patientFetch, agent.payer);
  const buy = async (path: string): Promise<SoldForecast> => {
    const answer = await answerOf<SoldForecast>(path, await paidFetch(`${agent.service}${path}`));
    narrate(`GET ${path}: ${answer.signal} for ${answer.horizon} from ${answer.date}`);
    await checkSold(agent, answer, terms);
    return answer;
  };
  await buy('/oracle?horizon=7d');
  return buy('/oracle/premium?horizon=7d');
}

async function checkSold(agent: Agent, { payment, receipt, ...answer }: SoldForecast, { seller }: Terms): Promise<void> {
  check(payment.txHash === receipt.message.txHash, 'payment and receipt name the same transaction');
  await checkReceipt(agent, receipt, { answer, seller });
}

/** Without `access` an assistant gets what is public of the forecast; a payer asks for the payment requirements. */
const FORECAST = { name: 'predict_btc_direction', arguments: { horizon: '7d', access: 'pay' } };

interface PaidMeta {
  'x402/payment-response': { success: boolean; transaction: string };
  'bitcoin-signal-oracle/receipt': { receipt: Receipt };
}

/** The same over MCP, as an assistant would ask: a tool for everybody, and one that is paid for with the call. */
export async function askMcp(agent: Agent, { seller }: Terms): Promise<void> {
  beginStep('Ask over MCP');
  const client = new McpClient({ name: 'demo-agent', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${agent.service}/mcp`), { fetch: patientFetch }));
  try {
    const record = await client.callTool({ name: 'get_track_record', arguments: { horizon: '7d' } });
    narrate(`get_track_record, free: ${firstLine(record)}`);
    const unpaid = await client.callTool(FORECAST);
    check(unpaid.isError === true, 'predict_btc_direction asks for a payment');
    const payment = await agent.payer.createPaymentPayload(JSON.parse(readText(unpaid)));
    const paid = await client.callTool({ ...FORECAST, _meta: { 'x402/payment': payment } });
    check(paid.isError !== true, `and answers for it: ${firstLine(paid)}`, firstLine(paid));
    const { 'x402/payment-response': settled, 'bitcoin-signal-oracle/receipt': sold } = paid._meta as unknown as PaidMeta;
    check(settled.success && settled.transaction === sold.receipt.message.txHash, 'the payment is settled');
    await checkReceipt(agent, sold.receipt, { answer: paid.structuredContent, seller });
  } finally {
    await client.close();
  }
}

function firstLine(result: CallToolResult): string {
  return readText(result).split('\n')[0].slice(0, 200);
}

function readText({ content: [first] }: CallToolResult): string {
  return first?.type === 'text' ? first.text : '';
}
