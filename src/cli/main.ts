import { Misuse } from '../audit/misuse.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT } from './exit-codes.ts';
import { explain } from './failure.ts';
import type { Host } from './host.ts';
import { nearest } from './suggest.ts';

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

/** One call of the program. @param words what was typed after its name @returns the exit code */
export async function runCli(words: string[], host: Host): Promise<number> {
  try {
    return await dispatch(words, host);
  } catch (error) {
    return explain(error, host);
  }
}

async function dispatch([name, ...rest]: string[], host: Host): Promise<number> {
  if (name === undefined) return tell(host, OVERVIEW, EXIT.ok);
  if (name === '--version' || name === '-v') return tell(host, `${host.version}\n`, EXIT.ok);
  const asksHelp = name === '--help' || name === '-h' || name === 'help';
  if (asksHelp) return tell(host, rest.length === 0 ? OVERVIEW : helpOf(commandOf(rest[0])), EXIT.ok);
  const command = commandOf(name);
  if (isHelp(rest)) return tell(host, helpOf(command), EXIT.ok);
  return command.run(rest, host);
}

/** Words after `--` are no options. */
function isHelp(words: string[]): boolean {
  const end = words.indexOf('--');
  return (end === -1 ? words : words.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function commandOf(name: string): Command {
  const command = COMMANDS.find((one) => one.name === name);
  if (command !== undefined) return command;
  const meant = nearest(
    name,
    COMMANDS.map((one) => one.name),
  );
  const hint = meant === null ? `Commands: ${COMMANDS.map((one) => one.name).join(', ')}.` : `Did you mean svc ${meant}?`;
  throw new Misuse(name.startsWith('-') ? 'option' : 'command', `${name.slice(0, 40)} is unknown`, `${hint} svc --help shows all.`);
}

function helpOf({ name, takes, summary, help }: Command): string {
  return `Usage: svc ${name}${takes === '' ? '' : ` ${takes}`}\n\n${summary}.\n\n${help.trim()}\n`;
}

function tell({ out }: Host, text: string, code: number): number {
  out.write(text);
  return code;
}
