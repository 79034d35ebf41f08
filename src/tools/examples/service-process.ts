import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { parseDemoFile } from '../../dev/demo/demo-file.ts';
import type { ExampleClient, ExampleWallets } from './example-client.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PUBLIC_URL = 'https://oracle.example.com';

/** Reproducible settings. `TRUST_PROXY` lets requests choose their client address, so that only one call meets a rate limit. */
const SETTINGS = {
  PORT: '0',
  PUBLIC_URL,
  FEEDS: 'simulated',
  // Not the default seed: the examples must not reveal open forecasts of a demo.
  SIMULATION_SEED: '3',
  REPLAY_DAYS: '120',
  TRUST_PROXY: '1',
  // Webhooks are sent to a local receiver.
  PUSH_LOCAL_TARGETS: 'allow',
  LOG_LEVEL: 'error',
};

export type ServiceProcess = Pick<ExampleClient, 'rpcUrl' | 'wallets'> & { url: string; stop(): Promise<void> };

/** Starts the service in an empty folder and waits until it is ready. Rejects with its output if it exits before. */
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
  const url = await new Promise<string>((resolveUrl, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const [, address] = /is up: (http:\S+)/.exec(output) ?? [];
        if (address !== undefined) resolveUrl(address);
      });
    }
    void ended.then(() => reject(new Error(`the service ended: ${output}`)));
  });
  return { url, ...(await readDemoAccounts(dataDir)), stop };
}

async function readDemoAccounts(dataDir: string): Promise<Pick<ServiceProcess, 'rpcUrl' | 'wallets'>> {
  const { rpcUrl, wallets } = parseDemoFile(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  const account = (name: keyof ExampleWallets) => privateKeyToAccount(wallets[name].privateKey);
  return { rpcUrl, wallets: { basic: account('basic'), premium: account('premium'), poor: account('poor'), buyer: account('buyer') } };
}
