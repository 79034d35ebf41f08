import { isOracleError } from '../../../platform/errors.ts';
import { failWith } from '../script.ts';
import { runDoctorCommand } from './doctor.ts';

const EXIT_USAGE = 2;

/** `npm run doctor`, and `node bin/start.mjs --check`. Sets the exit code of the process. */
export async function runDoctorProgram(args: readonly string[], environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  try {
    process.exitCode = await runDoctorCommand(args, environment, process.stdout);
  } catch (error) {
    if (!isOracleError(error)) throw error;
    failWith(error, EXIT_USAGE);
  }
}
