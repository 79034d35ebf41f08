import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startLiveHost } from '../../test/support/market/live-host.ts';
import type { RunningService } from '../../test/support/service/running-service.ts';
import type { Benchmark, Comparison, MemoryComparison } from '../benchmark.ts';
import { type Child, startChild } from '../child.ts';
import type { BareAnswers } from '../http/bare-process.ts';
import { callEveryOperation } from './every-operation.ts';
import { ALLOCATOR, type Start, withFolder } from './service-folder.ts';

const REST_GOAL_MB = 150;
const USED_GOAL_MB = 250;
/** A process gives back what its start has used once it has had nothing to do for a while. */
const REST_MS = 20_000;
const REPLAY_DAYS = 7;
/** Steps below this are noise. */
const REPORTED_MB = 5;

/** What a process takes of a machine, with the history of live data. */
export const MEMORY: Benchmark = {
  name: 'memory',
  what: `resident memory with ROLE=api and with the default role, ${REST_MS / 1_000} s after the start and after every operation was called once, beside a process with an Express route`,
  async run({ report }): Promise<Comparison[]> {
    const host = await startLiveHost();
    const bare = await startChild<BareAnswers>('http/bare-process.ts');
    try {
      await bare.ask('serve', { path: '/', headers: {}, body: '{}' });
      return await withFolder((start, folder) => compareRoles(start, folder, host.providerUrls, bare, report));
    } finally {
      await bare.end();
      await host.close();
    }
  },
};

async function compareRoles(start: Start, folder: string, providerUrls: string, bare: Child<BareAnswers>, report: (line: string) => void) {
  const settings = { FEEDS: 'live', PROVIDER_URLS: providerUrls, REPLAY_DAYS: String(REPLAY_DAYS), TRUST_PROXY: '1', ...ALLOCATOR };
  const all = await start(settings);
  const { rpcUrl } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')) as { rpcUrl: string };
  const api = await start({ ...settings, ROLE: 'api', CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', PUBLIC_URL: all.url });
  const measured = [
    { role: 'ROLE=api', goals: { rest: REST_GOAL_MB, used: USED_GOAL_MB }, ...(await measure(api, folder, report)) },
    { role: 'the default role', goals: {}, ...(await measure(all, folder, report)) },
  ];
  const baseline = [await bare.ask('residentMb')];
  return measured.flatMap(({ role, goals, rest, used }): MemoryComparison[] => {
    const meaning = 'What it keeps: code, the history of all series, what it has answered.';
    const shared = { kind: 'memory', meaning, baseline } as const;
    return [
      { ...shared, what: `a process with ${role} at rest`, ours: [rest], goalMb: goals.rest },
      { ...shared, what: `a process with ${role} that has just answered every operation`, ours: [used], goalMb: goals.used },
    ];
  });
}

async function measure({ child, url }: RunningService, folder: string, report: (line: string) => void) {
  const residentMb = () => readResidentMb(child.pid!);
  const ready = await residentMb();
  await delay(REST_MS);
  const rest = await residentMb();
  report(`  when it is ready ${ready.toFixed(0)} MB, ${REST_MS / 1_000} s later ${rest.toFixed(0)} MB`);
  let last = rest;
  const statuses = await callEveryOperation(url, folder, async (operation) => {
    const now = await residentMb();
    if (now - last >= REPORTED_MB) report(`  ${operation}: ${(now - last).toFixed(0)} MB more`);
    last = now;
  });
  const used = await residentMb();
  await delay(REST_MS);
  const answered = [...statuses.values()].filter((status) => status < 400).length;
  report(
    `  ${statuses.size} operations, ${answered} without an error: ${used.toFixed(0)} MB, and later ${(await residentMb()).toFixed(0)} MB`,
  );
  return { rest, used };
}

async function readResidentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1e6;
}
