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
    throw new OracleError('METHOD_NOT_ALLOWED', 'Only POST is served; there are no sessions', {
      suggestedAction: 'Send a POST.',
    });
  }
  if (!isJsonContentType(request.get('Content-Type'))) {
    throw new OracleError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type is not JSON', {
      field: 'Content-Type',
      suggestedAction: 'Send "Content-Type: application/json".',
    });
  }
  if (isNestedDeeper(request.body, MAX_BODY_DEPTH)) {
    throw new OracleError('INPUT_INVALID', 'The message is nested too deeply', {
      field: 'message',
      suggestedAction: 'Send a flatter message.',
    });
  }
}
