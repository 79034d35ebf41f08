import { parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { OracleError } from '../../../platform/errors.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

const EXAMPLE = 'Send a JSON-RPC 2.0 message, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';

const MAX_FIELD_CHARACTERS = 100;

const MEMBERS = ['jsonrpc', 'id', 'method', 'params'];

/** Why something is no JSON-RPC message, or no batch of them; undefined where it is. INPUT_INVALID with `field`. */
export function findMessageFault(value: unknown): OracleError | undefined {
  if (!Array.isArray(value)) return isMessage(value) ? undefined : describeFault(value);
  if (value.length === 0) return buildMessageFault('batch', 'The batch is empty', EXAMPLE);
  const index = value.findIndex((message) => !isMessage(message));
  return index < 0 ? undefined : describeFault(value[index], `batch.${index}`);
}

function isMessage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    return false;
  }
}

function describeFault(value: unknown, within?: string): OracleError {
  const at = (field: string) => (within === undefined ? field : `${within}.${field}`);
  if (!isPlainObject(value)) return buildMessageFault(within ?? 'body', 'This is no JSON-RPC message: an object is needed', EXAMPLE);
  // A body without a byte is read as this.
  if (Object.keys(value).length === 0) return buildMessageFault(within ?? 'body', 'The message is empty', EXAMPLE);
  const { jsonrpc, id, method, params } = value;
  if (jsonrpc !== '2.0') return buildMessageFault(at('jsonrpc'), 'jsonrpc must be "2.0"', 'Send "jsonrpc": "2.0".');
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) {
    return buildMessageFault(at('id'), 'id must be a text or a whole number', 'Send one of these; none, and the message is not answered.');
  }
  if (typeof method !== 'string') return buildMessageFault(at('method'), 'method must be a text', EXAMPLE);
  if (params !== undefined && !isPlainObject(params))
    return buildMessageFault(at('params'), 'params must be an object', 'Send the parameters by name.');
  const unknown = Object.keys(value).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) return buildMessageFault(at(unknown), 'A message has no such member', `Send ${MEMBERS.join(', ')} only.`);
  return buildMessageFault(
    at('params._meta'),
    'params._meta is not of the form that the protocol gives it',
    'Leave out what the protocol does not name.',
  );
}

/** A member may be named by the caller, in any length. */
function buildMessageFault(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field: field.slice(0, MAX_FIELD_CHARACTERS), suggestedAction });
}
