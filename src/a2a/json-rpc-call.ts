import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../agent-card/protocols.ts';
import { OracleError } from '../errors.ts';
import { isObject } from '../plain-object.ts';
import { findPredecessor, findSuccessor, isKnownMethod, listMethods } from './methods.ts';

/** What is wrong with a JSON-RPC request before anybody looks at its parameters. */
export interface BrokenCall {
  /** Of JSON-RPC. */
  rpc: number;
  error: OracleError;
}

/** Null for a request that can be carried out. @param version that it says it is of */
export function brokenCall(body: unknown, version: string): BrokenCall | null {
  if (Array.isArray(body)) return broken('body', 'Batches are not served', 'Send one request at a time.');
  if (typeof body !== 'object' || body === null) return broken('body', 'The body is no JSON-RPC request', 'Send a JSON object.');
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== '2.0') return broken('jsonrpc', 'jsonrpc must be "2.0"', 'Send "jsonrpc": "2.0".');
  const isId = id === undefined || id === null || typeof id === 'string' || Number.isInteger(id);
  if (!isId) return broken('id', 'id must be a text, a whole number or null', 'Send a text or a whole number.');
  if (typeof method !== 'string') return broken('method', 'method is missing', `Name one, e.g. ${listMethods(version)[0]}.`);
  if (!isKnownMethod(method)) return unknownMethod(version);
  const action = otherVersion(method, version);
  if (action !== null) return broken('A2A-Version', 'The method is one of another version', action, A2A_ERROR_CODE.METHOD_NOT_FOUND);
  if (params !== undefined && !isObject(params)) {
    return broken('params', 'params must be an object', 'Send the parameters by name.', A2A_ERROR_CODE.INVALID_PARAMS);
  }
  return null;
}

/** In the names of the version that the request is of. */
function unknownMethod(version: string): BrokenCall {
  const others = version === A2A_LEGACY_VERSION ? `; those of ${A2A_VERSION} need A2A-Version: ${A2A_VERSION}` : '';
  const suggestedAction = `Call one of ${listMethods(version).join(', ')}${others}.`;
  return broken('method', 'There is no such method', suggestedAction, A2A_ERROR_CODE.METHOD_NOT_FOUND);
}

/** What to do about a method that the version of its request does not have. */
function otherVersion(method: string, version: string): string | null {
  const successor = findSuccessor(method);
  if (version === A2A_LEGACY_VERSION && successor === undefined) {
    const predecessor = findPredecessor(method);
    return `Send A2A-Version: ${A2A_VERSION}${predecessor === undefined ? '' : `, or call ${predecessor}`}.`;
  }
  if (version === A2A_VERSION && successor !== undefined) return `Leave A2A-Version out, or call ${successor}.`;
  return null;
}

function broken(field: string, message: string, suggestedAction: string, rpc: number = A2A_ERROR_CODE.INVALID_REQUEST): BrokenCall {
  return { rpc, error: new OracleError('INPUT_INVALID', message, { field, suggestedAction }) };
}
