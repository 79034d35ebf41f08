import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, type Hex, http, parseAbi, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile, parseLocalKeys } from '../../src/dev/demo.ts';
import { usageOf } from '../hostile.ts';
import { type Benchmark, type Child, type Comparison, startChild } from '../lib.ts';
import { withFolder } from '../process.ts';
import type { KindResult, MixedLoadAnswers, Results } from './load-process.ts';
import { type ClientKeys, KINDS } from './requests.ts';
import type { SocketsAnswers } from './sockets-process.ts';

const REPLAY_DAYS = 30;
const WALLETS = 100;
const SOCKETS_PER_WALLET = 5;
const BASIC_BALANCE = 500_000_000n * 10n ** 18n;
const GAS_BALANCE = parseEther('0.01');
const CONCURRENT = 32;
const SATURATE_MS = 5_000;
const LOAD_MS = 15_000;
const FACTORS = [0.5, 1, 2];
/** The longest wait for capacity, and the work. */
const GOAL_MS = 6_000;

const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/** What clients of every kind notice at and beyond the capacity of one process. */
export const MIXED: Benchmark = {
  name: 'mixed',
  what: `reads, logins, MCP, A2A, a payment a second and ${WALLETS * SOCKETS_PER_WALLET} WebSockets at ${FACTORS.join(', ')} times the capacity that is found`,
  async run({ report }) {
    return withFolder(async (start, folder) => {
      const { url, child } = await start({ REPLAY_DAYS: String(REPLAY_DAYS) });
      const [load, sockets] = await Promise.all([
        startChild<MixedLoadAnswers>('mixed/load-process.ts'),
        startChild<SocketsAnswers>('mixed/sockets-process.ts'),
      ]);
      try {
        const keys = await readKeys(folder);
        await load.ask('open', { url, keys });
        await passTokens(folder, (key) => sockets.ask('connect', { url, key, count: SOCKETS_PER_WALLET }));
        return await measure({ load, pid: child.pid!, report, countSockets: () => sockets.ask('countOpen') });
      } finally {
        await Promise.all([load.end(), sockets.end()]);
      }
    });
  },
};

async function readKeys(folder: string): Promise<ClientKeys> {
  const { wallets } = parseDemoFile(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  return { premium: wallets.premium!.privateKey, buyer: wallets.buyer!.privateKey };
}

/** Gives the tokens of the Basic tier to one new wallet after the other, since there are not enough for all at a time. */
async function passTokens(folder: string, connect: (key: Hex) => Promise<void>): Promise<void> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const { rpcUrl, contracts } = parseDemoFile(await read('demo.json'));
  const reader = createPublicClient({ transport: http(rpcUrl), pollingInterval: 10 });
  const openWallet = (key: Hex) => createWalletClient({ account: privateKeyToAccount(key), transport: http(rpcUrl) });
  const confirm = async (sent: Promise<Hex>) => void (await reader.waitForTransactionReceipt({ hash: await sent }));
  const deployer = openWallet(parseLocalKeys(await read('keys.json')).deployer);
  let holder = deployer;
  for (let index = 0; index < WALLETS; index++) {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await confirm(deployer.sendTransaction({ chain: null, to: address, value: GAS_BALANCE }));
    await confirm(
      holder.writeContract({ chain: null, address: contracts.gateToken, abi, functionName: 'transfer', args: [address, BASIC_BALANCE] }),
    );
    await connect(key);
    holder = openWallet(key);
  }
}

interface Measured {
  load: Child<MixedLoadAnswers>;
  pid: number;
  report(line: string): void;
  countSockets(): Promise<number>;
}

async function measure({ load, pid, report, countSockets }: Measured): Promise<Comparison[]> {
  await load.ask('saturate', { concurrent: CONCURRENT, ms: SATURATE_MS });
  const capacity = await load.ask('saturate', { concurrent: CONCURRENT, ms: SATURATE_MS });
  const beforeMb = usageOf(pid).residentMb;
  report(`  capacity with ${CONCURRENT} requests at a time: ${capacity.toFixed(0)} a second`);
  const all: Results[] = [];
  for (const factor of FACTORS) {
    const results = await load.ask('load', { perSecond: capacity * factor, ms: LOAD_MS });
    all.push(results);
    report(`  ${factor} x capacity, ${LOAD_MS / 1_000} s${''.padEnd(6)} sent   p50 ms   p99 ms  refused (p50, p99 ms)  lost`);
    for (const kind of KINDS) report(formatKind(kind, results[kind]));
  }
  report(
    `  memory of all processes, MB: ${beforeMb.toFixed(0)} before, ${usageOf(pid).residentMb.toFixed(0)} after; sockets open: ${await countSockets()}`,
  );
  const answered = (results: Results) => KINDS.flatMap((kind) => results[kind].answeredMs);
  return [
    {
      kind: 'time',
      work: 'the slowest answer in a hundred',
      meaning: 'ours: at twice the capacity; baseline: at half of it',
      baseline: [percentile(answered(all[0]), 0.99)],
      ours: [percentile(answered(all.at(-1)!), 0.99)],
      goalMs: GOAL_MS,
    },
  ];
}

function formatKind(kind: string, { sent, answeredMs, refused, refusedMs, failed }: KindResult): string {
  const cells = [String(sent).padStart(12), ...[0.5, 0.99].map((share) => percentile(answeredMs, share).toFixed(0).padStart(8))];
  const lost = Object.entries(failed).map(([reason, count]) => `${count} x ${reason}`);
  const refusals = refused === 0 ? '0' : `${refused} (${[0.5, 0.99].map((share) => percentile(refusedMs, share).toFixed(0)).join(', ')})`;
  return `  ${kind.padEnd(16)}${cells.join(' ')} ${refusals.padStart(21)}  ${lost.length === 0 ? '0' : lost.join(', ')}`;
}

/** 0 without values. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
