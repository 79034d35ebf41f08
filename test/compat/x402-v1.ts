import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { parseDemoFile } from '../../src/dev/demo/demo-file.ts';
import { removeFolder } from '../support/docs/folders.ts';
import { startService } from '../support/service/running-service.ts';

/**
 * `npm run test:x402-v1`: the last published client of x402 version 1 pays on both routes, against a service of its own or, with
 * `--url <service> --demo <its demo.json>`, against one that runs. The client is 476 MB and deprecated, so it is installed into a
 * temporary folder, and is no dependency.
 */
const CLIENT = 'x402-fetch@1.2.0';

interface ClientModule {
  wrapFetchWithPayment(fetch: typeof globalThis.fetch, signer: unknown, maxValue: bigint): typeof globalThis.fetch;
  decodeXPaymentResponse(header: string): { success: boolean; transaction: string; network: string; payer: string };
}

interface Target {
  url: string;
  buyerKey: Hex;
  stop(): Promise<void>;
}

/** Units of the stablecoin that the client may spend on one request. */
const MAX_UNITS = 10_000n;
const ROUTES = ['/oracle?horizon=7d', '/oracle/premium?horizon=7d'];

const folder = await mkdtemp(join(tmpdir(), 'oracle-x402-v1-'));
const target = await openTarget();
try {
  const client = await installedClient();
  let failed = 0;
  for (const route of ROUTES) failed += (await paysFor(route, client)) ? 0 : 1;
  console.log(
    failed === 0 ? `${CLIENT} pays on ${ROUTES.length} of ${ROUTES.length} routes` : `${failed} of ${ROUTES.length} routes failed`,
  );
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await target.stop();
  await removeFolder(folder);
}

async function openTarget(): Promise<Target> {
  const { values } = parseArgs({ options: { url: { type: 'string' }, demo: { type: 'string' } } });
  if ((values.url === undefined) !== (values.demo === undefined)) throw new Error('--url and --demo go together');
  if (values.url !== undefined) return { url: values.url, buyerKey: await buyerKeyIn(values.demo!), stop: async () => undefined };
  const dataDir = join(folder, 'data');
  // An abstention would cost nothing, and show nothing.
  const service = await startService({ DATA_DIR: dataDir, REPLAY_DAYS: '2', X402_FREE_HOLD: 'off' });
  const stop = async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  };
  return { url: service.url, buyerKey: await buyerKeyIn(join(dataDir, 'demo.json')), stop };
}

async function buyerKeyIn(file: string): Promise<Hex> {
  return parseDemoFile(JSON.parse(await readFile(file, 'utf8'))).wallets.buyer!.privateKey;
}

async function installedClient(): Promise<ClientModule> {
  const place = join(folder, 'client');
  console.log(`installing ${CLIENT} ...`);
  const flags = ['--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...flags, CLIENT], { maxBuffer: 2 ** 26 });
  return import(pathToFileURL(createRequire(join(place, 'index.js')).resolve('x402-fetch')).href);
}

/** Pays for a route as users of the package do, and says what came of it. */
async function paysFor(route: string, { wrapFetchWithPayment, decodeXPaymentResponse }: ClientModule): Promise<boolean> {
  const account = privateKeyToAccount(target.buyerKey);
  const signer = createWalletClient({ account, chain: baseSepolia, transport: http('http://127.0.0.1:1') });
  try {
    const response = await wrapFetchWithPayment(fetch, signer, MAX_UNITS)(target.url + route);
    const body = (await response.json()) as Record<string, { amount?: string; txHash?: string } & string>;
    const header = response.headers.get('X-PAYMENT-RESPONSE');
    const settled = header === null ? null : decodeXPaymentResponse(header);
    console.log(`GET ${route}: ${response.status} ${JSON.stringify({ signal: body.signal, amount: body.payment?.amount, settled })}`);
    if (response.status !== 200) console.log(JSON.stringify(body));
    return response.status === 200 && settled?.success === true && settled.transaction === body.payment?.txHash;
  } catch (error) {
    console.log(`GET ${route}: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}
