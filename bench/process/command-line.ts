import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { type Benchmark, type BenchOptions, interleaved, type TimeComparison } from '../benchmark.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SVC = join(ROOT, 'bin/svc.mjs');
/** Most milliseconds until a command that only prints, or asks the service of this machine once, has ended. */
const GOAL_MS = 250;

const INFO = {
  wallet: `0x${'12'.repeat(20)}`,
  balance: '1',
  tier: 'basic',
  blockNumber: 1,
  access: { tier: 'basic', wallet: `0x${'12'.repeat(20)}` },
};

/** Milliseconds of `svc` from its start to its end, without the cost of npx. */
export const COMMAND_LINE: Benchmark = {
  name: 'svc',
  what: 'the command line from its start to its end, beside node -e 0',
  async run(options): Promise<TimeComparison[]> {
    const server = createServer((_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(INFO)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      return [
        await compare(['--version'], 'Loads the list of the commands, and none of them.', options),
        await compare(['--help'], 'The same, with the text.', options),
        await compare(['whoami', '--url', url, '--token', 'x'], 'Two requests to a server on the loopback address.', options),
      ];
    } finally {
      server.close();
    }
  },
};

async function compare(words: string[], meaning: string, options: BenchOptions): Promise<TimeComparison> {
  const sides = { ours: () => runNode([SVC, ...words]), baseline: () => runNode(['-e', '0']) };
  const { ours, baseline } = await interleaved(sides, options);
  return { kind: 'time', work: `svc ${words[0]}`, meaning, ours, baseline, goalMs: GOAL_MS };
}

async function runNode(words: string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`node ${words.join(' ')} exits with ${code}`);
  return performance.now() - began;
}
