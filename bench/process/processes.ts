import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile } from '../../src/dev/demo/demo-file.ts';
import { signedLogin } from '../../test/support/auth/login.ts';
import type { RunningService } from '../../test/support/service/running-service.ts';
import { type Benchmark, type Comparison, interleaved } from '../benchmark.ts';
import { type Child, startChild } from '../child.ts';
import type { LoadAnswers, Loaded } from '../http/load-process.ts';
import { type Start, withFolder } from './service-folder.ts';

const API_PROCESSES = 4;
const WORKERS = 2;
const CONNECTIONS = 25;
const ROUND_MS = 2_000;
const REPLAY_DAYS = 30;
/** Read from the database for each request: answers to a token are not sent again. */
const PATH = '/api/svc/oracle/premium';
/** Of the requests per second of one process. */
const GOAL = 3;
/** Without one for each API process, the database and the clients they wait for each other. */
const CORES = API_PROCESSES + 2;

/** API and worker processes on one database, as many as asked for. */
export const PROCESSES: Benchmark = {
  name: 'processes',
  what: `GET ${PATH} at ${API_PROCESSES} API processes (--api) beside ${WORKERS} workers (--workers) on one database, against one API process`,
  async run({ rounds, report, api = API_PROCESSES, workers = WORKERS }) {
    return withFolder(async (start, folder) => {
      const services = await startProcesses(start, folder, { api, workers });
      const clients = await Promise.all(services.map(() => startChild<LoadAnswers>('http/load-process.ts')));
      try {
        report(
          `  ${availableParallelism()} cores; ${api} API processes, ${workers} workers, ${CONNECTIONS} connections to each API process`,
        );
        const token = await logIn(folder, services[0].url);
        const load = async (count: number) =>
          Promise.all(services.slice(0, count).map(({ url }, index) => loadOne(clients[index], url, token)));
        const run = await interleaved({ baseline: () => load(1), ours: () => load(api) }, { rounds, report });
        report(`  answers other than 200: ${[...run.baseline, ...run.ours].flat().reduce((sum, { wrong }) => sum + wrong, 0)}`);
        return [toComparison(run, api)];
      } finally {
        await Promise.all(clients.map((client) => client.end()));
      }
    });
  },
};

/** The first worker also runs the database and the chain. */
async function startProcesses(start: Start, folder: string, { api, workers }: { api: number; workers: number }): Promise<RunningService[]> {
  const { url } = await start({ REPLAY_DAYS: String(REPLAY_DAYS) });
  const { rpcUrl } = parseDemoFile(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  const settings = { REPLAY_DAYS: String(REPLAY_DAYS), CHAIN_RPC_URL: rpcUrl, CHAIN_LOCAL: '1', PUBLIC_URL: url };
  for (let index = 1; index < workers; index++) await start({ ...settings, ROLE: 'worker' });
  const services: RunningService[] = [];
  for (let index = 0; index < api; index++) services.push(await start({ ...settings, ROLE: 'api' }));
  return services;
}

async function logIn(folder: string, url: string): Promise<string> {
  const { wallets } = parseDemoFile(JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8')));
  const body = JSON.stringify(await signedLogin(privateKeyToAccount(wallets.premium!.privateKey), Date.now()));
  const response = await fetch(`${url}/api/svc/oracle/verify`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  return ((await response.json()) as { token: string }).token;
}

function loadOne(client: Child<LoadAnswers>, url: string, token: string): Promise<Loaded> {
  return client.ask('load', {
    url: `${url}${PATH}`,
    connections: CONNECTIONS,
    ms: ROUND_MS,
    headers: { Authorization: `Bearer ${token}` },
  });
}

function toComparison({ baseline, ours }: Record<'baseline' | 'ours', Loaded[][]>, api: number): Comparison {
  const rates = (rounds: Loaded[][]) => rounds.map((round) => round.reduce((sum, { answers, seconds }) => sum + answers / seconds, 0));
  const cores = availableParallelism();
  const shared = cores < CORES ? ` No goal is set with fewer than ${CORES} cores.` : '';
  return {
    kind: 'rate',
    unit: `answers/s of ${api} API processes`,
    meaning: `What more processes add, against one.${shared}`,
    baseline: rates(baseline),
    ours: rates(ours),
    ...(cores < CORES ? {} : { goal: GOAL }),
  };
}
