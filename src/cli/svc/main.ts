import { UsageError } from '../../platform/usage-error.ts';
import type { SvcCommand } from './command.ts';
import { COMMANDS } from './commands.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { printError } from './print-error.ts';
import { findClosestName } from './suggestions.ts';

const NAME_WIDTH = Math.max(...COMMANDS.map(({ name }) => name.length));

const OVERVIEW = `Usage: svc <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(NAME_WIDTH)}  ${summary}`).join('\n')}

Examples:
  svc signal --horizon 7d                 the forecast of today, as you may see it
  svc verify latest                       believe the chain, not the service
  svc login --wallet basic                as a wallet of the demonstration; PRIVATE_KEY for one of your own
  svc watch --since 0 | jq .type          what happens, as lines of JSON

svc <command> --help tells the rest. SERVICE_URL or --url names the service.
`;

/** One call of the program. @param args what was typed after its name @returns the exit code */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  try {
    return await runCommand(args, context);
  } catch (error) {
    return printError(error, context);
  }
}

async function runCommand([name, ...rest]: string[], context: CliContext): Promise<number> {
  if (name === undefined) return writeAndExit(context, OVERVIEW, EXIT.ok);
  if (name === '--version' || name === '-v') return writeAndExit(context, `${context.version}\n`, EXIT.ok);
  const asksHelp = name === '--help' || name === '-h' || name === 'help';
  if (asksHelp) return writeAndExit(context, rest.length === 0 ? OVERVIEW : formatHelp(findCommand(rest[0])), EXIT.ok);
  const command = findCommand(name);
  if (asksForHelp(rest)) return writeAndExit(context, formatHelp(command), EXIT.ok);
  return command.run(rest, context);
}

/** Words after `--` are no options. */
function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function findCommand(name: string): SvcCommand {
  const command = COMMANDS.find((one) => one.name === name);
  if (command !== undefined) return command;
  const meant = findClosestName(
    name,
    COMMANDS.map((one) => one.name),
  );
  const hint = meant === null ? `Commands: ${COMMANDS.map((one) => one.name).join(', ')}.` : `Did you mean svc ${meant}?`;
  throw new UsageError(name.startsWith('-') ? 'option' : 'command', `${name.slice(0, 40)} is unknown`, `${hint} svc --help shows all.`);
}

function formatHelp({ name, usage: takes, summary, help }: SvcCommand): string {
  return `Usage: svc ${name}${takes === '' ? '' : ` ${takes}`}\n\n${summary}.\n\n${help.trim()}\n`;
}

function writeAndExit({ out }: CliContext, text: string, code: number): number {
  out.write(text);
  return code;
}
