import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { filterChildEnvironment } from '../../../src/platform/child-process/child-environment.ts';
import type { DemoWallet } from '../auth/login.ts';
import { listening } from '../webhooks/receiver.ts';
import { ROOT } from './documents.ts';
import type { Ended, ExampleWorld } from './example-world.ts';

/** Modules of clients/python/tests that need the standard library only. */
export const PYTHON_SUITES = ['test_webhooks', 'test_transport', 'test_client', 'test_payment', 'test_examples'];

const SIGNING_WALLETS: readonly DemoWallet[] = ['basic', 'premium', 'poor', 'buyer'];

const PROBE = 'import importlib.util, sys; print(sys.version_info >= (3, 9), importlib.util.find_spec("websockets") is not None)';

export interface Python {
  command: string;
  hasWebsockets: boolean;
}

/** A Python of at least 3.9, with the package `websockets` where one of this machine has it; null without one. */
export function findPython(): Python | null {
  const found = ['python3', '/usr/bin/python3'].map(probe).filter((python) => python !== null);
  return found.find(({ hasWebsockets }) => hasWebsockets) ?? found[0] ?? null;
}

function probe(command: string): Python | null {
  try {
    const [isRecent, hasWebsockets] = execFileSync(command, ['-c', PROBE], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split(' ');
    return isRecent === 'True' ? { command, hasWebsockets: hasWebsockets === 'True' } : null;
  } catch {
    return null;
  }
}

export interface Signer {
  url: string;
  wallets: Record<string, string>;
  close(): Promise<void>;
}

/** Signs texts and typed data as the demonstration wallets of a service: `POST /<wallet>` on loopback. */
export async function startSigner(world: ExampleWorld): Promise<Signer> {
  const accounts = Object.fromEntries(SIGNING_WALLETS.map((name) => [name, privateKeyToAccount(world.keyOf(name))]));
  const server = createServer(async (request, response) => {
    const signature = await sign(accounts[request.url!.slice(1)]!, request);
    response.writeHead(200).end(JSON.stringify({ signature }));
  });
  const { port, close } = await listening(server);
  const wallets = Object.fromEntries(Object.entries(accounts).map(([name, { address }]) => [name, address]));
  return { url: `http://127.0.0.1:${port}`, wallets, close };
}

async function sign(account: PrivateKeyAccount, request: IncomingMessage) {
  const { message, domain, types } = (await json(request)) as Parameters<PrivateKeyAccount['signTypedData']>[0] & { message: string };
  if (types === undefined) return account.signMessage({ message });
  return account.signTypedData({ domain, types, primaryType: Object.keys(types)[0]!, message });
}

/** Runs a module of clients/python/tests to its end. */
export async function runPythonSuite(
  { command }: Python,
  suite: string,
  { world, signer }: { world: ExampleWorld; signer: Signer },
): Promise<Ended> {
  const child = spawn(command, ['-m', 'unittest', `tests.${suite}`], {
    cwd: join(ROOT, 'clients/python'),
    env: {
      ...filterChildEnvironment(),
      PYTHONDONTWRITEBYTECODE: '1',
      SERVICE_URL: world.url,
      STABLECOIN: world.stablecoin,
      SIGNER_URL: signer.url,
      WALLETS: JSON.stringify(signer.wallets),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output, errors };
}
