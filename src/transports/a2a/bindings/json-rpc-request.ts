import { A2A_ERROR_CODE } from '@a2a-js/sdk/errors';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../agent-card/protocols.ts';
import { OracleError } from '../../../platform/errors.ts';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';
import { findPredecessor, findSuccessor, isKnownMethod, listMethods } from './methods.ts';

/** Why a JSON-RPC request is rejected before its params are read. */
export interface RequestFault {
  rpcCode: number;
  error: OracleError;
}

/** Null for a valid request. @param version of the `A2A-Version` header */
export function findRequestFault(body: unknown, version: string): RequestFault | null {
  if (Array.isArray(body)) return buildFault('body', 'Batches are not supported', 'Send one request at a time.');
  if (typeof body !== 'object' || body === null) return buildFault('body', 'The body is not a JSON-RPC request', 'Send a JSON object.');
  const { jsonrpc, method, id, params } = body as Record<string, unknown>;
  if (jsonrpc !== '2.0') return buildFault('jsonrpc', 'jsonrpc must be "2.0"', 'Send "jsonrpc": "2.0".');
  const isId = id === undefined || id === null || typeof id === 'string' || Number.isInteger(id);
  if (!isId) return buildFault('id', 'id must be a string, an integer or null', 'Send a string or an integer.');
  if (typeof method !== 'string') return buildFault('method', 'method is missing', `Name one, e.g. ${listMethods(version)[0]}.`);
  if (!isKnownMethod(method)) return unknownMethodFault(version);
  const action = getVersionAdvice(method, version);
  if (action !== null)
    return buildFault('A2A-Version', 'The method belongs to another protocol version', action, A2A_ERROR_CODE.METHOD_NOT_FOUND);
  if (params !== undefined && !isPlainObject(params)) {
    return buildFault('params', 'params must be an object', 'Send the parameters by name.', A2A_ERROR_CODE.INVALID_PARAMS);
  }
  return null;
}

function unknownMethodFault(version: string): RequestFault {
  const others = version === A2A_LEGACY_VERSION ? `; those of ${A2A_VERSION} need A2A-Version: ${A2A_VERSION}` : '';
  const suggestedAction = `Call one of ${listMethods(version).join(', ')}${others}.`;
  return buildFault('method', 'Unknown method', suggestedAction, A2A_ERROR_CODE.METHOD_NOT_FOUND);
}

/** Null unless the method belongs to the other protocol version. */
function getVersionAdvice(method: string, version: string): string | null {
  const successor = findSuccessor(method);
  if (version === A2A_LEGACY_VERSION && successor === undefined) {
    const predecessor = findPredecessor(method);
    return `Send A2A-Version: ${A2A_VERSION}${predecessor === undefined ? '' : `, or call ${predecessor}`}.`;
  }
  if (version === A2A_VERSION && successor !== undefined) return `Leave A2A-Version out, or call ${successor}.`;
  return null;
}

function buildFault(
  field: string,
  message: string,
  suggestedAction: string,
  rpcCode: number = A2A_ERROR_CODE.INVALID_REQUEST,
): RequestFault {
  return { rpcCode, error: new OracleError('INPUT_INVALID', message, { field, suggestedAction }) };
}
