import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../skills/index.ts';
import { OracleError } from '../../../platform/errors.ts';

/** The answer to a path that is not there, or is not there for anybody. @param path what was asked for, where it may be told */
export function buildNotFoundError(path = ''): OracleError {
  const suggestedAction = path.startsWith(`${ENDPOINTS.skills}/`)
    ? `GET ${ENDPOINTS.skills} lists the skills: ${SKILLS.map(({ id }) => id).join(', ')}.`
    : 'GET / lists what is served.';
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction });
}
