import { OracleError } from '../../../platform/errors.ts';

export function methodNotAllowed(allowed: string): OracleError {
  return new OracleError('METHOD_NOT_ALLOWED', `Only ${allowed} is served here`, { suggestedAction: `Send a ${allowed}.` });
}
