import { isJsonContentType } from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import { OracleError } from '../../../platform/errors.ts';
import { isNestedDeeper } from '../../../platform/validation/nesting.ts';

/** Parsers behind this check are recursive: deeper input would overflow the stack. */
const MAX_BODY_DEPTH = 40;

/** @throws OracleError METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE, INPUT_INVALID */
export function validateHttpRequest(request: Request, response: Response): void {
  if (request.method !== 'POST') {
    response.set('Allow', 'POST');
    const suggestedAction = 'Send a POST.';
    throw new OracleError('METHOD_NOT_ALLOWED', 'Only POST is served; there are no sessions', { suggestedAction });
  }
  if (!isJsonContentType(request.get('Content-Type'))) {
    const suggestedAction = 'Send "Content-Type: application/json".';
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type is not JSON', { field: 'Content-Type', suggestedAction });
  }
  if (isNestedDeeper(request.body, MAX_BODY_DEPTH)) {
    const suggestedAction = 'Send a flatter message.';
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', { field: 'message', suggestedAction });
  }
}
