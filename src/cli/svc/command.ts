import type { CliContext } from './context.ts';

/** One thing that the program can do. */
export interface SvcCommand {
  name: string;
  /** What follows the name, e.g. `<id> [options]`. */
  usage: string;
  /** One sentence, no full stop. */
  summary: string;
  /** Everything else that `--help` says: options, examples, how it ends. */
  help: string;
  /** @returns the exit code. @throws Misuse; OracleError */
  run(words: string[], context: CliContext): Promise<number>;
}
