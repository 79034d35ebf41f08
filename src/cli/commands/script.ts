import type { StartupContext } from '../../app/process-context.ts';
import { isOracleError } from '../../platform/errors.ts';

/** Parses a command line; a usage error is printed and sets the exit code. @returns null when the script is to end */
export function parseOrFail<Command>(parse: () => Command | null, exitCode: number): Command | null {
  try {
    return parse();
  } catch (error) {
    failWith(error, exitCode);
    return null;
  }
}

/** Prints an OracleError with its suggested action and sets the exit code; throws any other error. */
export function failWith(error: unknown, exitCode: number): void {
  if (!isOracleError(error)) throw error;
  process.stderr.write(`${[error.message, error.suggestedAction].filter(Boolean).join('\n')}\n`);
  process.exitCode = exitCode;
}

/** Opens database and chain, or attaches to those of a service that runs on the same data folder. */
export async function openOrAttach<Opened>(context: StartupContext, open: (context: StartupContext) => Promise<Opened>): Promise<Opened> {
  try {
    return await open(context);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return open({ ...context, config: { ...context.config, chainMode: 'attached' } });
  }
}
