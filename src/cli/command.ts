import type { Host } from './host.ts';

/** One thing that the program can do. */
export interface Command {
  name: string;
  /** What follows the name, e.g. `<id> [options]`. */
  takes: string;
  /** One sentence, no full stop. */
  summary: string;
  /** Everything else that `--help` says: options, examples, how it ends. */
  help: string;
  /** @returns the exit code. @throws Misuse; OracleError */
  run(words: string[], host: Host): Promise<number>;
}
