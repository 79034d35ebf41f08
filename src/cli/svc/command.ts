import type { CommandSyntax } from './command-line.ts';
import type { CliContext } from './context.ts';

/** What a command of `svc` accepts and does. `Values` are its parsed options by camel-case name. */
export interface SvcCommand<Values extends object = object> extends Omit<CommandSyntax, 'name' | 'summary'> {
  /** @returns the exit code @throws UsageError, OracleError */
  run(context: CliContext, values: Values, positionals: readonly string[]): Promise<number>;
}

/** A line of the list of commands, which loads nothing of them. */
export interface CommandEntry extends Pick<CommandSyntax, 'name' | 'summary'> {
  load(): Promise<SvcCommand>;
}

export const EXIT = {
  ok: 0,
  failed: 1,
  misused: 2,
  /** No check failed, and at least one could not be made. */
  incomplete: 3,
} as const;
