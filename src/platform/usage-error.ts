import { OracleError } from './errors.ts';

/** A program was not called as it should be; `field` names the option. */
export class UsageError extends OracleError {
  constructor(field: string, problem: string, suggestedAction = 'Try --help.') {
    super('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction });
  }
}
