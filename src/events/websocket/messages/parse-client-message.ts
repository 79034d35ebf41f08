import type { RawData } from 'ws';
import { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { CLIENT_MESSAGE, type ClientMessage } from './message-schemas.ts';

/** The largest message of a client, in bytes. */
export const MAX_MESSAGE_BYTES = 4_096;

/** What a client sent, as its kind declares it. @throws OracleError INPUT_INVALID naming the field at fault, never repeating a value */
export function parseClientMessage(data: RawData, isBinary: boolean): ClientMessage {
  const value = isBinary ? undefined : parseJson(data);
  if (typeof value !== 'object' || value === null) {
    throw new OracleError('INPUT_INVALID', 'The message is no JSON object in a text frame', {
      field: 'message',
      suggestedAction: 'Send a text such as {"type":"ping"}.',
    });
  }
  return parseInput(CLIENT_MESSAGE, value, { kind: 'message field', root: 'type' });
}

function parseJson(data: RawData): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}
