import type { RawData } from 'ws';
import { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { parseJsonOrNull } from '../../../platform/validation/parse-json.ts';
import { CLIENT_MESSAGE, type ClientMessage } from './message-schemas.ts';

export const MAX_MESSAGE_BYTES = 4_096;

/** Parses a client message. @throws OracleError INPUT_INVALID naming the invalid field, without its value */
export function parseClientMessage(data: RawData, isBinary: boolean): ClientMessage {
  const value = isBinary ? null : parseJsonOrNull(data.toString());
  if (typeof value !== 'object' || value === null) {
    throw new OracleError('INPUT_INVALID', 'The message is no JSON object in a text frame', {
      field: 'message',
      suggestedAction: 'Send a text such as {"type":"ping"}.',
    });
  }
  return parseInput(CLIENT_MESSAGE, value, { kind: 'message field', root: 'type' });
}
