import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Hex } from 'viem';
import { expect } from 'vitest';
import { allRoutes } from '../../../src/http/routes.ts';
import { createApp } from '../../../src/http/server.ts';
import { filterChildEnvironment } from '../../../src/platform/child-process.ts';
import { type DemoWallet, loginToken } from '../auth/login.ts';
import { serveJobs } from '../commerce/served-jobs.ts';
import { findFreePort, serveApp } from '../http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../service/service.ts';
import { ROOT } from './documents.ts';

/** Days of the record: so many that a forecast for 7 days is over, also when midnight passes meanwhile. */
export const EXAMPLE_DAYS = 9;

// biome-ignore lint/suspicious/noExplicitAny: answers are what is tested
export type Answer = any;

export interface Ended {
  code: number | null;
  output: string;
  errors: string;
}

/** A served service beside which the programs of examples/ run as their users start them. */
export interface ExampleWorld {
  url: string;
  rpcUrl: string;
  stablecoin: Hex;
  keyOf(wallet: DemoWallet): Hex;
  /** Runs a program of examples/ to its end. */
  run(file: string, environment?: Record<string, string>): Promise<Ended>;
  /** JSON of a path. */
  get(path: string, token?: string): Promise<Answer>;
  /** Of the Basic tier. */
  token(): Promise<string>;
  /** The signal for 7 days, as holders of tokens see it. */
  oracle(): Promise<Answer>;
  scorecard(horizonDays?: number): Promise<Answer>;
  /** Millionths of a dollar that the ledger has for a transaction. */
  bookedFor(txHash: string): Promise<number | undefined>;
  /** Has a round of the contest open, as a running service does, also when the week has ended meanwhile. */
  openRound(): Promise<void>;
  /** What a wallet has committed to in the contest, in basis points. */
  committedBy(wallet: string): Promise<number | undefined>;
  close(): Promise<void>;
}

export async function exampleWorld(): Promise<ExampleWorld> {
  const port = await findFreePort();
  const service = await livedService(port);
  const app = createApp(allRoutes(service.http), service.appOptions, service.adapters);
  const served = await serveApp(app, { port, sockets: service });
  const get = (path: string, token?: string) => getJson(served.url + path, token);
  const token = () => loginToken(service, 'basic');
  const { db } = service.database;
  return {
    url: served.url,
    rpcUrl: service.infrastructure.rpcUrl,
    stablecoin: service.infrastructure.demo!.contracts.stablecoin,
    keyOf: (wallet) => service.infrastructure.demo!.wallets[wallet]!.privateKey,
    ...{ get, token },
    run: (file, environment = {}) => runProgram(file, { SERVICE_URL: served.url, DATA_DIR: service.dataDir, ...environment }),
    oracle: async () => get('/api/svc/oracle', await token()),
    scorecard: (horizonDays = 7) => get(`/api/svc/scorecard?horizon=${horizonDays}&limit=20`),
    async bookedFor(txHash) {
      const payment = await db.collection('payments').findOne({ txHash });
      return payment === null ? undefined : Number(payment.amountMicros);
    },
    async openRound() {
      await service.http.contest.run();
    },
    async committedBy(wallet) {
      return (await db.collection('contest_commitments').findOne({ wallet }))?.probabilityBps;
    },
    async close() {
      await served.close();
      await service.stop();
    },
  };
}

/** The card of A2A names the address that it is read from: it has to be known before. */
async function livedService(port: number): Promise<TestService> {
  const service = await testService(EXAMPLE_DAYS, { PUBLIC_URL: `http://127.0.0.1:${port}`, PUSH_LOCAL_TARGETS: 'allow' });
  for (let day = today() - EXAMPLE_DAYS; day < today(); day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  await service.push.publish();
  service.progress.complete();
  serveJobs(service);
  return service;
}

async function getJson(url: string, token: string | undefined): Promise<Answer> {
  const response = await fetch(url, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
  expect(response.status, url).toBe(200);
  return response.json();
}

/** In the project's folder, with no settings but those given. */
async function runProgram(file: string, environment: Record<string, string>): Promise<Ended> {
  const command = file.endsWith('.sh') ? 'bash' : process.execPath;
  const child = spawn(command, [`examples/${file}`], {
    cwd: ROOT,
    env: { ...filterChildEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output, errors };
}
