import type { Command } from 'commander';
import { UsageError } from '../../platform/usage-error.ts';
import { type CommandEntry, EXIT } from './command.ts';
import { buildCommand, isHelpOrVersion, toUsageError } from './command-line.ts';
import { COMMANDS } from './command-list.ts';
import type { CliContext } from './context.ts';
import { printError } from './errors/print-error.ts';

const PROGRAM = {
  name: 'svc',
  summary: 'Queries, pays and verifies a Bitcoin Signal Oracle',
  options: [],
  footer: `Examples:
  svc signal --horizon 7d                 the newest forecast, as far as you may see it
  svc verify latest                       checked on chain, without trusting the service
  svc login --wallet basic                as a demo wallet; PRIVATE_KEY for your own
  svc watch --since 0 | jq .type          events as JSON lines

svc <command> --help shows its options. SERVICE_URL or --url names the service. source <(svc completion bash) completes them on Tab.`,
};

/** @param args the command line without the program name @returns the exit code */
export async function runCli(args: string[], outer: CliContext, commands = COMMANDS): Promise<number> {
  const context = { ...outer, json: hasJsonOption(args) };
  try {
    return await runCommand(args, context, commands);
  } catch (error) {
    return isHelpOrVersion(error) ? EXIT.ok : printError(withCommandList(toUsageError(error), commands), context);
  }
}

async function runCommand(args: string[], context: CliContext, entries: readonly CommandEntry[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const named = findCommandName(args);
  const onExit = (code: number) => {
    exitCode = code;
  };
  const loadProgram = () => buildProgram(context, entries, { isNeeded: () => true, onExit });
  const program = await buildProgram({ ...context, loadProgram }, entries, { isNeeded: (name) => name === named, onExit });
  await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
  return exitCode;
}

/** Loads the commands that are needed; the others have only name and summary. */
async function buildProgram(
  context: CliContext,
  entries: readonly CommandEntry[],
  { isNeeded, onExit }: { isNeeded(name: string): boolean; onExit(code: number): void },
): Promise<Command> {
  const program = buildCommand(PROGRAM, context.out)
    .version(context.version, '-v, --version', 'show the version')
    .enablePositionalOptions();
  for (const { load, ...entry } of entries) {
    const command = isNeeded(entry.name) ? await load() : null;
    const parser = buildCommand({ options: [], ...command, ...entry }, context.out);
    if (command !== null) parser.action(async () => onExit(await command.run(context, parser.opts(), parser.args)));
    program.addCommand(parser);
  }
  return program;
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

function withCommandList(error: unknown, commands: readonly CommandEntry[]): unknown {
  if (!(error instanceof UsageError) || error.field !== 'command' || error.suggestedAction !== 'Try --help.') return error;
  return new UsageError('command', error.message.slice('command: '.length), `Commands: ${commands.map(({ name }) => name).join(', ')}.`);
}
