import type { RequestHandler } from 'express';
import { OracleError } from '../../../../platform/errors.ts';

export const MAX_URL_CHARS = 4_096;

/** @throws OracleError URL_TOO_LONG */
export function limitUrlLength(): RequestHandler {
  return (request, _response, next) => {
    if (request.originalUrl.length <= MAX_URL_CHARS) return next();
    const suggestedAction = 'Send long values in the body of an operation that takes one.';
    throw new OracleError('URL_TOO_LONG', `The URL has more than ${MAX_URL_CHARS} characters`, { suggestedAction });
  };
}
