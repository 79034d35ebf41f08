import { connectChain, openSigner } from '../app/chain.ts';
import type { StartupContext } from '../app/infrastructure.ts';
import type { Chain } from '../chain/client.ts';
import { chainCall, findFirstBlockSince } from '../chain/rpc.ts';
import { Ledger } from '../commerce/ledger.ts';
import { PurchaseStore } from '../commerce/purchases.ts';
import {
  createPaymentTraces,
  formatReconciliation,
  isBalanced,
  type ReconcileDeps,
  reconcile,
  serializeReconciliation,
} from '../commerce/reconcile.ts';
import { PaymentClaimStore } from '../commerce/x402/claims.ts';
import { UsageError } from '../errors.ts';
import { toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { ForecastRecord } from '../record/forecasts.ts';
import { openExistingStorage, parseOrFail, runToEnd } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s reconcile --',
  example: 'npm run -s reconcile',
  summary: 'Compares the ledger of payments with the chain, payment by payment',
  description: 'Read-only. Works beside a running service with the same settings, or alone.',
  options: [
    ['--from <block>', "first block to read (default: that of the record's first day; 0 on a local chain)", parseBlockNumber],
    ['--json', 'print JSON, with amounts in units of the stablecoin'],
  ],
  footer: `Exits with 0 when ledger and chain are equal to the unit, 3 when a payment is not in the ledger yet, 1 on a difference, 2 on a usage
error, 4 when they could not be compared, e.g. since the chain does not answer. Transfers to the wallets of the service that belong to no claim are listed and are no difference.`,
};

const EXIT_WRONG = 1;
const EXIT_USAGE = 2;
const EXIT_PENDING = 3;
const EXIT_NOT_COMPARED = 4;

interface ReconcileCommand {
  /** Null: the first block of the record. */
  from: bigint | null;
  json: boolean;
}

export async function runReconcileCommand(args: string[]): Promise<void> {
  const command = parseOrFail(() => parseReconcileCommand(args), EXIT_USAGE);
  if (command === null) return;
  const { from, json } = command;
  await runToEnd(async (context) => {
    const { deps, genesis } = await openReconcileDeps(context);
    if (from !== null) await requireKnownBlock(deps.chain, from);
    const report = await reconcile(deps, from ?? (genesis === null ? 0n : await findFirstBlockSince(deps.chain, genesis)));
    process.stdout.write(json ? serializeReconciliation(report) : formatReconciliation(report));
    return isBalanced(report) ? 0 : report.differences.length > 0 ? EXIT_WRONG : EXIT_PENDING;
  }, EXIT_NOT_COMPARED);
}

async function requireKnownBlock({ client }: Chain, from: bigint): Promise<void> {
  const head = await chainCall('Reading the block number', () => client.getBlockNumber());
  if (from > head) throw new UsageError('--from', `the newest block is ${head}`);
}

/** @returns null after printing the help @throws UsageError */
export function parseReconcileCommand(args: string[]): ReconcileCommand | null {
  const parsed = parseCommandLine<Partial<ReconcileCommand>>(SYNTAX, args, process.stdout);
  return parsed && { from: parsed.values.from ?? null, json: parsed.values.json ?? false };
}

function parseBlockNumber(name: string, text: string): bigint {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(name, 'must be the number of a block');
  return BigInt(text);
}

/** Opens database and chain only; starts no part of the service and sends no transaction. */
async function openReconcileDeps(context: StartupContext): Promise<{ deps: ReconcileDeps; genesis: Date | null }> {
  const { config } = context;
  const { db, rpcUrl, contracts, signers, saltSecret } = await openExistingStorage(context);
  const chain = await connectChain(config, { rpcUrl, contracts });
  const provider = (await openSigner(config, 'provider', signers.provider)).account.address;
  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
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
  return { deps, genesis: first === null ? null : new Date(toInstantMs(first)) };
}
