import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../../errors.ts';

/** Flags in commander's notation, description, a parser that throws a UsageError, and the values that help lists. */
export type OptionSyntax = readonly [
  flags: string,
  description: string,
  parse?: (name: string, value: string) => unknown,
  values?: readonly string[],
];

export interface CommandSyntax {
  name: string;
  /** Positional arguments in commander's notation: `<id>`, `[step] [days...]`. */
  arguments?: string;
  /** One sentence without a full stop. */
  summary: string;
  /** Command lines that can be copied; help begins with them. */
  example: string;
  description?: string;
  options: readonly OptionSyntax[];
  footer?: string;
}

interface Output {
  write(text: string): unknown;
}

const HELP_WIDTH = 120;

/** Neither exits the process nor prints errors: they are thrown as CommanderError or UsageError. */
export function buildCommand(syntax: Omit<CommandSyntax, 'example'> & { example?: string }, out: Output): Command {
  const { name, summary, example, description, options, footer } = syntax;
  const command = new Command(name)
    .summary(summary)
    .description([`${summary}.`, description].filter(Boolean).join('\n\n'))
    .helpOption('-h, --help', 'show this help')
    .configureHelp({ subcommandTerm: (sub) => sub.name() })
    .configureOutput({ writeOut: (text) => out.write(text), writeErr: () => {}, getOutHelpWidth: () => HELP_WIDTH })
    .exitOverride();
  if (example !== undefined) command.addHelpText('before', `Example:\n  ${example}\n`);
  if (syntax.arguments !== undefined) command.arguments(syntax.arguments);
  for (const option of options) command.addOption(buildOption(option));
  return footer === undefined ? command : command.addHelpText('after', `\n${footer}`);
}

function buildOption([flags, description, parse, values]: OptionSyntax): Option {
  const option = new Option(flags, description);
  if (values !== undefined) option.argChoices = [...values];
  if (!option.required) return option;
  const name = option.long as string;
  return option.argParser((value) => {
    // Otherwise the option after a forgotten value would be sent as the value.
    if (value.startsWith('--')) throw new UsageError(name, 'needs a value');
    return parse === undefined ? value : parse(name, value);
  });
}

/** @returns null when help was requested and printed @throws UsageError naming the option */
export function parseCommandLine<Values extends object>(
  syntax: CommandSyntax,
  args: readonly string[],
  out: Output,
): { values: Values; positionals: string[] } | null {
  const command = buildCommand(syntax, out);
  try {
    command.parse(args[0] === 'help' ? ['--help'] : args, { from: 'user' });
    return { values: command.opts<Values>(), positionals: command.args };
  } catch (error) {
    if (isHelpOrVersion(error)) return null;
    throw nameHelp(toUsageError(error), syntax.name);
  }
}

/** Names the command in the general hint. */
export function nameHelp(error: unknown, command: string): unknown {
  if (!(error instanceof UsageError) || error.suggestedAction?.endsWith('Try --help.') !== true) return error;
  const { field = '', message, suggestedAction } = error;
  return new UsageError(field, message.slice(`${field}: `.length), suggestedAction.replace('Try --help.', `Try ${command} --help.`));
}

export function isHelpOrVersion(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}

/** Names the option at fault and never its value, which may be a token. Errors of other classes are returned as they are. */
export function toUsageError(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  const [problem, suggestion = ''] = error.message.replace(/^error: /, '').split('\n');
  const [, name = 'arguments'] = /'(?:-\w, )?(--?[\w-]+|[\w-]{1,40})/.exec(problem) ?? [];
  const action = `${suggestion.replace(/^\((.*)\)$/, '$1 ')}Try --help.`;
  switch (error.code) {
    case 'commander.unknownOption':
      return new UsageError(name, 'is unknown', action);
    case 'commander.optionMissingArgument':
      return new UsageError(name, 'needs a value', action);
    case 'commander.missingArgument':
      return new UsageError(name, 'is missing', action);
    case 'commander.unknownCommand':
      return new UsageError('command', `${name} is unknown`, action);
    case 'commander.excessArguments':
      return new UsageError('arguments', 'there is one argument too many', action);
    default:
      return new UsageError('arguments', 'cannot be parsed', action);
  }
}
