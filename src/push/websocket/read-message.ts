import type { RawData } from 'ws';
import { OracleError } from '../../errors.ts';
import { parseInput } from '../../parse-input.ts';
import { CLIENT_MESSAGE, type ClientMessage } from './messages.ts';

/** The largest message of a client, in bytes. */
export const MOST_MESSAGE_BYTES = 4_096;

/** What a client sent, as its kind declares it. @throws OracleError INPUT_INVALID naming the field at fault, never repeating a value */
export function readMessage(data: RawData, isBinary: boolean): ClientMessage {
  const value = isBinary ? undefined : jsonOf(data);
  if (typeof value !== 'object' || value === null) {
    throw new OracleError('INPUT_INVALID', 'The message is no JSON object in a text frame', {
      field: 'message',
      suggestedAction: 'Send a text such as {"type":"ping"}.',
    });
  }
  return parseInput(CLIENT_MESSAGE, value, { what: 'message field', whole: 'type' });
}

function jsonOf(data: RawData): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}
