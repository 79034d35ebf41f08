import type { Db } from 'mongodb';
import { runProcess } from '../../../app/process.ts';
import type { StartupContext } from '../../../app/process-context.ts';
import { readDemoFile } from '../../../dev/demo/demo-login.ts';
import { readArchiveHealth, readArchiveReport } from '../../../market/archive/archive-report.ts';
import { connectMongo } from '../../../platform/mongo.ts';
import { UsageError } from '../../../platform/usage-error.ts';
import { type CommandSyntax, parseCommandLine } from '../../svc/command-line.ts';
import { openOrAttach, openStorage, parseOrFail } from '../script.ts';
import { formatArchive } from './format-archive.ts';

const SYNTAX: CommandSyntax = {
  name: 'npm run -s feeds --',
  arguments: '[what]',
  summary: 'Prints what is stored of market data',
  description: `[what] is
  archive   data for later models, by series and provider: first and last day, count, gaps, and the state of its collection`,
  options: [['--json', 'print JSON']],
  footer: 'Read-only. Live data alone is collected. Works beside a running service with the same settings, or alone.',
};

const EXIT_USAGE = 2;

interface FeedsCommand {
  json: boolean;
}

export async function runFeedsCommand(args: string[]): Promise<void> {
  const isEmpty = args.length === 0;
  const command = parseOrFail(() => parseFeedsCommand(isEmpty ? ['--help'] : args), EXIT_USAGE);
  if (isEmpty) process.exitCode = EXIT_USAGE;
  if (command === null) return;
  await runProcess(async (context) => {
    const db = await openDatabase(context);
    const [series, collection] = await Promise.all([readArchiveReport(db), readArchiveHealth(db)]);
    process.stdout.write(command.json ? `${JSON.stringify({ series, collection }, null, 2)}\n` : formatArchive(series, collection));
    await context.shutdown.stop('done');
    process.exit(0);
  });
}

/** @returns null after printing the help @throws OracleError INPUT_INVALID naming the argument */
export function parseFeedsCommand(args: string[]): FeedsCommand | null {
  const parsed = parseCommandLine<{ json?: boolean }>(SYNTAX, args, process.stdout);
  if (parsed === null) return null;
  const [what] = parsed.positionals;
  if (what !== 'archive') throw new UsageError('what', `"${what ?? ''}" is none of archive`);
  return { json: parsed.values.json ?? false };
}

/** Opens the database only. */
async function openDatabase(context: StartupContext): Promise<Db> {
  const { config, shutdown } = context;
  // Fails for a data folder that was never set up, instead of setting it up.
  if (config.chainMode !== 'real') await readDemoFile(config.DATA_DIR);
  const { mongodbUri } = await openOrAttach(context, openStorage);
  const { db, close } = await connectMongo(mongodbUri);
  shutdown.onStop('database connection', close);
  return db;
}
