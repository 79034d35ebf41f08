import { OracleError } from '../errors.ts';

/** The answer to a path that is not there, or is not there for anybody. */
export function nothingServed(): OracleError {
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction: 'GET / lists what is served.' });
}
