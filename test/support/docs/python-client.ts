import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { delimiter, join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { filterChildEnvironment } from '../../../src/platform/child-process.ts';
import type { DemoWallet } from '../auth/login.ts';
import { listening } from '../webhooks/receiver.ts';
import { ROOT } from './documents.ts';
import type { Ended, ExampleWorld } from './example-world.ts';

/** Where modules of tests are, and what they import besides the standard library. */
interface PythonFolder {
  cwd: string;
  path: readonly string[];
}

const CLIENT = join(ROOT, 'clients/python');
const BOTS = join(ROOT, 'test/integration/examples/bots');
const CLIENT_TESTS: PythonFolder = { cwd: CLIENT, path: [] };
/** The programs of bots, and in the place of the bots what their documentation says of them. */
const BOT_TESTS: PythonFolder = {
  cwd: BOTS,
  path: [CLIENT, join(BOTS, 'stand_ins'), join(ROOT, 'examples/freqtrade'), join(ROOT, 'examples/hummingbot')],
};

/** Modules that need the standard library only. */
export const PYTHON_SUITES = [
  ...['test_webhooks', 'test_transport', 'test_client', 'test_daily', 'test_payment', 'test_examples'].map((name) => `tests.${name}`),
  ...['test_freqtrade', 'test_hummingbot'],
];

const SIGNING_WALLETS: readonly DemoWallet[] = ['basic', 'premium', 'poor', 'buyer'];

const PROBE = `import importlib.util, sys
print(sys.version_info >= (3, 9), *[importlib.util.find_spec(name) is not None for name in ("websockets", "pandas")])`;

export interface Python {
  command: string;
  hasWebsockets: boolean;
  hasPandas: boolean;
}

/** A Python of at least 3.9, the one of this machine with most of the packages that some tests need; null without one. */
export function findPython(): Python | null {
  const found = ['python3', '/usr/bin/python3'].map(probe).filter((python) => python !== null);
  const countPackages = ({ hasWebsockets, hasPandas }: Python) => Number(hasWebsockets) + Number(hasPandas);
  return found.toSorted((a, b) => countPackages(b) - countPackages(a))[0] ?? null;
}

function probe(command: string): Python | null {
  try {
    const [isRecent, ...has] = execFileSync(command, ['-c', PROBE], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .trim()
      .split(' ')
      .map((word) => word === 'True');
    return isRecent ? { command, hasWebsockets: has[0]!, hasPandas: has[1]! } : null;
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

/** Runs a module of tests to its end: `tests.<name>` of clients/python, or `<name>` of the bots. */
export async function runPythonSuite(
  { command }: Python,
  suite: string,
  { world, signer }: { world: ExampleWorld; signer: Signer },
): Promise<Ended> {
  const { cwd, path } = suite.startsWith('tests.') ? CLIENT_TESTS : BOT_TESTS;
  const child = spawn(command, ['-m', 'unittest', suite], {
    cwd,
    env: {
      ...filterChildEnvironment(),
      PYTHONPATH: path.join(delimiter),
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
