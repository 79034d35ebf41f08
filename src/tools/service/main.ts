import { OracleError } from '../../platform/errors.ts';
import { buildService } from './build-service.ts';

/** Builds the bundle of the service. With `--optional`, as `npm ci` runs it, a missing bundler is no failure: Node then loads the sources. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await buildService();
  } catch (error) {
    if (!(error instanceof OracleError)) throw error;
    console.error(`${error.message}. ${error.suggestedAction ?? ''}`);
    if (!args.includes('--optional')) process.exitCode = 1;
  }
}
