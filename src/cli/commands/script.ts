import { type Infrastructure, openInfrastructure } from '../../app/infrastructure.ts';
import type { StartupContext } from '../../app/process-context.ts';
import { isOracleError, type OracleError } from '../../platform/errors.ts';

export function parseOrFail<Command>(parse: () => Command | null, exitCode: number): Command | null {
  try {
    return parse();
  } catch (error) {
    failWith(error, exitCode);
    return null;
  }
}

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

/** Database and chain without the service. */
export function openStorage({ config, log, shutdown, progress }: StartupContext): Promise<Infrastructure> {
  const onFailure = (error: OracleError) => log.error({ err: error }, 'a part ended by itself');
  return openInfrastructure({ config, shutdown, progress, onFailure });
}
