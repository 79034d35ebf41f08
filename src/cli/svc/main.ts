import { UsageError } from '../../errors.ts';
import { buildCommand, isHelpOrVersion, nameHelp, toUsageError } from './command-line.ts';
import {
  type CliContext,
  type CommandEntry,
  createTerminalContext,
  EXIT,
  handleBrokenPipes,
  listCommand,
  type TerminalEnvironment,
} from './context.ts';
import { printError } from './errors.ts';

const PROGRAM = {
  name: 'svc',
  summary: 'Queries, pays and verifies a Bitcoin Signal Oracle',
  options: [],
  example: `svc signal --horizon 7d                 the newest forecast, as far as you may see it
  svc verify latest                       checked on chain, without trusting the service
  svc login --wallet basic                as a demo wallet; PRIVATE_KEY for your own
  svc watch --since 0 | jq .type          events as JSON lines`,
  footer: 'svc <command> --help shows its options. SERVICE_URL or --url names the service.',
};

/** @param args the command line without the program name @returns the exit code */
export async function runCli(args: string[], outer: CliContext, commands = COMMANDS): Promise<number> {
  const context = { ...outer, json: hasJsonOption(args) };
  try {
    return await runCommand(args, context, commands);
  } catch (error) {
    return isHelpOrVersion(error) ? EXIT.ok : printError(nameNextCommand(toUsageError(error), findCommandName(args), commands), context);
  }
}

async function runCommand(args: string[], context: CliContext, entries: readonly CommandEntry[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const named = findCommandName(args);
  const program = buildCommand(PROGRAM, context.out)
    .version(context.version, '-v, --version', 'show the version')
    .enablePositionalOptions();
  for (const { load, ...entry } of entries) {
    // Only the command that is called is loaded; the others have name and summary alone.
    const command = entry.name === named ? await load() : null;
    const parser = buildCommand({ options: [], ...command, ...entry }, context.out);
    if (command !== null) {
      parser.action(async () => {
        exitCode = await command.run(context, parser.opts(), parser.args);
      });
    }
    program.addCommand(parser);
  }
  await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
  return exitCode;
}

/** The first word that is no option: the program has no option with a value. */
function findCommandName(args: readonly string[]): string | undefined {
  const [name, subject] = args.filter((word) => !word.startsWith('-'));
  return name === 'help' ? subject : name;
}

/** Known before the command line is parsed, which may fail. */
function hasJsonOption(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

/** In place of the general hint. */
function nameNextCommand(error: unknown, name: string | undefined, commands: readonly CommandEntry[]): unknown {
  if (error instanceof UsageError && error.field === 'command' && error.suggestedAction === 'Try --help.') {
    const names = commands.map((command) => command.name).join(', ');
    return new UsageError('command', error.message.slice('command: '.length), `Commands: ${names}.`);
  }
  return nameHelp(error, commands.some((command) => command.name === name) ? `svc ${name}` : 'svc');
}

/** Every command of `svc`; only the one that is called is loaded. */
export const COMMANDS: readonly CommandEntry[] = [
  listCommand('signal', 'The newest forecast, as far as you may see it', () => import('./commands/signal.ts')),
  listCommand('range', 'The expected range of the price, which says nothing of the direction', () => import('./commands/range.ts')),
  listCommand('size', 'The stop and the position that lose a given share of an account', () => import('./commands/size.ts')),
  listCommand('scorecard', 'The scores of all forecasts, with error bars', () => import('./commands/scorecard.ts')),
  listCommand(
    'verify',
    'Reads one forecast, or all of them, from the chain and checks everything that the chain shows',
    () => import('./commands/verify.ts'),
  ),
  listCommand(
    'audit',
    'Recomputes the whole record from chain and prices, and reports every difference',
    () => import('./commands/audit.ts'),
  ),
  listCommand('dataset', 'The resolved record as files: lists the tables, or downloads one', () => import('./commands/dataset.ts')),
  listCommand('watch', 'Prints events as they happen and reconnects after interruptions', () => import('./commands/watch.ts')),
  listCommand(
    'mcp',
    'Serves MCP over standard input and output, for an assistant that starts its servers itself',
    () => import('./commands/mcp.ts'),
  ),
  listCommand('pay', 'Buys one answer by x402, without an account, and checks its receipt', () => import('./commands/pay.ts')),
  listCommand('login', 'Logs a wallet in and stores its token for the other commands', () => import('./commands/session.ts')),
  listCommand('logout', 'Ends the session of svc login and deletes its token', () => import('./commands/session.ts')),
  listCommand('whoami', 'Your wallet, its tier and balance, and when the token expires', () => import('./commands/session.ts')),
  listCommand('access', 'Lists what your wallet has granted, makes API keys for bots, and revokes', () => import('./commands/access.ts')),
  listCommand(
    'doctor',
    'Says whether the service of this folder is ready to run, and names every fault at once',
    () => import('./commands/doctor.ts'),
  ),
];

export async function runOnTerminal(args: string[], environment: TerminalEnvironment, commands?: readonly CommandEntry[]): Promise<void> {
  handleBrokenPipes();
  process.exitCode = await runCli(args, createTerminalContext(environment), commands);
}
