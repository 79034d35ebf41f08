import { OracleError } from './errors.ts';

/** Invalid command-line arguments; `field` names the option. */
export class UsageError extends OracleError {
  constructor(field: string, problem: string, suggestedAction = 'Try --help.') {
    super('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction });
  }
}
