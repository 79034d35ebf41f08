import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent, createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, createPublicClient, encodeFunctionData, type Hex, http, type LocalAccount, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { PaymentRequirements } from '../src/commerce/x402/terms.ts';
import { parseDemoFile, parseLocalKeys } from '../src/dev/demo.ts';
import { sendTransactions } from '../src/dev/local-chain/contracts.ts';
import { MINUTE_MS } from '../src/forecast/day.ts';
import { type WalletBehaviour, walletFactory } from '../test/support/chain/contract-wallet.ts';
import { deployOffchainLookup } from '../test/support/chain/reverting-contract.ts';
import { asHeader, readHeader } from '../test/support/commerce/payments.ts';
import { type Signing, signPayment } from '../test/support/commerce/x402.ts';
import { type FloodCall, send } from '../test/support/faults/flood-callers.ts';
import { MCP_HEADERS, rpc } from '../test/support/mcp/mcp.ts';
import type { Benchmark, Comparison } from './lib.ts';
import { withFolder } from './process.ts';

/** Of the limit of one address (`RATE_LIMIT_PUBLIC`), which ends the calls of an honest client. */
const MAX_CALLS = 1_000;

/** Reads that are not answered from an earlier answer, as none of these calls is. */
const SIGNAL: FloodCall = { path: '/api/svc/open/signal?cache={n}' };

const post = (path: string, body: unknown, headers: Record<string, string> = {}): FloodCall => ({
  path,
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

const MODEXP = '0x0000000000000000000000000000000000000005';
/** Lengths of base, exponent and modulus of 256 bytes each, then their bytes: a batch of 33 is a body that is accepted. */
const MODEXP_INPUT = `0x${'100'.padStart(64, '0').repeat(3)}${'f'.repeat(3 * 512)}`;
const RECORD_CALL = { name: 'get_track_record', arguments: { pageSize: 50, form: 'full' } };
const TEXT = 'will move where '.repeat(243);
const message = { messageId: 'allowance-{n}', role: 'ROLE_USER', parts: [{ text: TEXT }] };

/** What an anonymous client may call for most of the service's time, each against the same minute of reading the signal. */
const OPERATIONS: readonly { name: string; what: string; call: FloodCall }[] = [
  {
    name: 'MCP batches',
    what: 'batches of 20 get_track_record with all details',
    call: post(
      '/mcp',
      Array.from({ length: 20 }, (_, id) => ({ ...rpc('tools/call', RECORD_CALL), id })),
      MCP_HEADERS,
    ),
  },
  {
    name: 'A2A texts',
    what: `texts of ${TEXT.length.toLocaleString('en-US')} characters that match no skill but begin many`,
    call: post('/a2a', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }, { 'A2A-Version': '1.0' }),
  },
  { name: 'walk-forward', what: 'the walk-forward test', call: { path: '/api/self-test/walk-forward?cache={n}' } },
  {
    name: 'chain reads',
    what: 'batches of 33 calls of the modular exponentiation of the EVM over /rpc',
    call: post(
      '/rpc',
      Array.from({ length: 33 }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'eth_call',
        params: [{ to: MODEXP, data: MODEXP_INPUT }, 'latest'],
      })),
    ),
  },
  { name: 'scorecards', what: 'the scorecard with 1,000 entries', call: { path: '/api/svc/scorecard?limit=1000&cache={n}' } },
];

/** The limit counts by the minute: what is sent across the end of one has two. */
async function untilMinuteIsYoung(): Promise<void> {
  const ms = Date.now() % MINUTE_MS;
  if (ms > MINUTE_MS / 2) await delay(MINUTE_MS - ms);
}

/** Sends a call from one address until its allowance of the minute is used up. */
async function useAllowance({ url, nextAddress, report }: Target, name: string, call: FloodCall): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: nextAddress() });
  await untilMinuteIsYoung();
  let requests = 0;
  let isLimited = false;
  while (!isLimited && requests < MAX_CALLS) {
    const { status, text } = await send(url, call, agent);
    isLimited = status === 429 || /"code":(?:"RATE_LIMITED"|-32005)/.test(text);
    requests += 1;
  }
  agent.destroy();
  report(`  ${name}: ${requests} requests until the limit of one address`);
  return { requests, bytes: requests * (call.path.length + (call.body?.length ?? 0)) };
}

const ALLOWANCES: readonly Attack[] = OPERATIONS.map(({ name, what, call }) => ({
  name,
  what: `one address sends ${what} until it reaches its limit`,
  per: 'minute',
  honest: (target) => useAllowance(target, 'signal', SIGNAL),
  hostile: (target) => useAllowance(target, name, call),
}));

/** A running service that is measured. */
interface Target {
  url: string;
  /** Of the process whose descendants run database and chain. */
  pid: number;
  /** An address of this machine that has not been used before. */
  nextAddress(): string;
  report(line: string): void;
}

/** What was sent to the service. */
interface Sent {
  requests: number;
  bytes: number;
}

/** The same kind of request, as a client sends it and as an attacker does. */
interface Attack {
  name: string;
  /** What the attacker does, in one sentence. */
  what: string;
  /** `minute`: both sides use up the allowance of one address; default: each kilobyte that is sent is compared. */
  per?: 'kilobyte' | 'minute';
  honest(target: Target): Promise<Sent>;
  hostile(target: Target): Promise<Sent>;
}

const PAYMENTS = 24;
const RESOURCE = '/oracle?horizon=7d';
const FUNDS_USDC_MICROS = 1_000_000n;
/** A second ahead is what an attacker signs who wants an answer and no settlement. */
const SHORT_SECONDS = 1;
const GAS_WASTERS: readonly WalletBehaviour[] = ['valid without gas price', 'burns gas', 'never ends'];

const mintAbi = parseAbi(['function mint(address to, uint256 value)']);

/** Who signs, and the wallet that is to pay. */
interface Payer {
  account: LocalAccount;
  wallet: Address;
}

interface Chain {
  rpcUrl: string;
  deployer: LocalAccount;
  facilitator: Address;
  mint(to: Address): Promise<void>;
}

/** Payments that cost the service more than they bring, each beside as many good ones. @param folder of the running service */
async function openPaymentAttacks(target: Target, folder: string): Promise<Attack[]> {
  const chain = await openChain(folder);
  const requirements = await readRequirements(target);
  const good = await createPayers(chain);
  const pay = (payers: readonly Payer[], change: Signing['change'] = {}) => sendPayments(target, { requirements, payers, change });
  const honest = async () => {
    const { sent, answers } = await pay(good);
    if (answers !== `${PAYMENTS} x 200`) throw new Error(`good payments were answered ${answers}`);
    return sent;
  };
  return [
    await offchainLookup(chain, { honest, pay, report: target.report }),
    await settlementGas(chain, { honest, pay, report: target.report }),
    shortLived(good, { honest, pay, report: target.report }),
  ];
}

interface Paying extends Pick<Target, 'report'> {
  honest(): Promise<Sent>;
  pay(payers: readonly Payer[], change?: Signing['change']): Promise<Paid>;
}

async function offchainLookup(chain: Chain, { honest, pay, report }: Paying): Promise<Attack> {
  let lookups = 0;
  const server = createServer((_request, response) => {
    lookups += 1;
    response.end('{"data":"0x"}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{sender}/{data}`;
  const contract = await deployOffchainLookup({ rpcUrl: chain.rpcUrl, payer: chain.deployer }, [url]);
  await chain.mint(contract);
  const payers = Array.from({ length: PAYMENTS }, () => ({ account: privateKeyToAccount(generatePrivateKey()), wallet: contract }));
  return {
    name: 'offchain lookup',
    what: `${PAYMENTS} x402 payments of a contract that answers each call with an EIP-3668 lookup, beside as many good payments`,
    honest,
    async hostile() {
      const { sent, answers } = await pay(payers);
      report(`  answers to payments with an offchain lookup: ${answers}; lookups that the service made: ${lookups}`);
      return sent;
    },
  };
}

async function settlementGas(chain: Chain, { honest, pay, report }: Paying): Promise<Attack> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const walletOf = await walletFactory({ client }, chain.rpcUrl, chain.deployer);
  const payers: Payer[] = [];
  for (let index = 0; index < PAYMENTS; index++) {
    const account = privateKeyToAccount(generatePrivateKey());
    const wallet = await walletOf(account.address, GAS_WASTERS[index % GAS_WASTERS.length]);
    await wallet.deploy();
    await chain.mint(wallet.address);
    payers.push({ account, wallet: wallet.address });
  }
  return {
    name: 'settlement gas',
    what: `${PAYMENTS} x402 payments of contracts (${GAS_WASTERS.join(', ')}), beside as many good payments`,
    honest,
    async hostile() {
      const before = await client.getBalance({ address: chain.facilitator });
      const { sent, answers } = await pay(payers);
      const spentWei = before - (await client.getBalance({ address: chain.facilitator }));
      report(`  answers to payments of such contracts: ${answers}; spent on gas: ${spentWei} wei`);
      return sent;
    },
  };
}

function shortLived(payers: readonly Payer[], { honest, pay, report }: Paying): Attack {
  return {
    name: 'short-lived payments',
    what: `${PAYMENTS} x402 payments that expire within ${SHORT_SECONDS} s, beside as many that are good for minutes`,
    honest,
    async hostile() {
      const validBefore = String(Math.floor(Date.now() / 1_000) + SHORT_SECONDS);
      const { sent, answers } = await pay(payers, { validBefore });
      report(`  answers to payments that expire at once: ${answers}`);
      return sent;
    },
  };
}

interface Paid {
  sent: Sent;
  /** How often each status was answered. */
  answers: string;
}

interface Payments {
  requirements: PaymentRequirements;
  payers: readonly Payer[];
  change: Signing['change'];
}

/** Sends a payment of each payer, each from an address of its own. */
async function sendPayments({ url, nextAddress }: Target, { requirements, payers, change }: Payments): Promise<Paid> {
  const counts = new Map<string, number>();
  let bytes = 0;
  for (const { account, wallet } of payers) {
    const payment = await signPayment({ account, requirements, change: { from: wallet, ...change } });
    const request = getRequest(RESOURCE, { 'PAYMENT-SIGNATURE': asHeader(payment), Connection: 'close' });
    bytes += request.length;
    const status = /^HTTP\/1\.1 (\d{3})/.exec(await exchange(url, nextAddress(), request))?.[1] ?? 'none';
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  const answers = [...counts].map(([status, count]) => `${count} x ${status}`).join(', ');
  return { sent: { requests: payers.length, bytes }, answers };
}

async function readRequirements({ url, nextAddress }: Target): Promise<PaymentRequirements> {
  const answer = await exchange(url, nextAddress(), getRequest(RESOURCE, { Connection: 'close' }));
  return readHeader(/^payment-required: (\S+)/im.exec(answer)?.[1]).accepts[0];
}

async function openChain(folder: string): Promise<Chain> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const { rpcUrl, contracts } = parseDemoFile(await read('demo.json'));
  const keys = parseLocalKeys(await read('keys.json'));
  const deployer = privateKeyToAccount(keys.deployer);
  const mint = (to: Address) => encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [to, FUNDS_USDC_MICROS] }) as Hex;
  return {
    rpcUrl,
    deployer,
    facilitator: privateKeyToAccount(keys.facilitator).address,
    mint: (to) => sendTransactions(rpcUrl, deployer, [{ to: contracts.stablecoin, data: mint(to) }]),
  };
}

async function createPayers({ mint }: Chain): Promise<Payer[]> {
  const accounts = Array.from({ length: PAYMENTS }, () => privateKeyToAccount(generatePrivateKey()));
  for (const { address } of accounts) await mint(address);
  return accounts.map((account) => ({ account, wallet: account.address }));
}

/** Where a connection of a benchmark comes from: each call names another address of the loopback network. */
function createAddresses(): () => string {
  let last = 256;
  return () => {
    last += 1;
    return `127.${1 + (last >> 16)}.${(last >> 8) & 255}.${last & 255}`;
  };
}

interface Opened {
  socket: Socket;
  /** Resolves when the connection is over, for whatever reason. */
  closed: Promise<void>;
}

/** A connection from an address of this machine. @param reads false: nothing that comes is ever read */
function open(url: string, from: string, reads: boolean): Promise<Opened> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from, noDelay: true });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => socket.destroy());
  if (reads) socket.resume();
  else socket.pause();
  return new Promise((resolve) => {
    socket.once('connect', () => resolve({ socket, closed }));
    socket.once('close', () => resolve({ socket, closed }));
  });
}

/** The bytes of a GET. */
function getRequest(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Sends requests of which the last says `Connection: close`, and reads until the server closes. Resolves to what came. */
async function exchange(url: string, from: string, bytes: string): Promise<string> {
  const { socket, closed } = await open(url, from, true);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await closed;
  return Buffer.concat(chunks).toString('latin1');
}

const SOCKETS = 10;
const BYTES_A_SOCKET = 63_200;
/** Of one address in a minute: below its limit. */
const HONEST_AN_ADDRESS = 50;

const REQUEST = getRequest('/');
const LAST = getRequest('/', { Connection: 'close' });
const HONEST_ADDRESSES = Math.floor((SOCKETS * BYTES_A_SOCKET) / LAST.length / HONEST_AN_ADDRESS);

/** Requests on one socket behind each other, whose answers are never read. */
const PIPELINING: Attack = {
  name: 'pipelining',
  what: `${SOCKETS} sockets send ${BYTES_A_SOCKET.toLocaleString('en-US')} bytes of GET / each and never read`,
  async honest({ url, nextAddress }) {
    for (const from of Array.from({ length: HONEST_ADDRESSES }, nextAddress))
      for (let sent = 0; sent < HONEST_AN_ADDRESS; sent++) await exchange(url, from, LAST);
    const requests = HONEST_ADDRESSES * HONEST_AN_ADDRESS;
    return { requests, bytes: requests * LAST.length };
  },
  async hostile({ url, nextAddress }) {
    const requests = Math.floor(BYTES_A_SOCKET / REQUEST.length);
    const opened = await Promise.all(Array.from({ length: SOCKETS }, () => open(url, nextAddress(), false)));
    for (const { socket } of opened) socket.write(REQUEST.repeat(requests));
    return { requests: SOCKETS * requests, bytes: SOCKETS * requests * REQUEST.length };
  },
};

const REQUESTS = 240;
/** Streams that one address opens. */
const STREAMS_AN_ADDRESS = 8;
/** The trusted proxy: the service believes what it says of the address that it forwards. */
const PROXY = '127.0.0.1';
/** As long as a client waits for streams that the service leaves open. */
const OPEN_MS = 5_000;

/** `SendStreamingMessage` whose task waits for its caller's input, from an address. */
function streamRequest(forwardedFor: string): string {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
  const head = ['POST /a2a HTTP/1.1', 'Host: 127.0.0.1', `X-Forwarded-For: ${forwardedFor}`, 'A2A-Version: 1.0'];
  return `${[...head, 'Content-Type: application/json', `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
}

/** Opens all streams at once, and closes those that are left open. */
async function openStreams({ url, report }: Target, addressOf: (index: number) => string, whose: string): Promise<Sent> {
  const requests = Array.from({ length: REQUESTS }, (_, index) => streamRequest(addressOf(Math.floor(index / STREAMS_AN_ADDRESS))));
  const streams = await Promise.all(requests.map((request) => openStream(url, request)));
  const taken = streams.filter(({ isOpen }) => isOpen).length;
  report(`  streams that ${whose} opened: ${taken} of ${REQUESTS}`);
  for (const { socket } of streams) socket.destroy();
  return { requests: REQUESTS, bytes: requests.reduce((sum, { length }) => sum + length, 0) };
}

interface Stream extends Opened {
  /** False where an error, or nothing, was answered. */
  isOpen: boolean;
}

async function openStream(url: string, request: string): Promise<Stream> {
  const opened = await open(url, PROXY, true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), OPEN_MS);
  opened.socket.once('data', (head: Buffer) => resolve(/^content-type: text\/event-stream/im.test(head.toString('latin1'))));
  opened.socket.once('close', () => resolve(false));
  opened.socket.write(request);
  return { ...opened, isOpen: await promise.finally(() => clearTimeout(timer)) };
}

const hex = (value: number) => value.toString(16);

/** A2A streams from the subnets of one /48, which one subscriber may have, beside as many from unrelated networks. */
const RANGES: Attack = {
  name: 'ranges',
  what: `${REQUESTS} A2A streams from ${REQUESTS / STREAMS_AN_ADDRESS} subnets of one IPv6 /48, beside as many from networks of their own`,
  honest: (target) => openStreams(target, (index) => `2001:db8:${hex(0x1000 + index)}::1`, 'networks of their own'),
  hostile: (target) => openStreams(target, (index) => `2001:db8:1:${hex(index)}::1`, 'subnets of one /48'),
};

const ADDRESSES = 15;
const REQUESTS_AN_ADDRESS = 50;
/** The largest public answer. */
const SLOW_READERS_REQUEST = getRequest('/.well-known/openapi.json', { 'Accept-Encoding': 'identity', Connection: 'close' });

const addresses = ({ nextAddress }: Target) => Array.from({ length: ADDRESSES }, nextAddress);
const SENT = { requests: ADDRESSES * REQUESTS_AN_ADDRESS, bytes: ADDRESSES * REQUESTS_AN_ADDRESS * SLOW_READERS_REQUEST.length };

/** Large answers that are asked for and left unread. */
const SLOW_READERS: Attack = {
  name: 'slow readers',
  what: `${SENT.requests} sockets of ${ADDRESSES} addresses ask for the OpenAPI document and never read`,
  async honest(target) {
    await Promise.all(
      addresses(target).map(async (from) => {
        for (let sent = 0; sent < REQUESTS_AN_ADDRESS; sent++) await exchange(target.url, from, SLOW_READERS_REQUEST);
      }),
    );
    return SENT;
  },
  async hostile(target) {
    const from = addresses(target).flatMap((address) => Array<string>(REQUESTS_AN_ADDRESS).fill(address));
    const opened = await Promise.all(from.map((address) => open(target.url, address, false)));
    for (const { socket } of opened) socket.write(SLOW_READERS_REQUEST);
    return SENT;
  },
};

/** What a process and all its descendants have used so far. */
interface Usage {
  cpuSeconds: number;
  residentMb: number;
}

/** What work on a process tree has cost, less what the tree uses at rest. */
interface Cost {
  cpuSeconds: number;
  /** The peak of resident memory and of the kernel's TCP buffers above what they were before. */
  peakMb: number;
}

/** Linux counts CPU time in hundredths of a second for user space (`USER_HZ`). */
const TICKS_A_SECOND = 100;
const PAGE_BYTES = 4_096;
const SAMPLE_MS = 50;
const REST_MS = 3_000;
/** CPU of a service at rest is below this share of one core. */
const STARTED_SHARE = 0.1;
const SETTLE_MS = 500;
/** CPU above the tree's rest, as a share of one core, below which work counts as over. */
const SETTLED_SHARE = 0.05;
const MAX_SETTLE_MS = 60_000;

interface ProcessStat extends Usage {
  pid: number;
  parent: number;
}

/** Usage of a process tree by `/proc`. @throws Error where there is none, on other systems than Linux */
export function usageOf(root: number): Usage {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readStat(Number(name)) ?? []) : []));
  const tree = new Set([root]);
  // A child may have a lower number than its parent once numbers wrap, so that one pass is not enough.
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  const own = all.filter(({ pid }) => tree.has(pid));
  const sum = (key: keyof Usage) => own.reduce((total, stat) => total + stat[key], 0);
  return { cpuSeconds: sum('cpuSeconds'), residentMb: sum('residentMb') };
}

/** Null for a process that has ended meanwhile. Fields as in proc(5), counted behind the name, which may hold blanks. */
function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [userTicks, systemTicks, pages] = [fields[11], fields[12], fields[21]];
    return { pid, parent: fields[1], cpuSeconds: (userTicks + systemTicks) / TICKS_A_SECOND, residentMb: (pages * PAGE_BYTES) / 1e6 };
  } catch {
    return null;
  }
}

/** Bytes in TCP buffers of the whole machine: both ends of a loopback connection are in it. */
function tcpMb(): number {
  const pages = Number(/^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1] ?? 0);
  return (pages * PAGE_BYTES) / 1e6;
}

/** CPU seconds a second that a process tree uses while no request is sent, once the work that follows a start is over. */
async function restShare(root: number): Promise<number> {
  const deadline = performance.now() + MAX_SETTLE_MS;
  for (;;) {
    const before = usageOf(root).cpuSeconds;
    await delay(REST_MS);
    const share = (usageOf(root).cpuSeconds - before) / (REST_MS / 1_000);
    if (share < STARTED_SHARE || performance.now() > deadline) return share;
  }
}

/** Runs work and waits until the process tree rests again. @param rest of `restShare` */
async function costOf(root: number, rest: number, work: () => Promise<void>): Promise<Cost> {
  const before = usageOf(root);
  const heldBefore = before.residentMb + tcpMb();
  let peakMb = 0;
  const sample = () => {
    peakMb = Math.max(peakMb, usageOf(root).residentMb + tcpMb() - heldBefore);
  };
  const began = performance.now();
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
    await untilSettled(root, rest);
  } finally {
    clearInterval(timer);
  }
  sample();
  const seconds = (performance.now() - began) / 1_000;
  return { cpuSeconds: Math.max(0, usageOf(root).cpuSeconds - before.cpuSeconds - rest * seconds), peakMb };
}

async function untilSettled(root: number, rest: number): Promise<void> {
  const deadline = performance.now() + MAX_SETTLE_MS;
  while (performance.now() < deadline) {
    const before = usageOf(root).cpuSeconds;
    await delay(SETTLE_MS);
    if ((usageOf(root).cpuSeconds - before) / (SETTLE_MS / 1_000) - rest < SETTLED_SHARE) return;
  }
}

const ATTACKS: readonly Attack[] = [...ALLOWANCES, PIPELINING, SLOW_READERS, RANGES];
/** What hostile input may cost, as a multiple of honest input. */
const MAX_TIMES = 10;
const REPLAY_DAYS = 7;
/** The limits of a service that is started without settings. */
const DEFAULT_LIMITS = { RATE_LIMIT_PUBLIC: '60', RATE_LIMIT_WALLET: '300', RATE_LIMIT_RPC: '10' };

/** What an attacker makes the service spend, beside what a client does with the same kind of request. */
export const HOSTILE: Benchmark = {
  name: 'hostile',
  what: 'CPU and memory that attacks cost, beside honest requests of the same kind',
  async run({ report }) {
    return withFolder(async (start, folder) => {
      const { url, child } = await start({ REPLAY_DAYS: String(REPLAY_DAYS), TRUST_PROXY: '127.0.0.1', ...DEFAULT_LIMITS });
      const target: Target = { url, pid: child.pid!, nextAddress: createAddresses(), report };
      const rest = await restShare(target.pid);
      const comparisons: Comparison[] = [];
      for (const attack of [...ATTACKS, ...(await openPaymentAttacks(target, folder))])
        comparisons.push(await compare(attack, target, rest));
      return comparisons;
    });
  },
};

async function compare(attack: Attack, target: Target, rest: number): Promise<Comparison> {
  // Code and answers that a first request loads are no cost of the second.
  await attack.honest(target);
  const honest = await measure(attack.honest, target, rest);
  const hostile = await measure(attack.hostile, target, rest);
  return {
    kind: 'cost',
    name: attack.name,
    meaning: attack.what,
    per: attack.per ?? 'kilobyte',
    baseline: honest,
    ours: hostile,
    maxTimes: MAX_TIMES,
  };
}

async function measure(send: Attack['honest'], target: Target, rest: number) {
  let sent = { requests: 0, bytes: 0 };
  const cost = await costOf(target.pid, rest, async () => {
    sent = await send(target);
  });
  return { ...sent, ...cost };
}
