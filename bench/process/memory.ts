import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startLiveHost } from '../../test/support/market/live-host.ts';
import type { RunningService } from '../../test/support/service/running-service.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { type Child, startChild } from '../child.ts';
import type { BareAnswers } from '../http/bare-process.ts';
import { type Start, withFolder } from './service-folder.ts';

const GOAL_MB = 200;
/** A process gives back what its start has used once it has had nothing to do for a while. */
const REST_MS = 30_000;
const REPLAY_DAYS = 7;
/** As docs/OPERATE.md has an API process. */
const AS_DOCUMENTED = { ROLE: 'api', MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };
/** What makes a process load what it needs for most answers; `/api/status` looks at the history of all series. */
const PATHS = ['/api/status', '/api/svc/open/signal', '/api/svc/scorecard', '/.well-known/openapi.json', '/'];

/** What another process beside the worker takes of a machine. */
export const MEMORY: Benchmark = {
  name: 'memory',
  what: `resident memory of a process with ROLE=api and the history of live data, ${REST_MS / 1_000} s after it was last asked, beside one with an Express route`,
  async run({ report }): Promise<Comparison[]> {
    const host = await startLiveHost();
    const bare = await startChild<BareAnswers>('http/bare-process.ts');
    try {
      await bare.ask('serve', { path: '/', headers: {}, body: '{}' });
      return await withFolder(async (start, folder) => compare(await startApi(start, folder, host.providerUrls), bare, report));
    } finally {
      await bare.end();
      await host.close();
    }
  },
};

/** Beside a process that collects the data, and runs database and chain. */
async function startApi(start: Start, folder: string, providerUrls: string): Promise<RunningService> {
  const settings = { FEEDS: 'live', PROVIDER_URLS: providerUrls, REPLAY_DAYS: String(REPLAY_DAYS) };
  const { url } = await start(settings);
  const { rpcUrl } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')) as { rpcUrl: string };
  return start({ ...settings, ...AS_DOCUMENTED, CHAIN_RPC_URL: rpcUrl, PUBLIC_URL: url });
}

async function compare(api: RunningService, bare: Child<BareAnswers>, report: (line: string) => void): Promise<Comparison[]> {
  const first = await residentMb(api.child.pid!);
  await delay(REST_MS);
  const rested = await residentMb(api.child.pid!);
  report(`  when it is ready ${first.toFixed(0)} MB, ${REST_MS / 1_000} s later ${rested.toFixed(0)} MB`);
  for (const path of PATHS) {
    const began = performance.now();
    await (await fetch(`${api.url}${path}`)).arrayBuffer();
    report(`  ${path} is answered for the first time after ${(performance.now() - began).toFixed(0)} ms`);
  }
  report(`  with these answered ${(await residentMb(api.child.pid!)).toFixed(0)} MB`);
  await delay(REST_MS);
  const [ours, baseline] = [[await residentMb(api.child.pid!)], [await bare.ask('residentMb')]];
  const meaning = 'What it keeps: code, the history of all series, what it has answered.';
  return [{ kind: 'memory', what: 'an API process at rest, which has answered', meaning, ours, baseline, goalMb: GOAL_MB }];
}

async function residentMb(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return (Number(stdout) * 1_024) / 1e6;
}
