import { ENDPOINTS } from '../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../skills/index.ts';
import { OracleError } from '../../../platform/errors.ts';

/** 404 for a path without a route. @param path as requested; empty for paths that must not be disclosed */
export function buildNotFoundError(path = ''): OracleError {
  const suggestedAction = path.startsWith(`${ENDPOINTS.skills}/`)
    ? `GET ${ENDPOINTS.skills} lists the skills: ${SKILLS.map(({ id }) => id).join(', ')}.`
    : 'GET / lists all operations.';
  return new OracleError('NOT_FOUND', 'Nothing is served at this path', { suggestedAction });
}
