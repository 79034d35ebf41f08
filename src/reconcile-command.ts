import { parseArgs } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { firstBlockSince } from './chain/block-at.ts';
import { type Chain, createChain } from './chain/client.ts';
import { chainCall } from './chain/rpc-error.ts';
import { Ledger } from './commerce/ledger.ts';
import { PurchaseStore } from './commerce/purchases/store.ts';
import { type ReconcileParts, reconcile } from './commerce/reconcile/reconcile.ts';
import { isEqual, reportJson, reportText } from './commerce/reconcile/report.ts';
import { paymentTraces } from './commerce/reconcile/traces.ts';
import { PaymentClaims } from './commerce/x402/claims.ts';
import type { StartFrame } from './compose/frame.ts';
import type { Config } from './config.ts';
import { readDemoFile } from './demo-login.ts';
import { isOracleError, messageOf, OracleError } from './errors.ts';
import { instantOf } from './forecast/day.ts';
import { HORIZONS } from './forecast/model.ts';
import { type Infrastructure, openInfrastructure } from './local/infrastructure.ts';
import { connectMongo } from './mongo.ts';
import { ForecastRecord } from './record/record.ts';
import { runOrExplain } from './start.ts';

const USAGE = `Usage: npm run -s reconcile -- [--from <block>] [--json]

Compares the ledger of payments with the chain, payment by payment, and writes nothing. Works beside a running service with the
same settings, or alone.

  --from <block>   the first block that is read; unset: that of the record's first day, or 0 on a local chain
  --json           for programs; amounts in units of the stablecoin

Ends with 0 when both are equal to the unit, 3 when a payment is still on its way into the ledger, 1 when something is wrong,
2 when it was not called as it should be.
Transfers to our wallets that nobody has claimed are listed, and nothing wrong.
`;

const WRONG = 1;
const MISUSED = 2;
const UNDER_WAY = 3;

interface Command {
  /** Null: where the record begins. */
  from: bigint | null;
  json: boolean;
}

/** Compares ledger and chain: what `npm run reconcile` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.includes('--help') || words[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const command = commandOrAdvice(words);
  if (command === null) return;
  const { from, json } = command;
  await runOrExplain(async (frame) => {
    const { parts, genesis } = await openParts(frame);
    if (from !== null) await requireBlock(parts.chain, from);
    const report = await reconcile(parts, from ?? (genesis === null ? 0n : await firstBlockSince(parts.chain, genesis)));
    process.stdout.write(json ? reportJson(report) : reportText(report));
    await frame.shutdown.stop('done');
    process.exit(isEqual(report) ? 0 : report.differences.length > 0 ? WRONG : UNDER_WAY);
  });
}

/** Null, with what is wrong said, for words that are none of this command: that says nothing about the books. */
function commandOrAdvice(words: string[]): Command | null {
  try {
    return parseCommand(words);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n${USAGE}`);
    process.exitCode = MISUSED;
    return null;
  }
}

/** @throws OracleError INPUT_INVALID */
async function requireBlock({ client }: Chain, from: bigint): Promise<void> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  if (from > head) throw invalid('--from', `the newest block is ${head}`);
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand(words: string[]): Command {
  const { from, json = false } = parsedWords(words);
  if (from !== undefined && !/^\d{1,15}$/.test(from)) throw invalid('--from', 'must be the number of a block');
  return { from: from === undefined ? null : BigInt(from), json };
}

function parsedWords(words: string[]) {
  try {
    return parseArgs({ args: words, options: { from: { type: 'string' }, json: { type: 'boolean' } } }).values;
  } catch (error) {
    throw invalid('arguments', messageOf(error));
  }
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run reconcile -- --help' });
}

/** Database and chain alone: nothing of the service is started, and nothing is sent. */
async function openParts(frame: StartFrame): Promise<{ parts: ReconcileParts; genesis: Date | null }> {
  const { config, shutdown } = frame;
  const infrastructure = await attachOrOpen(frame);
  const { db, close } = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', close);
  const chain = await openChain(config, infrastructure);
  const provider = privateKeyToAccount(infrastructure.keys.provider).address;
  const record = new ForecastRecord({ db, saltSecret: infrastructure.saltSecret, horizons: HORIZONS });
  const first = config.chainMode === 'real' ? await record.genesis() : null;
  const sources = { chainId: chain.chainId, claims: new PaymentClaims(db), purchases: new PurchaseStore(db) };
  const parts: ReconcileParts = {
    chain,
    ledger: new Ledger(db),
    till: { asset: chain.addresses.stablecoin, payee: config.PAYEE_ADDRESS ?? provider },
    provider,
    traces: paymentTraces(sources),
    now: () => new Date(),
  };
  return { parts, genesis: first === null ? null : new Date(instantOf(first)) };
}

/** Beside a service that runs on the same folder, its database and chain are used; otherwise they are started for this command. */
async function attachOrOpen({ config, log, shutdown, setup }: StartFrame): Promise<Infrastructure> {
  // A folder that holds nothing yet is not set up for this.
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const onFailure = (error: OracleError) => log.error({ err: error }, 'a part ended by itself');
  try {
    return await openInfrastructure({ config, shutdown, setup, onFailure });
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return openInfrastructure({ config: { ...config, chainMode: 'attached' }, shutdown, setup, onFailure });
  }
}

function openChain(config: Config, { rpcUrl, contracts }: Infrastructure): Promise<Chain> {
  const isReal = config.chainMode === 'real';
  return createChain({
    rpcUrl,
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (isReal ? 5 : 1),
    pollingIntervalMs: isReal ? 1_000 : 2,
    addresses: contracts,
  });
}
