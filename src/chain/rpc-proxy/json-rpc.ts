import { z } from 'zod';
import { isPlainObject } from '../../platform/validation/plain-object.ts';
import { READ_METHOD_NAMES, READ_METHODS, type ReadMethod } from './methods.ts';

export interface ReadOnlyCall {
  id: JsonRpcId;
  method: ReadMethod;
  params: unknown[];
}

type JsonRpcId = string | number | null;

/** Error codes of JSON-RPC 2.0, and of EIP-1474 for an exceeded limit. */
export const JSON_RPC_ERROR_CODES = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  limitExceeded: -32_005,
} as const;

export interface JsonRpcAnswerError {
  code: number;
  message: string;
  data?: string;
}

export interface JsonRpcAnswer {
  jsonrpc: '2.0';
  id: JsonRpcId;
  result?: unknown;
  error?: JsonRpcAnswerError;
}

const ID = z.union([z.string().max(128), z.number(), z.null()]);

export function createErrorResponse(id: JsonRpcId, code: number, message: string): JsonRpcAnswer {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Validates a call, or returns its error response. Error messages never quote the client's input. */
export function parseCall(value: unknown): ReadOnlyCall | JsonRpcAnswer {
  const { invalidRequest, methodNotFound, invalidParams } = JSON_RPC_ERROR_CODES;
  if (!isPlainObject(value)) {
    return createErrorResponse(null, invalidRequest, 'A call must be an object with jsonrpc, id, method and params');
  }
  const { jsonrpc, id: given, method, params = [] } = value;
  const parsedId = ID.safeParse(given);
  if (!parsedId.success) {
    return createErrorResponse(null, invalidRequest, 'id must be a number, a text of at most 128 characters or null');
  }
  const id = parsedId.data;
  if (jsonrpc !== '2.0') return createErrorResponse(id, invalidRequest, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string') return createErrorResponse(id, invalidRequest, 'method must be a text');
  if (!isReadMethod(method)) {
    return createErrorResponse(id, methodNotFound, `Only read methods are served: ${READ_METHOD_NAMES.join(', ')}`);
  }
  const parsed = READ_METHODS[method].safeParse(params);
  if (parsed.success) return { id, method, params: parsed.data };
  return createErrorResponse(id, invalidParams, `${method}: ${formatIssue(parsed.error)}`);
}

function isReadMethod(method: string): method is ReadMethod {
  return Object.hasOwn(READ_METHODS, method);
}

function formatIssue({ issues: [{ code, path, message }] }: z.ZodError): string {
  if (path.length === 0 && code === 'too_big') return 'more parameters than it takes; overrides of the state are not served';
  const place = path.length === 0 ? 'params' : `params.${path.join('.')}`;
  return `${place} ${/^must /.test(message) ? message : 'is missing or malformed'}`;
}
