import { OracleError } from '../../errors.ts';

/** INPUT_INVALID; `why` completes "The backup cannot be used:". */
export function damagedBackupError(why: string, cause?: unknown): OracleError {
  return new OracleError('INPUT_INVALID', `The backup cannot be used: ${why}`, {
    field: 'file',
    suggestedAction: 'Take another copy of the file, or another backup. Nothing was written to a database.',
    cause,
  });
}
