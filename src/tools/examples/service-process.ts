import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile } from '../../dev/demo/demo-file.ts';
import type { ExampleWallets } from './example-client.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** What the service is called in the examples. */
const PUBLIC_URL = 'https://oracle.example.com';

/** One market for everybody who records. Requests name the address they come from, so that limits are met where that is wanted. */
const SETTINGS = {
  PORT: '0',
  PUBLIC_URL,
  FEEDS: 'simulated',
  // Another one than the default, so that the examples tell nothing of the forecasts that are open where somebody tries the service.
  SIMULATION_SEED: '3',
  REPLAY_DAYS: '120',
  TRUST_PROXY: '1',
  // Webhooks are tried on a receiver beside it.
  PUSH_LOCAL_TARGETS: 'allow',
  LOG_LEVEL: 'error',
};

export interface ServiceProcess {
  url: string;
  rpcUrl: string;
  wallets: ExampleWallets;
  stop(): Promise<void>;
}

/** Starts the service as a user does, in an empty folder; ready when it resolves. Rejects with what it wrote when it ends before. */
export async function startServiceProcess(dataDir: string, environment: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(ROOT, 'bin/start.mjs')], {
    cwd: ROOT,
    env: { ...environment, ...SETTINGS, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  let output = '';
  const url = await new Promise<string>((found, failed) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const [, address] = /is up: (http:\S+)/.exec(output) ?? [];
        if (address !== undefined) found(address);
      });
    }
    void ended.then(() => failed(new Error(`the service ended: ${output}`)));
  });
  return { url, ...(await readDemoAccounts(dataDir)), stop };
}

async function readDemoAccounts(dataDir: string): Promise<Pick<ServiceProcess, 'rpcUrl' | 'wallets'>> {
  const { rpcUrl, wallets } = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const account = (name: keyof ExampleWallets) => privateKeyToAccount(wallets[name].privateKey);
  return { rpcUrl, wallets: { basic: account('basic'), premium: account('premium'), poor: account('poor'), buyer: account('buyer') } };
}
