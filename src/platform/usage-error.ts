import { OracleError } from './errors.ts';

export class UsageError extends OracleError {
  constructor(field: string, problem: string, suggestedAction = 'Try --help.') {
    super('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction });
  }
}
