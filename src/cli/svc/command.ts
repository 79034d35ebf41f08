import type { CommandSyntax } from './command-line.ts';
import type { CliContext } from './context.ts';

/** A command of `svc`. `Values` are its parsed options by camel-case name. */
export interface SvcCommand<Values extends object = object> extends CommandSyntax {
  /** @returns the exit code @throws UsageError, OracleError */
  run(context: CliContext, values: Values, positionals: readonly string[]): Promise<number>;
}

export const EXIT = {
  ok: 0,
  failed: 1,
  misused: 2,
  /** No check failed, and at least one could not be made. */
  incomplete: 3,
} as const;
