import { parseArgs } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { type Infrastructure, openInfrastructure } from '../../app/infrastructure.ts';
import { runProcess } from '../../app/process.ts';
import type { StartupContext } from '../../app/process-context.ts';
import { type Chain, createChain } from '../../chain/client.ts';
import { findFirstBlockSince } from '../../chain/rpc/block-by-time.ts';
import { chainCall } from '../../chain/rpc/chain-call.ts';
import { Ledger } from '../../commerce/ledger/ledger.ts';
import { PurchaseStore } from '../../commerce/purchases/purchase-store.ts';
import { createPaymentTraces } from '../../commerce/reconcile/payment-traces.ts';
import { type ReconcileDeps, reconcile } from '../../commerce/reconcile/reconcile.ts';
import { formatReconciliation, isBalanced, serializeReconciliation } from '../../commerce/reconcile/report.ts';
import { PaymentClaimStore } from '../../commerce/x402/claim-store.ts';
import { readDemoFile } from '../../dev/demo/demo-login.ts';
import { toInstantMs } from '../../forecast/day.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { Config } from '../../platform/config/settings.ts';
import { getErrorMessage, isOracleError, OracleError } from '../../platform/errors.ts';
import { connectMongo } from '../../platform/mongo.ts';
import { ForecastRecord } from '../../record/forecast-record.ts';

const USAGE = `Usage: npm run -s reconcile -- [--from <block>] [--json]

Compares the ledger of payments with the chain, payment by payment, and writes nothing. Works beside a running service with the
same settings, or alone.

  --from <block>   the first block that is read; unset: that of the record's first day, or 0 on a local chain
  --json           for programs; amounts in units of the stablecoin

Ends with 0 when both are equal to the unit, 3 when a payment is still on its way into the ledger, 1 when something is wrong,
2 when it was not called as it should be.
Transfers to our wallets that nobody has claimed are listed, and nothing wrong.
`;

const EXIT_WRONG = 1;
const EXIT_USAGE = 2;
const EXIT_PENDING = 3;

interface ReconcileCommand {
  /** Null: where the record begins. */
  from: bigint | null;
  json: boolean;
}

/** Compares ledger and chain: what `npm run reconcile` starts. */
export async function runReconcileCommand(args: string[]): Promise<void> {
  if (args.includes('--help') || args[0] === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  const command = parseOrPrintUsage(args);
  if (command === null) return;
  const { from, json } = command;
  await runProcess(async (context) => {
    const { parts: deps, genesis } = await openReconcileDeps(context);
    if (from !== null) await requireKnownBlock(deps.chain, from);
    const report = await reconcile(deps, from ?? (genesis === null ? 0n : await findFirstBlockSince(deps.chain, genesis)));
    process.stdout.write(json ? serializeReconciliation(report) : formatReconciliation(report));
    await context.shutdown.stop('done');
    process.exit(isBalanced(report) ? 0 : report.differences.length > 0 ? EXIT_WRONG : EXIT_PENDING);
  });
}

/** Null, with what is wrong said, for words that are none of this command: that says nothing about the books. */
function parseOrPrintUsage(args: string[]): ReconcileCommand | null {
  try {
    return parseReconcileCommand(args);
  } catch (error) {
    process.stderr.write(`${getErrorMessage(error)}\n${USAGE}`);
    process.exitCode = EXIT_USAGE;
    return null;
  }
}

/** @throws OracleError INPUT_INVALID */
async function requireKnownBlock({ client }: Chain, from: bigint): Promise<void> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  if (from > head) throw usageError('--from', `the newest block is ${head}`);
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseReconcileCommand(args: string[]): ReconcileCommand {
  const { from, json = false } = parseReconcileOptions(args);
  if (from !== undefined && !/^\d{1,15}$/.test(from)) throw usageError('--from', 'must be the number of a block');
  return { from: from === undefined ? null : BigInt(from), json };
}

function parseReconcileOptions(args: string[]) {
  try {
    return parseArgs({ args: args, options: { from: { type: 'string' }, json: { type: 'boolean' } } }).values;
  } catch (error) {
    throw usageError('arguments', getErrorMessage(error));
  }
}

function usageError(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run reconcile -- --help' });
}

/** Database and chain alone: nothing of the service is started, and nothing is sent. */
async function openReconcileDeps(context: StartupContext): Promise<{ parts: ReconcileDeps; genesis: Date | null }> {
  const { config, shutdown } = context;
  const infrastructure = await attachOrOpenInfrastructure(context);
  const { db, close } = await connectMongo(infrastructure.mongodbUri);
  shutdown.onStop('database connection', close);
  const chain = await connectChain(config, infrastructure);
  const provider = privateKeyToAccount(infrastructure.keys.provider).address;
  const record = new ForecastRecord({ db, saltSecret: infrastructure.saltSecret, horizons: HORIZONS });
  const first = config.chainMode === 'real' ? await record.findGenesisDay() : null;
  const sources = { chainId: chain.chainId, claims: new PaymentClaimStore(db), purchases: new PurchaseStore(db) };
  const deps: ReconcileDeps = {
    chain,
    ledger: new Ledger(db),
    merchant: { asset: chain.addresses.stablecoin, payee: config.PAYEE_ADDRESS ?? provider },
    provider,
    traces: createPaymentTraces(sources),
    now: () => new Date(),
  };
  return { parts: deps, genesis: first === null ? null : new Date(toInstantMs(first)) };
}

/** Beside a service that runs on the same folder, its database and chain are used; otherwise they are started for this command. */
async function attachOrOpenInfrastructure({ config, log, shutdown, progress }: StartupContext): Promise<Infrastructure> {
  // A folder that holds nothing yet is not set up for this.
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const onFailure = (error: OracleError) => log.error({ err: error }, 'a part ended by itself');
  try {
    return await openInfrastructure({ config, shutdown, progress, onFailure });
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return openInfrastructure({ config: { ...config, chainMode: 'attached' }, shutdown, progress, onFailure });
  }
}

function connectChain(config: Config, { rpcUrl, contracts }: Infrastructure): Promise<Chain> {
  const isReal = config.chainMode === 'real';
  return createChain({
    rpcUrl,
    chainId: config.CHAIN_ID,
    confirmations: config.CONFIRMATIONS ?? (isReal ? 5 : 1),
    pollingIntervalMs: isReal ? 1_000 : 2,
    addresses: contracts,
  });
}
