import type { Command, Option } from 'commander';

export interface CompletedOption {
  /** `-h`; undefined without a short form. */
  short: string | undefined;
  /** `--help` */
  long: string;
  description: string;
  takesValue: boolean;
  /** Values that help lists; empty: any. */
  values: readonly string[];
  takesFile: boolean;
}

export interface CompletedCommand {
  name: string;
  summary: string;
  options: readonly CompletedOption[];
  /** Values of the first positional argument. */
  values: readonly string[];
  takesFile: boolean;
}

export interface CompletedProgram {
  name: string;
  options: readonly CompletedOption[];
  commands: readonly CompletedCommand[];
}

const FILE_PLACEHOLDER = /[<[](file|path|folder)\b/;
const MAX_DESCRIPTION_CHARS = 100;

/** What `--help` lists of a program and its commands, from the same definitions. */
export function describeProgram(program: Command): CompletedProgram {
  const commands = program.createHelp().visibleCommands(program);
  const names = commands.map((command) => command.name());
  return {
    name: program.name(),
    options: describeOptions(program),
    commands: commands.map((command) => describeCommand(command, names)),
  };
}

function describeCommand(command: Command, names: readonly string[]): CompletedCommand {
  const [first] = command.registeredArguments;
  const isHelp = command.name() === 'help';
  return {
    name: command.name(),
    summary: shorten(command.summary() || command.description()),
    options: describeOptions(command),
    values: isHelp ? names : (first?.argChoices ?? []),
    takesFile: command.registeredArguments.some((argument) => ['file', 'path', 'folder'].includes(argument.name())),
  };
}

function describeOptions(command: Command): CompletedOption[] {
  return command.createHelp().visibleOptions(command).map(describeOption);
}

function describeOption({ short, long, flags, description, required, argChoices = [] }: Option): CompletedOption {
  return {
    ...{ short, long: long as string, description: shorten(description) },
    ...{ takesValue: required, values: argChoices, takesFile: required && FILE_PLACEHOLDER.test(flags) },
  };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > MAX_DESCRIPTION_CHARS ? `${line.slice(0, MAX_DESCRIPTION_CHARS - 3).trimEnd()}...` : line;
}
